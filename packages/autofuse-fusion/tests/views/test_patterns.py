"""Patterns of networks that are one kernel, and what that kernel reads: nothing is materialised."""

from math import prod
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import Bounds
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.fused_graph import AscBackend
from autofuse_reference.arrays import to_tensor_data


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def cut(b: GraphBuilder, x: str, begin: int, end: int, axis: int = -1, step: int = 1) -> str:
    return b.op("StridedSliceV3", x, ints(b, begin), ints(b, end), ints(b, axis), ints(b, step))


def data(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


FAR = 2**31 - 1


def elements_read(kernel: AscBackend, sizes: dict[str, int]) -> int:
    """How many elements of its inputs a kernel touches: the points of each load that are inside."""
    total = 0
    for node in kernel.graph.nodes:
        if node.access is None or node.op != "Load":
            continue
        extents = {axis.name: evaluate(axis.size, sizes) for axis in kernel.graph.axes}
        counts = []
        for memory, dim in zip(node.access.memory, node.access.dims, strict=True):
            if dim.axis is None:
                continue
            step, offset = evaluate(dim.step, sizes), evaluate(dim.offset, sizes)
            places = [offset + step * k for k in range(extents[dim.axis])]
            inside = [place for place in places if 0 <= place < evaluate(memory, sizes)]
            assert node.access.bounds is Bounds.FILL or len(inside) == len(places)
            counts.append(len(inside))
        total += prod(counts)
    return total


@pytest.mark.parametrize("scaled", [False, True])
def test_rotary_embedding_of_halves_is_one_kernel(kit: Any, scaled: bool) -> None:
    b = GraphBuilder("rotary")
    x = b.input("x", ("b", "h", "s", 8), dt.float32)
    cos, sin = (b.input(name, ("s", 8), dt.float32) for name in ("cos", "sin"))
    q = b.op("Muls", x, value=0.5) if scaled else x
    first, second = cut(b, q, 0, 4), cut(b, q, 4, FAR)
    turned = b.op("ConcatD", b.op("Neg", second), first, concat_dim=-1)
    y = b.op("Add", b.op("Mul", q, cos), b.op("Mul", turned, sin))
    fused = kit.check(b.build({"y": y}), {"x": data(2, 3, 5, 8), "cos": data(5, 8), "sin": data(5, 8)})
    (kernel,) = kit.kernels(fused)
    assert set(kernel.inputs) == {"x", "cos", "sin"}
    assert kernel.outputs == (y,)
    # x once as it is and once turned, and the tables once.
    assert elements_read(kernel, {"b": 2, "h": 3, "s": 5}) == 2 * 240 + 2 * 40


def test_interleaved_rotary_embedding_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("rotary")
    x = b.input("x", ("b", "s", 8), dt.float32)
    cos, sin = (b.input(name, ("s", 4), dt.float32) for name in ("cos", "sin"))
    even, odd = cut(b, x, 0, FAR, step=2), cut(b, x, 1, FAR, step=2)
    real = b.op("Sub", b.op("Mul", even, cos), b.op("Mul", odd, sin))
    imaginary = b.op("Add", b.op("Mul", even, sin), b.op("Mul", odd, cos))
    y = b.op("Reshape", b.op("Pack", real, imaginary, axis=-1), ints(b, 0, 0, -1))
    fused = kit.check(b.build({"y": y}), {"x": data(2, 5, 8), "cos": data(5, 4), "sin": data(5, 4)})
    assert [set(kernel.inputs) for kernel in kit.kernels(fused)] == [{"x", "cos", "sin"}]


def test_a_concatenation_reads_each_piece_once(kit: Any) -> None:
    b = GraphBuilder("concat")
    pieces = [b.input(f"x{k}", ("n", f"m{k}"), dt.float32) for k in range(3)]
    joined = b.op("ConcatD", *(b.op(op, x) for op, x in zip(("Relu", "Neg", "Abs"), pieces, strict=True)), concat_dim=1)
    y = b.op("Muls", joined, value=2.0)
    arrays = {f"x{k}": data(3, 2 * k + 1) for k in range(3)}
    fused = kit.check(b.build({"y": y}), arrays)
    (kernel,) = kit.kernels(fused)
    assert set(kernel.inputs) == {"x0", "x1", "x2"}
    assert elements_read(kernel, {"n": 3, "m0": 1, "m1": 3, "m2": 5}) == 27


def test_a_slice_reads_its_part(kit: Any) -> None:
    b = GraphBuilder("slice")
    x = b.input("x", ("n", "m"), dt.float32)
    y = b.op("Exp", cut(b, b.op("Relu", x), 0, 3, axis=0))
    fused = kit.check(b.build({"y": y}), {"x": data(9, 4)})
    (kernel,) = kit.kernels(fused)
    assert elements_read(kernel, {"n": 9, "m": 4}) == 12


def test_a_padding_reads_the_tensor_once(kit: Any) -> None:
    b = GraphBuilder("pad")
    x = b.input("x", ("n", "m"), dt.float32)
    y = b.op("Exp", b.op("Pad", b.op("Neg", x), ints(b, 1, 1, 2, 2)))
    fused = kit.check(b.build({"y": y}), {"x": data(3, 4)})
    (kernel,) = kit.kernels(fused)
    assert elements_read(kernel, {"n": 3, "m": 4}) == 12


def test_split_activations_are_one_kernel(kit: Any) -> None:
    b = GraphBuilder("swiglu")
    x = b.input("x", ("n", "m"), dt.float32)
    gate, up = b.op_outputs("SplitD", x, outputs=2, split_dim=1, num_split=2)
    y = b.op("Mul", b.op("Swish", gate), up)
    fused = kit.check(b.build({"y": y}), {"x": data(3, 8)})
    (kernel,) = kit.kernels(fused)
    assert elements_read(kernel, {"n": 3, "m": 8}) == 24


def test_a_cache_update_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("cache")
    past, now = b.input("past", ("b", "h", "p", 4), dt.float32), b.input("now", ("b", "s", "h", 4), dt.float32)
    y = b.op("ConcatD", past, b.op("TransposeD", now, perm=(0, 2, 1, 3)), concat_dim=2)
    fused = kit.check(b.build({"y": y}), {"past": data(2, 3, 5, 4), "now": data(2, 1, 3, 4)})
    assert [set(kernel.inputs) for kernel in kit.kernels(fused)] == [{"past", "now"}]


def test_windows_of_an_image_are_one_kernel(kit: Any) -> None:
    b = GraphBuilder("windows")
    x = b.input("x", ("b", 8, 8, 6), dt.float32)
    rolled = b.op("Roll", x, shifts=(-2, -2), dims=(1, 2))
    cutting = b.op("Reshape", rolled, ints(b, -1, 2, 4, 2, 4, 6))
    windows = b.op("TransposeD", cutting, perm=(0, 1, 3, 2, 4, 5))
    y = b.op("Muls", b.op("Reshape", windows, ints(b, -1, 16, 6)), value=3.0)
    fused = kit.check(b.build({"y": y}), {"x": data(2, 8, 8, 6)})
    assert [kernel.inputs for kernel in kit.kernels(fused)] == [("x",)]


def test_a_channel_shuffle_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("shuffle")
    x = b.input("x", ("b", 6, "h", "w"), dt.float32)
    groups = b.op("Reshape", b.op("Relu", x), ints(b, 0, 2, 3, -1))
    y = b.op("Neg", b.op("Reshape", b.op("TransposeD", groups, perm=(0, 2, 1, 3)), ints(b, 0, 6, -1)))
    fused = kit.check(b.build({"y": y}), {"x": data(2, 6, 3, 5)})
    assert [kernel.inputs for kernel in kit.kernels(fused)] == [("x",)]


def test_a_split_into_heads_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("heads")
    x, bias = b.input("x", ("b", "s", 12), dt.float32), b.input("bias", (12,), dt.float32)
    heads = b.op("Reshape", b.op("Add", x, bias), ints(b, 0, 0, 3, 4))
    y = b.op("Muls", b.op("TransposeD", heads, perm=(0, 2, 1, 3)), value=0.25)
    fused = kit.check(b.build({"y": y}), {"x": data(2, 5, 12), "bias": data(12)})
    assert [set(kernel.inputs) for kernel in kit.kernels(fused)] == [{"x", "bias"}]


def test_a_reduction_of_a_view_reads_the_tensor_behind_it(kit: Any) -> None:
    b = GraphBuilder("reduce")
    x = b.input("x", ("n", "m"), dt.float32)
    y = b.op("ReduceMaxD", cut(b, b.op("TransposeD", x, perm=(1, 0)), 1, FAR), axes=(1,), keep_dims=False)
    fused = kit.check(b.build({"y": y}), {"x": data(4, 7)})
    assert [kernel.inputs for kernel in kit.kernels(fused)] == [("x",)]


def test_softmax_of_a_masked_slice_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("softmax")
    x = b.input("x", ("b", "n", "n"), dt.float32)
    ones = b.op("OnesLike", x)
    mask = b.op("Cast", b.op("Trilu", ones, upper=False), dst_type=dt.bool_.ascend_code)
    low = b.constant(to_tensor_data(np.asarray(-np.inf, np.float32)))
    y = b.op("SoftmaxV2", b.op("SelectV2", mask, x, low), axes=(-1,))
    fused = kit.check(b.build({"y": y}), {"x": data(2, 5, 5)})
    assert [kernel.inputs for kernel in kit.kernels(fused)] == [("x",)]


def test_two_readers_of_one_slice_share_a_kernel(kit: Any) -> None:
    b = GraphBuilder("readers")
    x = b.input("x", ("n", "m"), dt.float32)
    part = cut(b, x, 1, FAR)
    fused = kit.check(b.build({"y": b.op("Exp", part), "z": b.op("Neg", part)}), {"x": data(3, 5)})
    assert len(kit.kernels(fused)) == 1


def test_what_is_stored_anyway_is_read_and_not_computed_again(kit: Any) -> None:
    b = GraphBuilder("stored")
    x = b.input("x", ("n", "m"), dt.float32)
    e = b.op("Exp", x)
    y = b.op("Neg", b.op("TransposeD", e, perm=(1, 0)))
    fused = kit.check(b.build({"e": e, "y": y}), {"x": data(3, 5)})
    assert [kernel.inputs for kernel in kit.kernels(fused)] == [("x",), (e,)]
