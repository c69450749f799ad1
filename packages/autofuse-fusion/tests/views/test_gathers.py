"""Gathers: every form, index dtype and negative index; what is out of range is an error."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype, to_tensor_data


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def table(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape, dtype=np.int64), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("dtype", [dt.int32, dt.int64], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(), (1,), (4,), (0,), (2, 3)])
def test_gather_takes_rows_of_any_axis(kit: Any, axis: int, shape: tuple[int, ...], dtype: DType) -> None:
    b = GraphBuilder("gather")
    x = b.input("x", ("n", "m", "k"), dt.float32)
    i = b.input("i", tuple(f"i{k}" for k in range(len(shape))), dtype)
    y = b.op("GatherV2", x, i, ints(b, axis), negative_index_support=True)
    index = np.random.default_rng(1).integers(-2, 2, shape).astype(numpy_dtype(dtype))
    fused = kit.check(b.build({"y": b.op("Neg", y)}), {"x": table(3, 2, 5), "i": index})
    (kernel,) = kit.kernels(fused)
    assert set(kernel.inputs) == {"x", "i"}


@pytest.mark.parametrize("index", [5, -6, 127])
def test_an_index_out_of_range_is_an_error(kit: Any, index: int) -> None:
    b = GraphBuilder("gather")
    x, i = b.input("x", (5,), dt.float32), b.input("i", ("k",), dt.int32)
    y = b.op("GatherV2", x, i, ints(b, 0), negative_index_support=True)
    fused = kit.fuse(b.build({"y": y}))
    with pytest.raises(IndexError):
        kit.run_fused(fused, {"x": table(5), "i": np.asarray([0, index], np.int32)})


def test_an_index_out_of_range_of_a_slice_is_an_error_though_the_tensor_is_longer(kit: Any) -> None:
    b = GraphBuilder("gather")
    x, i = b.input("x", (5, 3), dt.float32), b.input("i", ("k",), dt.int32)
    rows = b.op("StridedSliceV3", x, ints(b, 1), ints(b, 3), ints(b, 0))
    fused = kit.fuse(b.build({"y": b.op("GatherV2", rows, i, ints(b, 0), negative_index_support=True)}))
    with pytest.raises(IndexError):
        kit.run_fused(fused, {"x": table(5, 3), "i": np.asarray([2], np.int32)})


def test_a_gather_of_a_slice_along_another_dim_reads_the_tensor(kit: Any) -> None:
    b = GraphBuilder("gather")
    x, i = b.input("x", ("n", "m"), dt.float32), b.input("i", ("k",), dt.int32)
    columns = b.op("StridedSliceV3", x, ints(b, 1), ints(b, 100), ints(b, 1))
    y = b.op("GatherV2", columns, i, ints(b, 0), negative_index_support=True)
    fused = kit.check(b.build({"y": y}), {"x": table(4, 6), "i": np.asarray([3, 0, -1], np.int32)})
    assert [set(kernel.inputs) for kernel in kit.kernels(fused)] == [{"x", "i"}]


def test_batched_gather(kit: Any) -> None:
    b = GraphBuilder("gather")
    x, i = b.input("x", ("b", "n", "m"), dt.float32), b.input("i", ("b", "k"), dt.int64)
    y = b.op("GatherV2", x, i, ints(b, 1), batch_dims=1, negative_index_support=True)
    kit.check(b.build({"y": y}), {"x": table(2, 4, 3), "i": np.asarray([[0, -1], [2, 1]])})


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_elements(kit: Any, dim: int) -> None:
    b = GraphBuilder("gather")
    x, i = b.input("x", ("n", "m"), dt.float32), b.input("i", ("k", "l"), dt.int64)
    y = b.op("GatherElements", x, i, dim=dim, negative_index_support=True)
    index = np.random.default_rng(2).integers(-2, 2, (2, 2))
    kit.check(b.build({"y": y}), {"x": table(3, 4), "i": index})


@pytest.mark.parametrize(("batch", "shape"), [(0, (3, 2)), (0, (2, 3, 1)), (1, (2, 2)), (1, (2, 4, 1)), (0, (4, 3))])
def test_gather_nd(kit: Any, batch: int, shape: tuple[int, ...]) -> None:
    b = GraphBuilder("gather")
    x = b.input("x", (2, "m", "k"), dt.float32)
    i = b.input("i", shape, dt.int64)
    y = b.op("GatherNd", x, i, batch_dims=batch, negative_index_support=True)
    index = np.random.default_rng(3).integers(-2, 2, shape)
    kit.check(b.build({"y": y}), {"x": table(2, 3, 4), "i": index})


def test_embedding_with_computed_indices_is_one_kernel(kit: Any) -> None:
    b = GraphBuilder("embedding")
    rows, i, p = (
        b.input(n, s, d)
        for n, s, d in (("t", ("v", "d"), dt.float32), ("i", ("b", "s"), dt.int64), ("p", ("s", "d"), dt.float32))
    )
    clipped = b.op("Minimum", i, b.constant(to_tensor_data(np.asarray(6))))
    y = b.op("Add", b.op("GatherV2", rows, clipped, ints(b, 0), negative_index_support=True), p)
    index = np.asarray([[0, 9, 6], [-1, 2, 3]])
    fused = kit.check(b.build({"y": y}), {"t": table(7, 4), "i": index, "p": table(3, 4)})
    assert len(kit.kernels(fused)) == 1


def test_a_slice_of_a_gather_gathers_what_is_left(kit: Any) -> None:
    b = GraphBuilder("gather")
    x, i = b.input("x", ("n", "m"), dt.float32), b.input("i", ("k",), dt.int32)
    g = b.op("GatherV2", x, i, ints(b, 0), negative_index_support=True)
    y = b.op("StridedSliceV3", g, ints(b, 1, 1), ints(b, 3, 3), ints(b, 0, 1))
    fused = kit.check(b.build({"y": y}), {"x": table(4, 6), "i": np.asarray([3, 0, -1], np.int32)})
    assert [set(kernel.inputs) for kernel in kit.kernels(fused)] == [{"x", "i"}]
