"""Minimum and maximum decide what NumPy leaves open: the sign of zeros, and which of two NaNs is the result."""

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.evaluate import evaluate_operator
from autofuse_reference.operators.extremes import maximum, minimum

VALUES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("op", ["Minimum", "Maximum"])
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32, dt.float64], ids=str)
def test_nan_wins_and_of_equal_operands_the_first_is_taken(op: str, dtype: dt.DType) -> None:
    a, b = (np.array(v).astype(numpy_dtype(dtype)) for v in zip(*((x, y) for x in VALUES for y in VALUES), strict=True))
    for length in (1, 7, 49):  # vector loops and tails of NumPy may differ
        for start in range(0, 49 - length + 1, length):
            x, y = a[start : start + length], b[start : start + length]
            for result in (evaluate_asc(op, dtype, {}, [x, y]), evaluate_operator(op, {}, [x, y])[0]):
                for first, second, got in zip(*(v.astype(np.float64).tolist() for v in (x, y, result)), strict=True):
                    if np.isnan(first) or np.isnan(second):
                        assert np.isnan(got)
                        continue
                    wanted = first if first == second else (min if op == "Minimum" else max)(first, second)
                    assert (got, np.signbit(got)) == (wanted, np.signbit(wanted))


@pytest.mark.parametrize("function", [minimum, maximum])
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32, dt.float64], ids=str)
def test_nan_keeps_its_bits_and_of_two_the_second_is_taken(function, dtype: dt.DType) -> None:  # type: ignore[no-untyped-def]
    bits = np.dtype(f"u{dtype.itemsize}")
    infinite = np.array(np.inf).astype(numpy_dtype(dtype)).view(bits)
    sign = bits.type(1 << (dtype.bits - 1))
    first, second = infinite | bits.type(3), infinite | bits.type(5) | sign  # signalling ones
    one = np.array(1.0).astype(numpy_dtype(dtype)).view(bits)
    for a, b, wanted in ((first, second, second), (second, first, first), (first, one, first), (one, second, second)):
        with np.errstate(invalid="ignore"):
            got = function(np.full(19, a).view(numpy_dtype(dtype)), np.full(19, b).view(numpy_dtype(dtype)))
        assert set(got.view(bits).tolist()) == {int(wanted)}


@pytest.mark.parametrize("op", ["Minimum", "Maximum"])
@pytest.mark.parametrize("dtype", [dt.bool_, dt.int8, dt.uint8, dt.int32, dt.int64, dt.uint64], ids=str)
def test_integers_and_bools_are_as_in_numpy_and_broadcast(op: str, dtype: dt.DType) -> None:
    kind = numpy_dtype(dtype)
    values = [0, 1] if dtype == dt.bool_ else [0, 1, 7, np.iinfo(kind).min, np.iinfo(kind).max]
    a, b = np.array(values, kind)[:, None], np.array(values, kind)
    wanted = (np.minimum if op == "Minimum" else np.maximum)(a, b)
    for got in (evaluate_asc(op, dtype, {}, [a, b]), evaluate_operator(op, {}, [a, b])[0]):
        assert got.dtype == kind
        np.testing.assert_array_equal(got, wanted)
