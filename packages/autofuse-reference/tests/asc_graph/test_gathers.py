"""Loads whose index is a value, and loads that may leave their data, against NumPy's indexing."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import AscGraph, Bounds
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.errors import EvaluationError, Status, StatusError
from hypothesis import given, settings
from hypothesis import strategies as st

X = np.arange(24, dtype=np.float32).reshape(6, 4)


def rows_of(rows: int, count: int, bounds: Bounds, dtype: DType = dt.int64, fill: Any = None) -> AscGraph:
    """y[i, j] = x[index[i], j]: an embedding."""
    b = AscGraphBuilder("k", {"z0": count, "z1": 4})
    index = b.load(b.input("index", dtype), (count,), ("z0",))
    x = b.load(b.input("x", dt.float32), (rows, 4), (Operand(0), "z1"), "picked", (index,), bounds, fill)
    b.store(x, "y", (count, 4), ("z0", "z1"))
    return b.build()


@pytest.mark.parametrize("dtype", [d for d in dt.TENSOR_DTYPES if d.is_integer], ids=str)
def test_an_operand_picks_rows_in_any_integer_dtype(dtype: DType) -> None:
    index = np.array([5, 0, 3, 3], numpy_dtype(dtype))
    y = interpret(rows_of(6, 4, Bounds.ERROR, dtype), [index, X], {})[0]
    np.testing.assert_array_equal(y, X[index])


def test_operands_may_vary_along_several_axes_and_be_scaled() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (3, 5)), rng.integers(0, 4, (5,))
    b = AscGraphBuilder("k", {"z0": 3, "z1": 5})
    i = b.load(b.input("i", dt.int64), (3, 5), ("z0", "z1"))
    j = b.load(b.input("j", dt.int64), (5,), ("z1",))
    at = ((Operand(0), -2, 3), (Operand(1), 1, 0))
    b.store(b.load(b.input("x", dt.float32), (6, 4), at, indices=(i, j)), "y", (3, 5), ("z0", "z1"))
    np.testing.assert_array_equal(interpret(b.build(), [first, second, X], {})[0], X[3 - 2 * first, second])


@pytest.mark.parametrize("wrong", [6, -1, 2**63 - 1, -(2**63)])
def test_an_operand_out_of_range_is_a_status_that_names_the_operator(wrong: int) -> None:
    index = np.array([0, wrong])
    shown = wrong if abs(wrong) < 2**40 else "-?1099511627776"
    with pytest.raises(StatusError, match=rf"(?s)node picked:.*index {shown} is outside of a dim of size 6") as told:
        interpret(rows_of(6, 2, Bounds.ERROR), [index, X], {})
    assert told.value.status is Status.INDEX_OUT_OF_RANGE
    with pytest.raises(EvaluationError, match="Load reaches element"):
        interpret(rows_of(6, 2, Bounds.INSIDE), [index, X], {})


def test_an_unsigned_operand_past_int64_is_out_of_range() -> None:
    with pytest.raises(StatusError, match="out of range"):
        interpret(rows_of(6, 1, Bounds.ERROR, dt.uint64), [np.array([2**64 - 1], np.uint64), X], {})


def test_nothing_can_be_picked_from_nothing_but_picking_nothing_is_fine() -> None:
    empty = np.zeros((0, 4), np.float32)
    with pytest.raises(StatusError, match="index 0 is outside of a dim of size 0"):
        interpret(rows_of(0, 1, Bounds.ERROR), [np.zeros(1, np.int64), empty], {})
    assert interpret(rows_of(0, 0, Bounds.ERROR), [np.zeros(0, np.int64), empty], {})[0].shape == (0, 4)
    y = interpret(rows_of(0, 2, Bounds.FILL, fill=7.0), [np.zeros(2, np.int64), empty], {})[0]
    np.testing.assert_array_equal(y, np.full((2, 4), 7))


def test_operands_outside_are_filled() -> None:
    index = np.array([-1, 2, 6, 2**62])
    y = interpret(rows_of(6, 4, Bounds.FILL, fill=-1.5), [index, X], {})[0]
    np.testing.assert_array_equal(y, [[-1.5] * 4, X[2], [-1.5] * 4, [-1.5] * 4])


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=2),
    st.lists(st.integers(-3, 4), min_size=4, max_size=4),
    st.sampled_from([dt.float32, dt.int8, dt.bool_, dt.bfloat16]),
)
def test_a_fill_load_is_a_pad_that_may_cut(shape: list[int], pads: list[int], dtype: DType) -> None:
    before, sizes = pads[:2], [max(0, s + a + c) for s, a, c in zip(shape, pads[:2], pads[2:], strict=True)]
    x = np.random.default_rng(0).integers(0, 2, shape).astype(numpy_dtype(dtype))
    b = AscGraphBuilder("k", {"z0": sizes[0], "z1": sizes[1]})
    at = tuple((axis, 1, -first) for axis, first in zip(("z0", "z1"), before, strict=True))
    fill = 1 if dtype is not dt.bool_ else True
    value = b.load(b.input("x", dtype), tuple(shape), at, bounds=Bounds.FILL, fill=fill)
    b.store(value, "y", tuple(sizes), ("z0", "z1"))
    wanted = np.full(sizes, fill, x.dtype)
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            if 0 <= i - before[0] < shape[0] and 0 <= j - before[1] < shape[1]:
                wanted[i, j] = x[i - before[0], j - before[1]]
    np.testing.assert_array_equal(interpret(b.build(), [x], {})[0], wanted)


@pytest.mark.parametrize(
    ("dtype", "fill", "wanted"), [(dt.uint8, -1, 255), (dt.float16, 1e9, np.inf), (dt.bool_, 1, True)]
)
def test_fills_take_the_dtype_of_the_data(dtype: DType, fill: Any, wanted: Any) -> None:
    b = AscGraphBuilder("k", {"z0": 1})
    x = b.load(b.input("x", dtype), (1,), (("z0", 1, 1),), bounds=Bounds.FILL, fill=fill)
    b.store(x, "y", (1,), ("z0",))
    assert interpret(b.build(), [np.zeros(1, numpy_dtype(dtype))], {})[0].tolist() == [wanted]


def test_an_affine_load_with_bounds_error_reports_where_it_leaves() -> None:
    b = AscGraphBuilder("k", {"z0": 3})
    b.store(b.load(b.input("x", dt.float32), (3,), (("z0", 1, 1),), bounds=Bounds.ERROR), "y", (3,), ("z0",))
    with pytest.raises(StatusError, match="index 3 is outside of a dim of size 3"):
        interpret(b.build(), [np.zeros(3, np.float32)], {})


def test_a_chain_of_fill_loads_and_selects_is_a_concatenation() -> None:
    a, c = np.arange(6, dtype=np.float32).reshape(2, 3), -np.arange(4, dtype=np.float32).reshape(2, 2)
    b = AscGraphBuilder("k", {"z0": 2, "z1": 5})
    first = b.load(b.input("a", dt.float32), (2, 3), ("z0", "z1"), bounds=Bounds.FILL, fill=0)
    second = b.load(b.input("c", dt.float32), (2, 2), ("z0", ("z1", 1, -3)), bounds=Bounds.FILL, fill=0)
    is_first = b.broadcast(b.op("Lt", b.axis_index("z1"), b.scalar(3, dt.int64)), "z0")
    b.store(b.op("Select", is_first, first, second), "y", (2, 5), ("z0", "z1"))
    np.testing.assert_array_equal(interpret(b.build(), [a, c], {})[0], np.concatenate([a, c], 1))
