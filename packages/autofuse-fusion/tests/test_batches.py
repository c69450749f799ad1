"""Kernels that share a launch: which do, which may not, and that nothing else changes."""

from typing import Any

import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.checks import verify
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, Reason
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_symshape.stage import infer

HUGE = 1 << 14


def few(name: str) -> GraphBuilder:
    """A builder of graphs whose dims are judged as if they were small."""
    b = GraphBuilder(name)
    for dim in ("n", "m", "k"):
        b.symbol(dim, hint=8)
    return b


def crossed(n: int | str = "n", m: int | str = "m", k: int | str = "k") -> Graph:
    """Sums along the rows, then the largest along the columns: no nest holds both."""
    b = few("crossed")
    x = b.input("x", (n, m, k), dt.float32)
    rows = b.op("ReduceSumD", x, axes=(2,), keep_dims=False, name="rows")
    return b.build({"y": b.op("ReduceMaxD", rows, axes=(0,), keep_dims=False, name="columns")})


def unrelated(count: int, shape: tuple[int | str, ...] = ("n", 3)) -> Graph:
    """Kernels that have nothing in common, as the steps of an optimizer."""
    b = GraphBuilder("unrelated")
    inputs = [
        b.input(f"x{i}", tuple(f"{d}{i}" if isinstance(d, str) else d for d in shape), dt.float32) for i in range(count)
    ]
    return b.build({f"y{i}": b.op("SoftmaxV2", x, axes=(1,), name=f"s{i}") for i, x in enumerate(inputs)})


def launches(fused: FusedGraph) -> list[int]:
    """How many kernels each launch holds."""
    verify(fused)
    return [len(n.parts) if isinstance(n, FusedAscBackend) else 1 for n in fused.nodes]


def test_a_reader_along_another_axis_follows_in_the_same_launch(kit: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    fused = kit.check(crossed(), {"x": x}, ulps=4)
    (node,) = fused.nodes
    assert isinstance(node, FusedAscBackend)
    assert [part.operators for part in node.parts] == [("rows",), ("columns",)]
    assert (node.inputs, node.outputs, node.internal) == (("x",), ("columns",), ("rows",))
    assert fused.refusals == ()
    assert launches(fused) == [2]


def turned(n: int | str, m: int | str) -> Graph:
    """A softmax along the rows, then the largest along the columns: they share no axis."""
    b = few("turned")
    rows = b.op("SoftmaxV2", b.input("x", (n, m), dt.float32), axes=(1,), name="rows")
    return b.build({"y": b.op("ReduceMaxD", rows, axes=(0,), keep_dims=False, name="columns")})


def test_what_takes_longer_to_move_than_a_launch_is_not_worth_one(kit: Any) -> None:
    assert launches(kit.fuse(turned("n", "m"))) == [2]
    fused = kit.fuse(turned(HUGE, HUGE))
    assert launches(fused) == [1, 1]
    assert [refusal.reason for refusal in fused.refusals] == [Reason.TILING_GROUPS_DO_NOT_MERGE]


def test_kernels_that_may_go_on_with_the_rows_of_others_follow_in_their_launch(kit: Any) -> None:
    """What passes is large, but may stay where it is made, a row at a time, if rows can fit local memory at all."""

    def softmaxes(m: int, k: int) -> Graph:
        b = GraphBuilder("softmaxes")
        x = b.input("x", (HUGE, m, k), dt.float32)
        return b.build({"y": b.op("SoftmaxV2", b.op("SoftmaxV2", x, axes=(1,)), axes=(2,))})

    fused = kit.fuse(softmaxes(64, 64))
    assert launches(fused) == [2]
    assert fused.refusals == ()
    far = kit.fuse(softmaxes(HUGE, HUGE))
    assert launches(far) == [1, 1]
    assert [refusal.reason for refusal in far.refusals] == [Reason.TILING_GROUPS_DO_NOT_MERGE]


def test_the_results_of_rows_are_read_in_the_launch_that_makes_them_whatever_their_number(kit: Any) -> None:
    """They are hardly anything beside the rows: one launch less costs nothing."""
    assert launches(kit.fuse(crossed(HUGE, HUGE, 16))) == [2]
    b = GraphBuilder("norms")
    x = b.input("x", (HUGE, HUGE, 64), dt.float32)
    rows = b.op("Sqrt", b.op("ReduceSumD", b.op("Mul", x, x), axes=(2,)))
    columns = b.op("Sqrt", b.op("ReduceSumD", b.op("Mul", rows, rows), axes=(1,)))
    assert launches(kit.fuse(b.build({"y": b.op("ReduceMeanD", columns, axes=(0,))}))) == [3]


def pieces(op: str | None) -> Graph:
    """All columns of a large tensor, in three pieces, each an output."""
    b = GraphBuilder("pieces")
    x = b.input("x", (HUGE, 96), dt.float32)
    found = b.op_outputs("SplitVD", x, outputs=3, size_splits=(10, 50, 36), split_dim=1, num_split=3)
    return b.build({f"y{k}": piece if op is None else b.op(op, piece) for k, piece in enumerate(found)})


@pytest.mark.parametrize("op", [None, "Tanh"])
def test_the_pieces_of_a_tensor_are_one_launch_whatever_its_size(kit: Any, op: str | None) -> None:
    fused = kit.fuse(pieces(op))
    assert launches(fused) == [3]
    (node,) = fused.nodes
    assert isinstance(node, FusedAscBackend)
    assert node.inputs == ("x",)
    assert (fused.refusals, node.internal) == ((), ())


def test_a_batch_that_keeps_too_much_alive_is_halved(kit: Any) -> None:
    """Of three kernels in a row, one launch for all needs room for both values between them."""
    b = GraphBuilder("three")
    x = b.input("x", (64, 256, 256), dt.float32)
    y = b.op("SoftmaxV2", b.op("SoftmaxV2", x, axes=(1,)), axes=(2,))
    fused = kit.fuse(b.build({"y": b.op("SoftmaxV2", b.op("Neg", y), axes=(1,))}))
    assert launches(fused) == [2, 1]


def test_a_result_that_is_also_an_output_is_read_as_one(kit: Any) -> None:
    b = few("both")
    x = b.input("x", ("n", "m"), dt.float32)
    rows = b.op("SoftmaxV2", x, axes=(1,))
    graph = b.build({"rows": rows, "columns": b.op("SoftmaxV2", rows, axes=(0,))})
    fused = kit.check(graph, {"x": np.ones((3, 4), np.float32)}, ulps=8)
    (node,) = fused.nodes
    assert isinstance(node, FusedAscBackend)
    assert len(node.outputs) == 2
    assert node.internal == ()


def test_small_kernels_without_an_order_stand_side_by_side_up_to_the_limit(kit: Any) -> None:
    graph = unrelated(11)
    assert launches(kit.fuse(graph)) == [8, 3]
    assert launches(kit.fuse(graph, max_parts=4)) == [4, 4, 3]
    assert launches(kit.fuse(graph, max_inputs=2)) == [2, 2, 2, 2, 2, 1]
    assert launches(kit.fuse(graph, max_operators=3)) == [3, 3, 3, 2]
    arrays = {f"x{i}": np.random.default_rng(i).normal(size=(i, 3)).astype(np.float32) for i in range(11)}
    kit.check(graph, arrays, ulps=8)


def test_large_kernels_keep_launches_of_their_own(kit: Any) -> None:
    assert launches(kit.fuse(unrelated(3, (HUGE, 1024)))) == [1, 1, 1]


def test_options_that_keep_operators_apart_keep_them_out_of_launches(kit: Any) -> None:
    graph = unrelated(3)
    assert launches(kit.fuse(graph, enable=False)) == [1, 1, 1]
    assert launches(kit.fuse(graph, max_parts=1)) == [1, 1, 1]
    assert launches(kit.fuse(graph, skip_operators=("s1",))) == [1, 2]
    assert launches(kit.fuse(graph, scopes=("s0", "s1"))) == [1, 1, 1]


def test_a_path_through_the_host_keeps_kernels_apart(kit: Any) -> None:
    b = GraphBuilder("around")
    x, w = b.input("x", (4, 4), dt.float32), b.input("w", (4, 4), dt.float32)
    first = b.op("SoftmaxV2", x, axes=(1,), name="first")
    product = b.op("MatMulV2", first, w, name="product")
    columns = b.op("SoftmaxV2", first, axes=(0,), name="columns")
    last = b.op("Add", columns, b.op("SoftmaxV2", product, axes=(0,), name="last"), name="sum")
    fused = kit.fuse(b.build({"y": last}))
    verify(fused)
    kernels = [node for node in fused.nodes if isinstance(node, AscBackend | FusedAscBackend)]
    holders = {name: k for k, node in enumerate(kernels) for part in parts(node) for name in part.operators}
    assert holders["first"] != holders["last"]


def parts(node: AscBackend | FusedAscBackend) -> tuple[AscBackend, ...]:
    return node.parts if isinstance(node, FusedAscBackend) else (node,)


def test_a_launch_never_keeps_more_alive_than_its_kernels_one_by_one(kit: Any) -> None:
    """Two branches, each of which makes much and keeps little: side by side, both would be there at once."""
    b = GraphBuilder("branches")
    x = b.input("x", (16, 256), dt.float32)
    sums = []
    for k in range(3):
        wide = b.op("MatMulV2", x, b.input(f"w{k}", (256, 256), dt.float32))
        turned = b.op("SoftmaxV2", wide, axes=(0,))
        sums.append(b.op("ReduceSumD", b.op("MatMulV2", turned, x, transpose_x2=True), axes=(0, 1), keep_dims=False))
    graph = b.build({f"y{k}": value for k, value in enumerate(sums)})
    fused = kit.fuse(graph)
    verify(fused)
    assert peak(fused) <= peak(kit.fuse(graph, max_parts=1))


def peak(fused: FusedGraph) -> int:
    """Bytes of values alive at once, each from the node that makes it to the last that reads it."""
    facts = {fact.name: fact for fact in fused.facts.values}
    last = {name: k for k, node in enumerate(fused.nodes) for name in getattr(node, "inputs", ())}
    last |= {output.value: len(fused.nodes) for output in fused.outputs}
    alive: dict[str, int] = {}
    most = 0
    for k, node in enumerate(fused.nodes):
        for name in (*getattr(node, "outputs", ()), *getattr(node, "internal", ())):
            shape = facts[name].shape
            assert shape is not None
            alive[name] = int(np.prod([int(str(dim)) for dim in shape])) * facts[name].dtype.itemsize
        most = max(most, sum(alive.values()))
        alive = {name: count for name, count in alive.items() if last.get(name, k) > k}
    return most


@pytest.mark.parametrize("target", ["ascend-a2", "ascend-a3", "ascend-350"])
def test_launches_of_npus_hold_several_kernels_too(target: str) -> None:
    inferred, facts = infer(crossed())
    fused = fuse(inferred, facts, load_target(target), FusionOptions())
    assert launches(fused) == [2]
    assert launches(fuse(inferred, facts, load_target(target), FusionOptions(max_parts=1))) == [1, 1]


def test_what_all_cores_move_in_less_time_than_a_launch_passes_inside_of_one() -> None:
    """A launch on an NPU takes 20 us, in which its cores move megabytes."""
    for size, wanted in ((1000, [2]), (4000, [1, 1])):
        inferred, facts = infer(turned(size, size))
        assert launches(fuse(inferred, facts, load_target("ascend-a2"), FusionOptions())) == wanted, size
