"""Every reason of the closed list is reached by a small graph that deserves it; no vector operator lacks a kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_fusion.lower.table import REINTERPRETED, VIEWS, lowering_of
from autofuse_fusion.lower.views.table import VIEW_LOWERINGS
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import FusedGraph, HostRegion, Reason
from autofuse_ir.graph import Node, Payload
from autofuse_ir.operators import Flag, all_operators
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_tensor_data

Build = Callable[[GraphBuilder, str], str]
"""Adds operators that read a value of shape (n, 64) and returns the result."""

SIZES = frozenset(("Shape", "Size", "GatherShapes"))
"""What they make are sizes that the program knows: nothing runs."""


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def chain(*ops: str) -> Build:
    def build(b: GraphBuilder, x: str) -> str:
        for number, op in enumerate(ops):
            x = b.op(op, x, name=f"block{number}/{op}")
        return x

    return build


def _texts(b: GraphBuilder, _: str) -> str:
    payload = b.payload(Payload("p", "onnx.NodeProto", TensorData(dt.uint8, (1,), b"\0")))
    b.node(
        Node("turned", "Reshape", (b.input("text", ("n",), dt.opaque), ints(b, 1, -1)), ("turned",), (), "", payload)
    )
    return "turned"


def _unknown_rank(b: GraphBuilder, x: str) -> str:
    return b.op("Abs", b.op("Reshape", x, b.input("shape", ("rank",), dt.int64)))


def _unknown_axes(b: GraphBuilder, x: str) -> str:
    return b.op("ReduceSum", x, b.input("axes", (1,), dt.int64), keep_dims=True)


def _other_cuts(b: GraphBuilder, x: str) -> str:
    column = b.op("Add", x, b.input("column", ("n", 1), dt.float32))
    turned = b.op("Reshape", column, ints(b, 48, -1))
    return b.op("Mul", turned, b.input("other", (48, 1), dt.float32))


def _around_the_host(b: GraphBuilder, x: str) -> str:
    early = b.op("Exp", x)
    return b.op("Add", early, b.op("Lgamma", early))


def _many_inputs(b: GraphBuilder, x: str) -> str:
    for number in range(4):
        x = b.op("Add", x, b.input(f"x{number}", ("n", 64), dt.float32))
    return x


def _rows_then_columns(b: GraphBuilder, x: str) -> str:
    return b.op("SoftmaxV2", b.op("SoftmaxV2", x, axes=(1,)), axes=(0,))


def _repeated_arithmetic(b: GraphBuilder, x: str) -> str:
    row = b.input("row", (64,), dt.float32)
    for _ in range(12):
        row = b.op("GeluV2", row)
    return b.op("Add", x, row)


def _one_wide_value_at_a_time(b: GraphBuilder, x: str) -> str:
    small = b.input("first", (2, 64), dt.float32)
    for number in range(6):
        wide = b.op("Muls", x, value=float(number + 2))
        small = b.op("Exp", b.op("MatMul", b.op("MatMul", small, wide, transpose_x2=True), wide))
    return small


REACHED: dict[Reason, tuple[Build, dict[str, Any]]] = {
    Reason.HOST_OPERATOR: (chain("Exp", "Lgamma"), {}),
    Reason.DTYPE_NOT_SUPPORTED: (_texts, {}),
    Reason.RANK_UNKNOWN: (_unknown_rank, {}),
    Reason.STRUCTURAL_OPERAND_UNKNOWN: (_unknown_axes, {}),
    Reason.AXES_DO_NOT_MAP: (_other_cuts, {}),
    Reason.WOULD_MAKE_CYCLE: (_around_the_host, {}),
    Reason.TOO_MANY_INPUTS: (_many_inputs, {"max_inputs": 3}),
    Reason.TOO_MANY_OUTPUTS: (chain("Exp", "Abs"), {"max_outputs": 1}),
    Reason.TOO_LARGE: (chain("Exp", "Abs"), {"max_operators": 1}),
    Reason.TILING_GROUPS_DO_NOT_MERGE: (_rows_then_columns, {"max_parts": 1}),
    Reason.NO_BENEFIT: (_repeated_arithmetic, {}),
    Reason.MORE_PEAK_MEMORY: (_one_wide_value_at_a_time, {}),
    Reason.SWITCHED_OFF: (chain("Exp", "Abs"), {"skip_types": ("Abs",)}),
    Reason.OUTSIDE_SCOPE: (chain("Exp", "Abs"), {"scopes": ("block0",)}),
}


def given(fused: FusedGraph) -> set[Reason]:
    """The reasons of refused pairs and of operators on the host."""
    hosts = [node for node in fused.nodes if isinstance(node, HostRegion)]
    return {each.reason for each in fused.refusals} | {each.reason for node in hosts for each in node.reasons}


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.value)
def test_every_reason_is_reached(kit: Any, reason: Reason) -> None:
    build, options = REACHED[reason]
    b = GraphBuilder("reason")
    b.symbol("n", hint=100_000 if reason is Reason.NO_BENEFIT else 1024)
    x = b.input("x", ("n", 64), dt.float32)
    y = build(b, x)
    outputs = {"y": y, "early": "block0/Exp"} if reason is Reason.TOO_MANY_OUTPUTS else {"y": y}
    assert reason in given(kit.fuse(b.build(outputs=outputs), **options))


def test_every_vector_operator_has_a_lowering() -> None:
    lacking = [
        op.name
        for op in all_operators()
        if op.has(Flag.VECTOR) and lowering_of(op.name) is None and op.name not in VIEW_LOWERINGS
    ]
    assert set(lacking) == VIEWS | REINTERPRETED | SIZES
