"""Slices whose bounds only the run knows: right for every bound, and never outside of memory."""

from typing import Any

import numpy as np
import pytest
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import holds
from autofuse_ir.fused_graph import AscBackend, FusedGraph, HostRegion
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_symshape.stage import infer

VALUES = np.arange(24, dtype=np.float32).reshape(6, 4)
BOUNDS = (-100, -7, -6, -2, 0, 1, 5, 6, 100)


def sliced(step: str | None) -> tuple[GraphBuilder, str]:
    b = GraphBuilder("bounds")
    x = b.input("x", ("n", "m"), dt.float32)
    begin, end, axis = (b.input(name, (1,), dt.int64) for name in ("begin", "end", "step"))
    y = b.op("StridedSliceV3", b.op("Neg", x), begin, end, None, axis if step else None)
    return b, b.op("Relu", y)


@pytest.fixture(scope="module")
def graph_and_fused(kit: Any) -> tuple[Graph, FusedGraph]:
    b, y = sliced("step")
    graph = b.build({"y": y})
    return graph, kit.fuse(graph, numerics="strict")


@pytest.mark.parametrize("begin", BOUNDS)
@pytest.mark.parametrize("step", [-3, -1, 1, 2])
def test_bounds_and_steps_of_the_run(
    kit: Any, graph_and_fused: tuple[Graph, FusedGraph], begin: int, step: int
) -> None:
    graph, fused = graph_and_fused
    assert not any(isinstance(node, HostRegion) for node in fused.nodes)
    for end in BOUNDS:
        arrays = {"x": VALUES, "begin": np.asarray([begin]), "end": np.asarray([end]), "step": np.asarray([step])}
        kit.compare(fused, graph, arrays)


def test_sizes_of_the_run_split_a_tensor(kit: Any) -> None:
    b = GraphBuilder("split")
    x, offsets, size = b.input("x", ("n", 4), dt.float32), b.input("o", (2,), dt.int64), b.input("s", (2,), dt.int64)
    y = b.op("Exp", b.op("Slice", x, offsets, size))
    for o, s in (([1, 0], [3, 2]), ([0, 1], [-1, -1]), ([6, 0], [0, 4])):
        kit.check(b.build({"y": y}), {"x": VALUES / 9, "o": np.asarray(o), "s": np.asarray(s)})


def test_paddings_of_the_run(kit: Any) -> None:
    b = GraphBuilder("pad")
    x, pads = b.input("x", ("n", "m"), dt.float32), b.input("p", (4,), dt.int64)
    y = b.op("Neg", b.op("Pad", b.op("Neg", x), pads))
    for p in ([0, 0, 0, 0], [1, 2, 3, 0], [-1, 2, 0, -2], [-6, 0, 1, 1]):
        kit.check(b.build({"y": y}), {"x": VALUES, "p": np.asarray(p)})


def test_an_axis_of_the_run_is_for_the_host(kit: Any) -> None:
    b = GraphBuilder("axis")
    x, perm = b.input("x", ("n", "m"), dt.float32), b.input("p", (2,), dt.int64)
    fused = kit.fuse(b.build({"y": b.op("Transpose", x, perm)}))
    assert [reason.reason.value for node in fused.nodes for reason in node.reasons] == ["structural-operand-unknown"]


def test_a_target_that_counts_in_32_bits_asks_the_run_for_axes_that_fit() -> None:
    b = GraphBuilder("narrow")
    x = b.input("x", ("n", "m"), dt.float32)
    graph, facts = infer(b.build({"y": b.op("ConcatD", x, b.op("Neg", x), concat_dim=1)}))
    fused = fuse(graph, facts, load_target("ascend-a2"))
    (kernel,) = fused.nodes
    assert isinstance(kernel, AscBackend)
    assert {node.dtype for node in kernel.graph.nodes if node.op == "AxisIndex"} == {dt.int32}
    guards = [guard for guard in fused.facts.guards if guard not in facts.guards]
    assert [holds(guard.condition, {"n": 1, "m": m}) for guard in guards for m in (2**30 - 1, 2**30)] == [True, False]
