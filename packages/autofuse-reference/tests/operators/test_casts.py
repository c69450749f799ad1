"""Casts truncate, saturate, wrap and round as every target does."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.operators import cast
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(derandomize=True, database=None, deadline=None, max_examples=300)
INTEGERS = tuple(d for d in dt.TENSOR_DTYPES if d.is_integer)
FLOATS = tuple(d for d in dt.TENSOR_DTYPES if d.is_float)


@LAW
@given(st.floats(width=64), st.sampled_from(INTEGERS))
def test_floats_to_integers_truncate_and_saturate(value: float, target: DType) -> None:
    limits = np.iinfo(target.numpy_name)
    if np.isnan(value):
        expected = 0
    elif np.isinf(value):
        expected = limits.max if value > 0 else limits.min
    else:
        expected = max(limits.min, min(limits.max, int(value)))
    result = cast(np.asarray([value]), target)
    assert result.dtype == target.numpy_name
    assert int(result[0]) == expected


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_the_edges_of_integer_types_hold_for_every_float_type(source: DType, target: DType) -> None:
    limits = np.iinfo(target.numpy_name)
    with np.errstate(over="ignore"):
        values = np.asarray([limits.max, limits.min, np.inf, -np.inf, np.nan, -0.5, 1.5]).astype(numpy_dtype(source))
    exact = [max(limits.min, min(limits.max, int(v))) if np.isfinite(v) else None for v in values.astype(np.float64)]
    result = cast(values, target).tolist()
    assert result[2:] == [limits.max, limits.min, 0, 0, 1]
    for got, want, edge in zip(result[:2], exact[:2], (limits.max, limits.min), strict=True):
        assert got == (edge if want is None else want)


@LAW
@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(INTEGERS))
def test_integers_to_integers_keep_the_low_bits(value: int, target: DType) -> None:
    result = int(cast(np.asarray([value], np.int64), target)[0])
    assert (result - value) % 2**target.bits == 0
    limits = np.iinfo(target.numpy_name)
    assert limits.min <= result <= limits.max


def test_to_bool_is_not_equal_to_zero() -> None:
    values = np.asarray([np.nan, 0.0, -0.0, 1e-300, -np.inf])
    assert cast(values, dt.bool_).tolist() == [True, False, False, True, True]
    assert cast(np.asarray([0, -1, 2], np.int8), dt.bool_).tolist() == [False, True, True]
    assert cast(np.asarray([0.0, 1.0], ml_dtypes.bfloat16), dt.bool_).tolist() == [False, True]


def test_to_sixteen_bits_rounds_half_to_even_and_keeps_special_values() -> None:
    halves = cast(np.asarray([1 + 2**-11, 1 + 3 * 2**-11, 65520, -0.0, np.nan, -np.inf], np.float32), dt.float16)
    assert halves[:3].tolist() == [1.0, 1 + 2**-9, np.inf]
    assert np.signbit(halves[3])
    assert np.isnan(halves[4])
    assert halves[5] == -np.inf
    brains = cast(np.asarray([1 + 2**-8, 1 + 3 * 2**-8], np.float32), dt.bfloat16)
    assert brains.astype(np.float32).tolist() == [1.0, 1 + 2**-6]


def _nearest(value: Fraction, fraction_bits: int, least: int, overflow: int) -> float:
    """Return ``value`` rounded half to even to a binary float format, by exact arithmetic."""
    if value == 0:
        return 0.0
    exponent = max(math.frexp(abs(value))[1] - 1, least) if abs(value) < 2**1000 else 1000
    while Fraction(2) ** (exponent + 1) <= abs(value):
        exponent += 1
    while exponent > least and Fraction(2) ** exponent > abs(value):
        exponent -= 1
    unit = Fraction(2) ** (exponent - fraction_bits)
    rounded = round(value / unit) * unit
    return math.copysign(math.inf, value) if abs(rounded) >= Fraction(2) ** overflow else float(rounded)


FORMATS = {dt.float16: (10, -14, 16), dt.bfloat16: (7, -126, 128)}


@LAW
@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(tuple(FORMATS)))
def test_wide_integers_are_rounded_once_to_sixteen_bits(value: int, target: DType) -> None:
    result = cast(np.asarray([value], np.int64), target)
    assert float(result[0]) == _nearest(Fraction(value), *FORMATS[target])


@LAW
@given(st.floats(width=64, allow_nan=False, allow_infinity=False), st.sampled_from(tuple(FORMATS)))
def test_doubles_are_rounded_once_to_sixteen_bits(value: float, target: DType) -> None:
    result = cast(np.asarray([value]), target)
    assert float(result[0]) == _nearest(Fraction(value), *FORMATS[target])


@pytest.mark.parametrize("target", FORMATS, ids=str)
def test_ties_that_rounding_twice_would_break_are_kept(target: DType) -> None:
    fraction_bits = FORMATS[target][0]
    # Just above the middle of two neighbours, by less than float32 (or float64, for integers) can tell.
    value = 1 + 2.0 ** -(fraction_bits + 1) + 2.0**-40
    assert float(cast(np.asarray([value]), target)[0]) == 1 + 2.0**-fraction_bits
    if target is dt.bfloat16:
        whole = 2**62 + 2**54 + 1
        assert float(cast(np.asarray([whole]), target)[0]) == 2.0**62 + 2.0**55


def test_bool_to_numbers_is_zero_or_one() -> None:
    for target in dt.TENSOR_DTYPES:
        assert cast(np.asarray([True, False]), target).astype(np.float64).tolist() == [1.0, 0.0]
