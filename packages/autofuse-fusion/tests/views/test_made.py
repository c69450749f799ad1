"""Ranges, identity matrices, triangles, one-hot rows, rolls, blocks: the reference over sizes and dtypes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import HostRegion
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

Build = Callable[[GraphBuilder, str], str]


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def check(kit: Any, b: GraphBuilder, y: str, arrays: dict[str, Any], count: int = 1) -> None:
    fused = kit.check(b.build({"y": y}), arrays)
    assert not any(isinstance(node, HostRegion) for node in fused.nodes)
    assert len(kit.kernels(fused)) == count


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.float16, dt.int32, dt.int64, dt.int8], ids=str)
def test_a_range_of_run_time_length_is_made_in_the_kernel_that_uses_it(kit: Any, dtype: DType) -> None:
    b = GraphBuilder("range")
    if dtype.is_integer:
        n = b.input("n", (), dtype)
        start, delta = (b.constant(to_tensor_data(np.asarray(v).astype(numpy_dtype(dtype)))) for v in (2, 3))
        arrays = {"n": np.asarray(20).astype(numpy_dtype(dtype))}
        y = b.op("Range", start, n, delta)
    else:
        start, delta = (b.constant(to_tensor_data(np.asarray(v).astype(numpy_dtype(dtype)))) for v in (-2, 1))
        arrays = {"x": np.zeros(20, np.float32)}
        size = b.op("Size", b.input("x", ("n",), dt.float32), dtype=9)
        y = b.op("Range", start, b.op("Cast", size, dst_type=dtype.ascend_code), delta)
    check(kit, b, b.op("Neg", y), arrays)


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
@pytest.mark.parametrize("num", [0, 1, 2, 7])
def test_lin_space(kit: Any, num: int, dtype: DType) -> None:
    b = GraphBuilder("lin_space")
    start, stop = b.input("a", (), dtype), b.input("z", (1,), dtype)
    y = b.op("LinSpace", start, stop, ints(b, num))
    arrays = {"a": np.asarray(0.25, numpy_dtype(dtype)), "z": np.asarray([3.1], numpy_dtype(dtype))}
    check(kit, b, y, arrays)


@pytest.mark.parametrize("dtype", [dt.bool_, dt.int8, dt.float16, dt.float32], ids=str)
def test_eye(kit: Any, dtype: DType) -> None:
    b = GraphBuilder("eye")
    y = b.op("Eye", num_rows=3, num_columns=5, batch_shape=(2,), dtype=dtype.ascend_code)
    check(kit, b, y, {})


@pytest.mark.parametrize("k", [-2, 0, 1])
@pytest.mark.parametrize("shape", [(0, 3), (3, 5), (4, 1)])
def test_eye_like(kit: Any, k: int, shape: tuple[int, int]) -> None:
    b = GraphBuilder("eye")
    x = b.input("x", ("n", "m"), dt.float32)
    check(kit, b, b.op("EyeLike", x, k=k), {"x": np.zeros(shape, np.float32)})


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(0, 3), (3, 5), (2, 4, 1), (2, 1, 3, 3)])
def test_triangles(kit: Any, upper: bool, shape: tuple[int, ...]) -> None:
    b = GraphBuilder("trilu")
    x = b.input("x", tuple(f"d{k}" for k in range(len(shape))), dt.float32)
    k = b.input("k", (), dt.int64)
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for diagonal in (-3, 0, 1):
        y = b.op("Trilu", b.op("Exp", x), k, upper=upper)
        check(kit, b, y, {"x": values, "k": np.asarray(diagonal)})
    check(kit, b, b.op("Triu" if upper else "Tril", x, diagonal=1), {"x": values, "k": np.asarray(0)})


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [dt.int32, dt.int64, dt.uint8, dt.float32], ids=str)
def test_one_hot(kit: Any, axis: int, dtype: DType) -> None:
    b = GraphBuilder("one_hot")
    x, depth = b.input("x", ("n", "m"), dtype), b.input("d", (), dt.int64)
    on, off = (b.constant(to_tensor_data(np.asarray(v, np.float32))) for v in (2.5, -1.0))
    ids = np.asarray([[0, 4, 7], [2, 1, 3]]) if dtype == dt.uint8 else np.asarray([[0, -1, 7], [-5, -6, 3]])
    y = b.op("OneHot", x, depth, on, off, axis=axis)
    check(kit, b, y, {"x": ids.astype(numpy_dtype(dtype)), "d": np.asarray(5)})


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 7)])
@pytest.mark.parametrize(
    ("shifts", "dims"), [((1,), (0,)), ((-2,), (1,)), ((1, 9), (0, -1)), ((3,), ()), ((0,), (1,)), ((-13,), (0,))]
)
def test_roll(kit: Any, shape: tuple[int, int], shifts: tuple[int, ...], dims: tuple[int, ...]) -> None:
    b = GraphBuilder("roll")
    x = b.input("x", ("n", "m"), dt.float32)
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    y = b.op("Abs", b.op("Roll", b.op("Neg", x), shifts=shifts, dims=dims))
    check(kit, b, y, {"x": values}, 1 if dims else 2)  # a vector of rows is rolled where it lies in memory


@pytest.mark.parametrize(("sequence", "batch"), [(0, 1), (1, 0)])
def test_reverse_sequence(kit: Any, sequence: int, batch: int) -> None:
    b = GraphBuilder("reverse")
    x, lengths = b.input("x", ("n", "n", "k"), dt.float32), b.input("l", ("n",), dt.int32)
    values = np.arange(48, dtype=np.float32).reshape(4, 4, 3)
    y = b.op("ReverseSequence", x, lengths, seq_dim=sequence, batch_dim=batch)
    check(kit, b, y, {"x": values, "l": np.asarray([0, 1, 3, 4], np.int32)})


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("op", ["DepthToSpace", "SpaceToDepth"])
def test_blocks_with_symbolic_sizes(kit: Any, op: str, layout: str, mode: str) -> None:
    b = GraphBuilder("blocks")
    x = b.input("x", ("n", "c", "h", "w"), dt.float32)
    shape = (2, 8, 4, 6) if layout == "NCHW" else (2, 4, 6, 8)
    values = np.arange(384, dtype=np.float32).reshape(shape)
    y = b.op(op, b.op("Neg", x), block_size=2, mode=mode, data_format=layout)
    check(kit, b, b.op("Relu", y), {"x": values})


@pytest.mark.parametrize("mode", ["reflect", "edge", "symmetric", "circular"])
@pytest.mark.parametrize("pads", [(1, 2, 0, 3), (2, 1, 4, 4), (-1, 2, 0, -2), (0, 0, 0, 0)])
def test_padding_from_inside(kit: Any, mode: str, pads: tuple[int, ...]) -> None:
    b = GraphBuilder("pad")
    x = b.input("x", ("n", "m"), dt.float32)
    values = np.arange(35, dtype=np.float32).reshape(5, 7)
    y = b.op("PadV3", b.op("Neg", x), ints(b, *pads), mode=mode)
    fused = kit.check(b.build({"y": b.op("Relu", y)}), {"x": values})
    assert not any(isinstance(node, HostRegion) for node in fused.nodes)


@pytest.mark.parametrize("value", [2.5, np.nan, -np.inf, -0.0])
def test_padding_with_a_constant(kit: Any, value: float) -> None:
    b = GraphBuilder("pad")
    x = b.input("x", ("n", "m"), dt.float32)
    fill = b.constant(to_tensor_data(np.asarray(value, np.float32)))
    y = b.op("PadV3", x, ints(b, 1, 0, -1, 2), fill, paddings_contiguous=False)
    check(kit, b, y, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})


def test_padding_with_a_run_time_value(kit: Any) -> None:
    b = GraphBuilder("pad")
    x, fill = b.input("x", ("n",), dt.float32), b.input("v", (1,), dt.float32)
    check(
        kit,
        b,
        b.op("PadV3", x, ints(b, 1, 2), fill),
        {"x": np.arange(3, dtype=np.float32), "v": np.asarray([7], np.float32)},
    )


def test_as_strided_and_diagonals(kit: Any) -> None:
    b = GraphBuilder("strided")
    x = b.input("x", (4, 6), dt.float32)
    y = b.op("AsStrided", x, ints(b, 3, 4), ints(b, 5, 2), ints(b, 1))
    check(kit, b, y, {"x": np.arange(24, dtype=np.float32).reshape(4, 6)})
    b = GraphBuilder("diagonal")
    x = b.input("x", ("n", "m", "n", "m"), dt.float32)
    y = b.op("DiagPartD", x, b.input("a", ("n", "m", "n", "m"), dt.float32))
    values = np.arange(36, dtype=np.float32).reshape(2, 3, 2, 3)
    check(kit, b, y, {"x": values, "a": values})
