"""Scans share kernels with what feeds them, with what reads them, and with scans that go the same way."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import to_tensor_data

SIZES = ((1, 1), (0, 3), (3, 0), (2, 7), (5, 131))


def scan(b: GraphBuilder, x: str, axis: int, reverse: bool = False, **fields: Any) -> str:
    number = b.constant(to_tensor_data(np.asarray(axis, np.int64)))
    return b.op("Cumsum", x, number, exclusive=False, reverse=reverse, **fields)


def graph_of(build: Callable[[GraphBuilder, str], str]) -> Graph:
    b = GraphBuilder("scans")
    return b.build(outputs={"y": build(b, b.input("x", ("n", "m"), dt.float32))})


def checked(kit, build: Callable[[GraphBuilder, str], str], **options: Any):
    graph = graph_of(build)
    for shape in SIZES:
        x = np.random.default_rng(shape[1]).standard_normal(shape).astype(np.float32)
        fused = kit.check(graph, {"x": x}, ulps=4, **options)
    return fused


def test_scans_one_way_share_a_kernel_with_their_neighbours(kit):
    def build(b: GraphBuilder, x: str) -> str:
        once = scan(b, b.op("Exp", x), 1)
        return b.op("Mul", scan(b, b.op("Neg", once), 1), once)

    (kernel,) = kit.kernels(checked(kit, build))
    assert [node.op for node in kernel.graph.nodes].count("CumSum") == 2


@pytest.mark.parametrize(
    ("axis", "reverse"), [(1, True), (0, False), (0, True)], ids=["against", "across", "across and against"]
)
def test_scans_of_different_ways_have_kernels_of_their_own(kit, axis, reverse):
    """The second begins with what the first comes to last, or needs more of it at once than a long row leaves room."""

    def build(b: GraphBuilder, x: str) -> str:
        return scan(b, scan(b, x, 1, name="first"), axis, reverse, name="second")

    fused = checked(kit, build, max_parts=1)
    assert len(kit.kernels(fused)) == 2
    (refusal,) = fused.refusals
    assert refusal.reason is Reason.TILING_GROUPS_DO_NOT_MERGE
    assert refusal.detail == "scans of first and of second, which go along different axes or against each other"


def test_readers_of_scans_against_each_other_join_one_of_them(kit):
    def build(b: GraphBuilder, x: str) -> str:
        return b.op("Sub", scan(b, x, 1), scan(b, x, 1, reverse=True))

    assert len(kit.kernels(checked(kit, build, max_parts=1))) == 2
