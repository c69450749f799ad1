"""What composing index maps saves: pieces that are not read, operators that run on less, roundings that stay."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import AscBackend, ViewNode
from autofuse_reference.arrays import to_tensor_data

FAR = 2**31 - 1
SPECIAL = np.asarray([[np.nan, np.inf, -np.inf, -0.0], [0.0, 1e-40, -1e-40, 3e38]], np.float32)


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def cut(b: GraphBuilder, x: str, begin: int, end: int, axis: int = -1, step: int = 1) -> str:
    return b.op("StridedSliceV3", x, ints(b, begin), ints(b, end), ints(b, axis), ints(b, step))


def names(kernel: AscBackend) -> list[str]:
    return [node.op for node in kernel.graph.nodes]


def test_a_slice_inside_one_piece_of_a_concatenation_reads_that_piece_alone(kit: Any) -> None:
    b = GraphBuilder("concat")
    x, z = b.input("x", ("n", 4), dt.float32), b.input("z", ("n", "k"), dt.float32)
    y = b.op("Neg", cut(b, b.op("ConcatD", x, b.op("Exp", z), concat_dim=1), 1, 3))
    fused = kit.check(b.build({"y": y}), {"x": SPECIAL, "z": SPECIAL})
    (kernel,) = kit.kernels(fused)
    assert kernel.inputs == ("x",)
    assert "Select" not in names(kernel)


def test_a_slice_inside_a_padded_tensor_pads_nothing(kit: Any) -> None:
    b = GraphBuilder("pad")
    x = b.input("x", (2, 4), dt.float32)
    y = b.op("Abs", cut(b, b.op("Pad", b.op("Neg", x), ints(b, 0, 0, 2, 2)), 3, 6))
    fused = kit.check(b.build({"y": y}), {"x": SPECIAL})
    (kernel,) = kit.kernels(fused)
    assert "Select" not in names(kernel)
    assert "AxisIndex" not in names(kernel)


def test_a_slice_of_all_is_no_kernel(kit: Any) -> None:
    b = GraphBuilder("whole")
    x = b.input("x", ("n", "m"), dt.float32)
    y = cut(b, x, 0, FAR)
    fused = kit.check(b.build({"y": y}), {"x": SPECIAL})
    assert all(isinstance(node, ViewNode) for node in fused.nodes)


def test_two_transposes_that_cancel_are_no_kernel(kit: Any) -> None:
    b = GraphBuilder("twice")
    x = b.input("x", ("n", "m", "k"), dt.float32)
    y = b.op("TransposeD", b.op("TransposeD", x, perm=(2, 0, 1)), perm=(1, 2, 0))
    fused = kit.check(b.build({"y": y}), {"x": SPECIAL.reshape(2, 2, 2)})
    assert not kit.kernels(fused)


def test_nested_concatenations_are_one(kit: Any) -> None:
    b = GraphBuilder("nested")
    xs = [b.input(f"x{k}", ("n", 4), dt.float32) for k in range(4)]
    inner = b.op("ConcatD", xs[1], xs[2], concat_dim=1)
    y = b.op("ConcatD", xs[0], inner, xs[3], concat_dim=1)
    fused = kit.check(b.build({"y": y}), {f"x{k}": SPECIAL for k in range(4)})
    assert [len(kernel.inputs) for kernel in kit.kernels(fused)] == [4]


def test_nested_splits_read_the_tensor(kit: Any) -> None:
    b = GraphBuilder("nested")
    x = b.input("x", ("n", 8), dt.float32)
    left, _ = b.op_outputs("SplitD", x, outputs=2, split_dim=1, num_split=2)
    first, second = b.op_outputs("SplitD", left, outputs=2, split_dim=1, num_split=2)
    fused = kit.check(b.build({"y": b.op("Add", first, second)}), {"x": np.hstack([SPECIAL, SPECIAL])})
    assert [kernel.inputs for kernel in kit.kernels(fused)] == [("x",)]


def test_a_transposed_constant_tensor_is_the_constant(kit: Any) -> None:
    b = GraphBuilder("filled")
    x = b.input("x", ("n", "m"), dt.float32)
    y = b.op("Add", b.op("TransposeD", b.op("ZerosLike", x), perm=(1, 0)), b.op("TransposeD", x, perm=(1, 0)))
    fused = kit.check(b.build({"y": y}), {"x": SPECIAL})
    assert len(kit.kernels(fused)) == 1


def test_fewer_rows_are_gathered_before_they_are_computed_on(kit: Any) -> None:
    b = GraphBuilder("gather")
    x, bias = b.input("x", (8, 4), dt.float32), b.input("bias", (4,), dt.float32)
    i = b.input("i", (3,), dt.int64)
    y = b.op("GatherV2", b.op("Exp", b.op("Add", x, bias)), i, ints(b, 0), negative_index_support=True)
    arrays = {"x": np.vstack([SPECIAL] * 4), "bias": SPECIAL[1], "i": np.asarray([0, -1, 3])}
    fused = kit.check(b.build({"y": y}), arrays)
    assert [set(kernel.inputs) for kernel in kit.kernels(fused)] == [{"x", "bias", "i"}]
    with pytest.raises(IndexError):
        kit.run_fused(fused, arrays | {"i": np.asarray([0, 8, 3])})


def test_a_concatenation_of_gathers_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("features")
    i, j = b.input("i", ("n",), dt.int64), b.input("j", ("n",), dt.int64)
    tables = [b.input(f"t{k}", (5, 3 + k), dt.float32) for k in range(2)]
    dense = b.input("dense", ("n", 2), dt.float32)
    shifted = b.op("Add", j, b.constant(to_tensor_data(np.asarray(1))))  # beyond the table where nothing is read
    rows = [
        b.op("GatherV2", t, k, ints(b, 0), negative_index_support=True)
        for t, k in zip(tables, (i, shifted), strict=True)
    ]
    y = b.op("Relu", b.op("ConcatD", dense, *rows, concat_dim=1))
    arrays = {
        "i": np.asarray([0, -1, 4, 2]),
        "j": np.asarray([3, 0, -2, 1]),
        "t0": np.arange(15, dtype=np.float32).reshape(5, 3),
        "t1": -np.arange(20, dtype=np.float32).reshape(5, 4),
        "dense": np.ones((4, 2), np.float32),
    }
    fused = kit.check(b.build({"y": y}), arrays)
    assert len(kit.kernels(fused)) == 1
    with pytest.raises(IndexError):
        kit.run_fused(fused, arrays | {"j": np.asarray([4, 0, 0, 0])})


def test_padding_rows_of_gathers_reads_no_row_outside(kit: Any) -> None:
    b = GraphBuilder("rows")
    table, i = b.input("t", (1, 3), dt.float32), b.input("i", ("n",), dt.int64)
    down = b.op("Sub", i, b.constant(to_tensor_data(np.asarray(5))))
    y = b.op("Pad", b.op("GatherV2", table, down, ints(b, 0)), ints(b, 1, 2, 1, 0))
    fused = kit.check(b.build({"y": y}), {"t": np.ones((1, 3), np.float32), "i": np.asarray([5, 5])})
    assert len(kit.kernels(fused)) == 1


def test_integers_are_not_divided_where_nothing_is(kit: Any) -> None:
    b = GraphBuilder("divide")
    x, z = b.input("x", ("n",), dt.int32), b.input("z", ("n",), dt.int32)
    y = b.op("Pad", b.op("Div", x, z), ints(b, 2, 1))
    fused = kit.check(b.build({"y": y}), {"x": np.asarray([7, -8], np.int32), "z": np.asarray([2, 3], np.int32)})
    (kernel,) = kit.kernels(fused)
    divisors = {node.inputs[1] for node in kernel.graph.nodes if node.op == "TruncDiv"}
    makers = {node.name: node.op for node in kernel.graph.nodes}
    assert {makers[name] for name in divisors} == {"Select"}


def test_a_kernel_names_the_views_it_reads_through(kit: Any) -> None:
    b = GraphBuilder("names")
    x = b.input("x", ("n", "m"), dt.float32)
    y = b.op("Exp", b.op("TransposeD", cut(b, x, 1, FAR), perm=(1, 0), name="turn"), name="grow")
    fused = kit.fuse(b.build({"y": y}))
    (kernel,) = kit.kernels(fused)
    assert [name for name in kernel.operators if name in ("turn", "grow")] == ["turn", "grow"]


def test_a_view_of_half_floats_rounds_as_the_program_does(kit: Any) -> None:
    b = GraphBuilder("half")
    x = b.input("x", ("n", "m"), dt.float16)
    y = b.op("Sub", cut(b, b.op("Exp", x), 1, FAR), b.op("Pad", b.op("Exp", cut(b, x, 2, FAR)), ints(b, 0, 0, 1, 0)))
    kit.check(b.build({"y": y}), {"x": np.linspace(-3, 3, 35).astype(np.float16).reshape(5, 7)})
