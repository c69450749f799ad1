"""Composite operators that move elements (gates, rotary embeddings, losses, windows) give what the reference says."""

from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from autofuse_fusion.lower.views import batch_statistics, gated, losses, rotary, windows
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import HostRegion
from autofuse_ir.graph import AttrValue, Graph
from autofuse_ir.operators import operator
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.errors import StatusError

Array = np.ndarray[Any, Any]
RUNS: tuple[dict[str, int], ...] = (
    {"n": 2, "c": 5, "k": 3},
    {"n": 1, "c": 1, "k": 1},
    {"n": 3, "c": 131, "k": 2},
    {"n": 0, "c": 2, "k": 3},
)


@frozen
class Case:
    """One form of an operator; ``classes`` are inputs that hold numbers below c, ``kernels`` how many there are."""

    op: str
    shapes: tuple[Any, ...]
    attrs: dict[str, AttrValue] = field(factory=dict)
    kernels: int = 1
    ulps: int = 8
    dtypes: tuple[DType, ...] = (dt.float32, dt.float16, dt.bfloat16, dt.float64)
    classes: tuple[int, ...] = ()
    positive: tuple[int, ...] = ()
    outputs: int = 0


NCK, NK, C = ("n", "c", "k"), ("n", "k"), ("c",)

CASES: tuple[Case, ...] = (
    Case("GLU", (("n", 6, "k"),), {"dim": 1}),
    Case("SwiGlu", (("n", 2),)),
    Case("SwiGlu", (("n", 4, "k"),), {"dim": -2}),
    *(
        Case("RotaryPositionEmbedding", (("n", "k", "c", 8), ("k", 1, 8), ("k", 1, 8)), {"mode": mode})
        for mode in (0, 1)
    ),
    *(
        Case("RotaryEmbedding", (("n", 4, "k", 8), ("n", "k", 4), ("n", "k", 4), None), {"interleaved": each})
        for each in (0, 1)
    ),
    Case("RotaryEmbedding", (("n", "k", 32), ("n", "k", 4), ("n", "k", 4), None), {"num_heads": 4}),
    Case("RotaryEmbedding", (("n", "k", 32), ("c", 4), ("c", 4), NK), {"num_heads": 4}, classes=(3,)),
    *(
        Case(
            "RotaryEmbedding",
            (("n", 2, "k", 8), ("n", "k", 3), ("n", "k", 3), None),
            {"rotary_embedding_dim": 6, "interleaved": each},
            kernels=1 + each,  # pairs of neighbours in a part of an axis are no axis of the rest
        )
        for each in (0, 1)
    ),
    Case("SparseSoftmaxCrossEntropyWithLogits", (("n", "k", "c"), NK), classes=(1,), ulps=16),
    *(
        Case("NegativeLogLikelihoodLoss", (NCK, NK, weight), {"reduction": how}, classes=(1,), ulps=16)
        for how in ("none", "sum", "mean")
        for weight in (C, None)
    ),
    *(
        Case(
            "NegativeLogLikelihoodLoss", (NCK, NK, weight), {"reduction": how, "ignore_index": 0}, classes=(1,), ulps=16
        )
        for how in ("none", "mean")
        for weight in (C, None)
    ),
    *(
        Case("SoftmaxCrossEntropyLoss", (NCK, NK, weight), {"reduction": how}, kernels, 16, classes=(1,), outputs=2)
        for how, kernels, weight in (("none", 1, C), ("none", 1, None), ("mean", 2, None), ("mean", 3, C))
    ),
    Case("SoftmaxCrossEntropyLoss", (("n", "c"), ("n",), None), {"ignore_index": -100}, 3, 16, classes=(1,), outputs=1),
    *(Case("LRN", (NCK,), {"size": size, "alpha": 0.1}, ulps=16) for size in (1, 3, 4)),
    Case("BNTrainingUpdate", (NCK, *(C,) * 6), {"factor": 0.1, "epsilon": 1e-5}, 0, 32, positive=(2, 6)),
    Case("BNTrainingUpdateV3", (NCK, *(C,) * 4), {"epsilon": 1e-5}, 0, 32, positive=(2,)),
)


def build(case: Case, dtype: DType, run: dict[str, int]) -> tuple[Graph, dict[str, Array]]:
    op = operator(case.op)
    b = GraphBuilder("one")
    rng = np.random.default_rng(11)
    arrays: dict[str, Array] = {}
    names: list[str | None] = []
    for place, shape in enumerate(case.shapes):
        if shape is None:
            names.append(None)
            continue
        param, name = op.inputs[place], f"x{place}"
        extent = tuple(size if isinstance(size, int) else run[size] for size in shape)
        if place in case.classes:
            kind = dt.int64
            arrays[name] = rng.integers(0, run["c"], extent).astype(np.int64)
        else:
            kind = dtype if dtype in param.types else param.types[0]
            values = rng.standard_normal(extent)
            arrays[name] = np.asarray(np.abs(values) + 40 if place in case.positive else values).astype(
                numpy_dtype(kind)
            )
        names.append(b.input(name, shape, kind))
    made = b.op_outputs(case.op, *names, outputs=case.outputs or len(op.outputs), **case.attrs)
    return b.build(outputs={f"y{i}": name for i, name in enumerate(made)}), arrays


@pytest.mark.parametrize(
    ("case", "dtype"),
    [pytest.param(case, dtype, id=f"{i}-{case.op}-{dtype}") for i, case in enumerate(CASES) for dtype in case.dtypes],
)
def test_a_composite_is_the_reference(kit, case: Case, dtype: DType) -> None:
    fused = None
    for run in RUNS if dtype == dt.float32 else RUNS[:1]:
        graph, arrays = build(case, dtype, run)
        fused = fused or kit.fuse(graph, numerics="strict")
        assert not any(isinstance(node, HostRegion) for node in fused.nodes)
        assert case.kernels in (0, len(kit.kernels(fused)))
        with np.errstate(all="ignore"):
            got, want = kit.run_fused(fused, arrays), kit.run_graph(graph, arrays)
        for name, array in want.items():
            assert kit.near(got[name], array, case.ulps), (run, name, got[name], array)


def test_every_composite_that_moves_elements_stands_here() -> None:
    tables = (gated, rotary, losses, windows, batch_statistics)
    assert {case.op for case in CASES} == {name for table in tables for name in table.LOWERINGS}


@pytest.mark.parametrize("op", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_a_class_out_of_range_is_an_error(kit, op: str) -> None:
    graph, arrays = build(
        Case(op, (NCK, NK, None), {"reduction": "none"}, classes=(1,), outputs=1), dt.float32, RUNS[0]
    )
    fused = kit.fuse(graph)
    arrays["x1"][0, 0] = 5
    with pytest.raises(StatusError, match="out of range"):
        kit.interpreted(fused, arrays)
