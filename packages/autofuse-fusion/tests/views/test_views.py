"""Operators that move elements are the reference over dtypes, ranks and sizes, alone and between other operators."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import HostRegion
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

SIZES = (0, 1, 2, 5, 7)
DTYPES = (dt.bool_, dt.int8, dt.uint16, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64)
Build = Callable[[GraphBuilder, str], str]


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def one(b: GraphBuilder, value: Any, dtype: DType) -> str:
    return b.constant(to_tensor_data(np.asarray(value).astype(numpy_dtype(dtype))))


def data(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> np.ndarray[Any, Any]:
    drawn = np.random.default_rng(seed).integers(-9, 10, shape)
    return (drawn > 0) if dtype == dt.bool_ else drawn.astype(numpy_dtype(dtype))


def run(kit: Any, build: Build, shape: tuple[int, ...], dtype: DType = dt.float32, **options: Any) -> Any:
    """Fuse ``build`` with symbolic dims and compare with the reference at ``shape``."""
    b = GraphBuilder("views")
    x = b.input("x", tuple(f"d{k}" for k in range(len(shape))), dtype)
    y = build(b, x)
    fused = kit.check(b.build({"y": y}), {"x": data(shape, dtype)}, **options)
    assert not any(isinstance(node, HostRegion) for node in fused.nodes)
    return fused


MATRIX: dict[str, Build] = {
    "Slice": lambda b, x: b.op("StridedSliceV3", x, ints(b, 1), ints(b, 100), ints(b, 1)),
    "Slice negative step": lambda b, x: b.op(
        "StridedSliceV3", x, ints(b, -1, 5), ints(b, -100, 0), None, ints(b, -1, -2)
    ),
    "Slice steps": lambda b, x: b.op("StridedSliceV3", x, ints(b, -5), ints(b, 2**63 - 1), ints(b, -1), ints(b, 3)),
    "StridedSlice masks": lambda b, x: b.op(
        "StridedSliceD", x, begin=(0, 0, 1), end=(0, 0, -1), strides=(1, 1, 2), ellipsis_mask=1, new_axis_mask=2
    ),
    "Transpose": lambda b, x: b.op("TransposeD", x, perm=(1, 0)),
    "Reverse": lambda b, x: b.op("ReverseV2", x, ints(b, 0, -1)),
    "Concat": lambda b, x: b.op("ConcatD", x, b.op("Neg", x), x, concat_dim=-1),
    "Concat rows": lambda b, x: b.op("ConcatV2", x, x, ints(b, 0)),
    "Pack": lambda b, x: b.op("Pack", x, b.op("Neg", x), axis=1),
    "Pad": lambda b, x: b.op("Pad", x, ints(b, 1, 2, 0, 3)),
    "Pad of computed": lambda b, x: b.op("Pad", b.op("Neg", x), ints(b, 1, 2, 0, 3)),
    "Pad cuts": lambda b, x: b.op("PadD", b.op("Pad", x, ints(b, 3, 3, 3, 3)), paddings=((-1, 2), (1, -2))),
    "Tile": lambda b, x: b.op("TileD", x, multiples=(2, 3)),
    "Tile new": lambda b, x: b.op("Tile", x, ints(b, 3, 1, 2)),
    "Slice of Concat": lambda b, x: b.op(
        "StridedSliceV3", b.op("ConcatD", x, x, concat_dim=1), ints(b, 1), ints(b, -1), ints(b, 1)
    ),
    "Concat of Slices": lambda b, x: b.op(
        "ConcatD",
        b.op("StridedSliceV3", x, ints(b, 1), ints(b, 100), ints(b, 1)),
        b.op("StridedSliceV3", x, ints(b, 0), ints(b, 1), ints(b, 1)),
        concat_dim=1,
    ),
    "Transpose of Pad": lambda b, x: b.op("TransposeD", b.op("Pad", x, ints(b, 1, 0, 0, 2)), perm=(1, 0)),
    "Transpose of Reshape": lambda b, x: b.op(
        "TransposeD", b.op("Unsqueeze", b.op("Neg", x), axes=(1,)), perm=(2, 1, 0)
    ),
    "Concat of Concat": lambda b, x: b.op("ConcatD", b.op("ConcatD", x, b.op("Neg", x), concat_dim=1), x, concat_dim=1),
}
SIGNED = [d for d in DTYPES if d.is_float or d in (dt.int8, dt.int64)]


@pytest.mark.parametrize("name", MATRIX)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 5), (5, 0), (7, 2), (1, 7)])
def test_a_view_is_the_reference_and_one_kernel(kit: Any, name: str, shape: tuple[int, int]) -> None:
    fused = run(kit, MATRIX[name], shape)
    assert len(kit.kernels(fused)) == 1


@pytest.mark.parametrize("name", MATRIX)
def test_a_view_between_others_is_one_kernel_that_reads_only_the_input(kit: Any, name: str) -> None:
    fused = run(kit, lambda b, x: b.op("Exp", MATRIX[name](b, b.op("Relu", x))), (5, 7))
    (kernel,) = kit.kernels(fused)
    assert kernel.inputs == ("x",)
    assert len(kernel.outputs) == 1


@pytest.mark.parametrize("name", MATRIX)
def test_unfused_operators_are_a_kernel_each(kit: Any, name: str) -> None:
    run(kit, lambda b, x: b.op("Abs", MATRIX[name](b, b.op("Relu", x))), (5, 7), enable=False)


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
@pytest.mark.parametrize("name", MATRIX)
def test_a_view_moves_every_dtype(kit: Any, name: str, dtype: DType) -> None:
    run(kit, MATRIX[name], (3, 5), dtype)


@pytest.mark.parametrize("axis", [0, -1])
def test_a_tensor_of_rank_0_is_flipped_and_scanned_as_a_vector_of_one(kit: Any, axis: int) -> None:
    run(kit, lambda b, x: b.op("Neg", b.op("ReverseV2", x, ints(b, axis))), ())
    run(kit, lambda b, x: b.op("Neg", b.op("Cumsum", x, ints(b, axis))), ())
    run(kit, lambda b, x: b.op("Neg", b.op("Cumsum", x, ints(b, axis), exclusive=True)), ())
