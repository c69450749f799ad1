"""Rows that local memory does not hold are swept more than once: what that costs decides what goes with them."""

import pytest
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import Reason
from autofuse_ir.target import load_target
from autofuse_symshape.stage import infer


@pytest.mark.parametrize(("op", "kernels"), [("Neg", 1), ("Tanh", 2)])
def test_what_every_sweep_would_compute_again_is_kept_where_that_costs_more_than_reading_it(
    op: str, kernels: int
) -> None:
    """The range of a whole tensor quantises it: a cheap sign is changed twice, a polynomial is computed once."""
    b = GraphBuilder("quantised")
    x, y = b.input("x", (4096, 4096), dt.float32), b.input("y", (4096, 4096), dt.float32)
    found = b.op_outputs("DynamicQuantizeLinear", b.op(op, b.op("Add", x, y)), outputs=3)
    inferred, facts = infer(b.build({f"y{k}": each for k, each in enumerate(found)}))
    fused = fuse(inferred, facts, load_target("cpu"))
    assert len(fused.nodes) == kernels
    if kernels > 1:
        assert Reason.NO_BENEFIT in {refusal.reason for refusal in fused.refusals}


@pytest.mark.parametrize("op", ["RmsNorm", "LayerNormV3"])
def test_what_reads_normalised_rows_is_computed_in_their_last_sweep(op: str) -> None:
    """Rows that no cache holds are walked twice or three times; what only the last of those does costs nothing more."""
    b = GraphBuilder("long_rows")
    x, gamma = b.input("x", (8, 1 << 20), dt.float32), b.input("gamma", (1 << 20,), dt.float32)
    if op == "RmsNorm":
        y = b.op_outputs(op, x, gamma, outputs=2)[0]
    else:
        y = b.op_outputs(op, x, gamma, gamma, outputs=3)[0]
    inferred, facts = infer(b.build({"y": b.op("Tanh", b.op("Tanh", y))}))
    assert len(fuse(inferred, facts, load_target("cpu")).nodes) == 1
