"""The other half of the original system's scenarios: views, gathers, products, guards, precision, small passes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.errors import AutofuseError
from autofuse_ir.fused_graph import Reason
from autofuse_reference.arrays import to_tensor_data
from autofuse_symshape.stage import infer
from autofuse_testkit.networks import Network, one

Fuse = Callable[..., Any]


def test_15_a_product_with_a_vector_is_a_sum_of_products(fuse_and_check: Fuse) -> None:
    def build(b: Network, transposed: bool = False) -> str:
        x = b.input("x", ("b", "m", 128), dt.float32)
        y = b.input("y", ("b", 1, 128) if transposed else ("b", 128, 1), dt.float32)
        return b.op("BatchMatMul", x, y, adj_x2=transposed)

    result = fuse_and_check(one("vector", build))
    assert result.hosts == ()
    assert result.count("Sum") == 1
    result.check(x=(2, 3, 128), y=(2, 128, 1), tolerance=1e-4)
    wide = one("wide", lambda b: b.op("MatMul", *(b.input(n, (4, 4), dt.float32) for n in "xy")))
    assert fuse_and_check(wide).hosts == ("MatMul",)


def test_16_a_slice_is_a_load_with_an_offset(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        return b.op(
            "Abs", b.op("SliceD", b.input("x", ("a", 64, 33), dt.float32), offsets=(0, 0, 1), size=(-1, -1, 32))
        )

    result = fuse_and_check(one("slice", build))
    (load,) = (node for node in result.kernels[0].graph.nodes if node.op == "Load")
    assert (load.access.memory[-1], load.access.dims[-1].offset) == (33, 1)
    result.check(x=(3, 64, 33))


def test_17_a_strided_slice_a_transpose_and_their_reader(fuse_and_check: Fuse) -> None:
    """The original keeps the slice out; here all three are one kernel that reads half of the input."""

    def build(b: Network) -> str:
        x = b.input("x", (64, 128), dt.float32)
        half = b.op("StridedSliceD", x, begin=(0, 0), end=(64, 128), strides=(1, 2))
        return b.op("Abs", b.op("TransposeD", half, perm=(1, 0)))

    result = fuse_and_check(one("three", build))
    assert len(result.kernels) == 1
    result.check(x=(64, 128))


def test_18_a_concat_with_what_feeds_and_reads_it(fuse_and_check: Fuse) -> None:
    """One kernel in either direction; the original needs a later chip for the Abs behind, and stages the pieces."""

    def build(b: Network) -> str:
        pieces = [b.op("Abs", b.input(f"x{k}", (32, 32, k, 64), dt.float32)) for k in (6, 16, 11, 20)]
        return b.op("Neg", b.op("ConcatD", *pieces, concat_dim=2, N=4))

    result = fuse_and_check(one("concat", build))
    assert len(result.kernels) == 1
    assert result.count("Output") == 1
    result.check(**{f"x{k}": (32, 32, k, 64) for k in (6, 16, 11, 20)})


def test_19_a_concat_of_one_operator_and_raw_inputs(fuse_and_check: Fuse) -> None:
    """The original gives up where most pieces are raw; here nothing is written but the result."""

    def build(b: Network) -> str:
        raw = [b.input(f"x{k}", ("n", k), dt.float32) for k in (1, 2, 3)]
        return b.op("ConcatD", b.op("Exp", b.input("x", ("n", 4), dt.float32)), *raw, concat_dim=1, N=4)

    result = fuse_and_check(one("raw", build))
    assert len(result.kernels) == 1
    assert result.kernels[0].outputs == (result.fused.outputs[0].value,)
    result.check(x=(5, 4), x1=(5, 1), x2=(5, 2), x3=(5, 3))


def test_20_splits_and_their_readers(fuse_and_check: Fuse) -> None:
    b = Network("split")
    first, second, third = b.op_outputs(
        "SplitD", b.input("x", (64, 96, 16), dt.float32), outputs=3, split_dim=1, num_split=3
    )
    graph = b.build({"a": first, "b": b.op("Abs", second), "c": b.op("Abs", third)})
    result = fuse_and_check(graph)
    assert result.hosts == ()
    assert not any(name in kernel.outputs for kernel in result.kernels for name in (second, third))
    result.check(x=(64, 96, 16))

    def nested(b: Network) -> str:
        halves = b.op_outputs("SplitD", b.input("x", (4, 8, 3), dt.float32), outputs=2, split_dim=1, num_split=2)
        pieces = [p for h in halves for p in b.op_outputs("SplitD", h, outputs=4, split_dim=1, num_split=4)]
        return b.op("ConcatD", *(b.op("Abs", p) for p in reversed(pieces)), concat_dim=0, N=8)

    flat = fuse_and_check(one("nested", nested))
    assert len(flat.kernels) == 1
    flat.check(x=(4, 8, 3))


def test_21_a_gather_with_what_reads_it(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        table, index = b.input("t", ("v", 1), dt.float32), b.input("i", (8, "n", "m"), dt.int64)
        found = b.op("GatherV2", table, index, b.number(0, dt.int64))
        return b.op("ReduceSumD", b.op("Add", found, b.input("y", (8, "n", 1, 1), dt.float32)), axes=(1,))

    result = fuse_and_check(one("gather", build))
    assert len(result.kernels) == 1
    assert result.hosts == ()
    result.check(t=(3, 1), i=(8, 5, 6), y=(8, 5, 1, 1))


def test_22_a_transpose_with_its_reader(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        x, y = b.input("x", ("a", "b", "c", 3, 4), dt.float32), b.input("y", ("c", "b", "a", 4, 3), dt.float32)
        return b.op("Add", b.op("TransposeD", x, perm=(2, 1, 0, 4, 3)), y)

    result = fuse_and_check(one("transpose", build))
    assert len(result.kernels) == 1
    result.check(x=(2, 3, 5, 3, 4), y=(5, 3, 2, 4, 3))
    twice = fuse_and_check(
        one(
            "twice",
            lambda b: b.op(
                "Abs",
                b.op("TransposeD", b.op("TransposeD", b.input("x", ("a", "b"), dt.float32), perm=(1, 0)), perm=(1, 0)),
            ),
        )
    )
    assert len(twice.kernels) == 1
    twice.check(x=(3, 4))


def test_23_a_matrix_product_is_for_the_host_and_its_neighbours_are_not(fuse_and_check: Fuse) -> None:
    """There is no matrix unit behind these kernels; the refusal says so for both neighbours."""

    def build(b: Network) -> str:
        x = b.op("Abs", b.input("x", (4, 4), dt.float32))
        product = b.op("MatMul", x, b.input("y", (4, 4), dt.float32))
        return b.op("Add", b.op("Relu", product), b.input("z", (4, 4), dt.float32))

    result = fuse_and_check(one("cube", build))
    assert (len(result.kernels), result.hosts) == (2, ("MatMul",))
    assert {refusal.reason for refusal in result.fused.refusals} == {Reason.HOST_OPERATOR}
    result.check(x=(4, 4), y=(4, 4), z=(4, 4))


def test_24_guards_accept_every_size_that_broadcasts(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        x = b.input("x", tuple(f"x{k}" for k in range(4)), dt.float32)
        return b.op("Add", x, b.input("y", tuple(f"y{k}" for k in range(4)), dt.float32))

    graph = one("broadcast", build)
    result = fuse_and_check(graph)
    for x, y in (((3, 4, 1, 7), (3, 1, 5, 7)), ((10, 10, 1, 10), (10, 1, 10, 10)), ((1, 1, 1, 1), (2, 2, 2, 2))):
        result.check(x=x, y=y)
    with pytest.raises(AutofuseError, match="y0"):
        result.check(x=(3, 4, 1, 7), y=(10, 1, 5, 7))

    b = GraphBuilder("repeat")
    times = b.input("times", (4,), dt.int32)
    graph = b.build(outputs={"y": b.op("Repeat", b.input("x", (4, 3), dt.float32), times)})
    _, facts = infer(graph)
    shape = next(fact.shape for fact in facts.values if fact.name == graph.outputs[0].value)
    assert shape is not None
    assert shape[1] == 3


def test_25_precision_and_small_passes(fuse_and_check: Fuse) -> None:
    def add(b: Network) -> str:
        return b.op("Add", *(b.input(n, ("n",), dt.float16) for n in "xy"))

    half = fuse_and_check(one("half", add))
    assert half.primitives.count("Cast") == 3
    half.check(x=(9,), y=(9,), tolerance=1e-3)
    moved = fuse_and_check(
        one("moved", lambda b: b.op("SliceD", b.input("x", (9,), dt.float16), offsets=(2,), size=(3,)))
    )
    assert "Cast" not in moved.primitives

    def widest(b: Network) -> str:
        wide = b.op("BroadcastTo", b.input("x", (10, 1), dt.float32), b.integers(10, 5))
        return b.op("ReduceMaxD", wide, axes=(1,), keep_dims=True)

    result = fuse_and_check(one("widest", widest))
    assert not {"Broadcast", "Max"} & {node.op for kernel in result.kernels for node in kernel.graph.nodes}
    result.check(x=np.array([[-0.0], [np.nan], [np.inf], *[[1.5]] * 7], np.float32))

    def padded(b: Network) -> str:
        wide = b.op("PadD", b.input("x", (4, 4), dt.float32), paddings=((1, 2), (1, 2)))
        return b.op("Neg", b.op("SliceD", wide, offsets=(1, 1), size=(3, 4)))

    inside = fuse_and_check(one("padded", padded))
    (load,) = (node for node in inside.kernels[0].graph.nodes if node.op == "Load")
    assert load.access.bounds.value == "inside"
    inside.check(x=(4, 4))

    def joined(b: Network) -> str:
        pieces = (b.input("x", (32, 1), dt.float32), b.input("y", (32, 4), dt.float32))
        return b.op("Neg", b.op("SliceD", b.op("ConcatD", *pieces, concat_dim=1, N=2), offsets=(4, 2), size=(2, 3)))

    second = fuse_and_check(one("joined", joined))
    assert second.kernels[0].inputs == ("y",)
    second.check(x=(32, 1), y=(32, 4))


def test_26_empty_tensors_launch_nothing_and_constants_that_repeat_are_read_once(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        full = b.constant(to_tensor_data(np.full((64, 64), 2.5, np.float32)))
        return b.op("Mul", b.input("x", ("n", 64, 64), dt.float32), full)

    result = fuse_and_check(one("full", build))
    for n in (0, 1, 3):
        result.check(x=(n, 64, 64))
