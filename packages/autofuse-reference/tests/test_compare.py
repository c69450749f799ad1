"""Distances in ULP are what a bit-level count says, and the special values are equal to themselves."""

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_reference.arrays import Array
from autofuse_reference.compare import BLOCK, compare, tensor_scale_error, ulp, ulp_error, within_allowance
from autofuse_reference.errors import EvaluationError
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(derandomize=True, database=None, deadline=None, max_examples=200)


@LAW
@given(st.integers(1, 0x7BFE))
def test_neighbouring_halves_are_one_ulp_of_the_expected_apart(bits: int) -> None:
    low, high = (np.asarray(b, np.uint16).view(np.float16) for b in (bits, bits + 1))
    error = ulp_error(np.asarray([high]), np.asarray([low]))
    assert error == [1.0]
    assert ulp(np.asarray([low]), dt.float16) == [float(high) - float(low)]


@pytest.mark.parametrize(
    ("dtype", "numpy_type"),
    [(dt.float16, np.float16), (dt.float32, np.float32), (dt.float64, np.float64)],
    ids=["f16", "f32", "f64"],
)
def test_one_ulp_is_numpys_spacing(dtype: dt.DType, numpy_type: type) -> None:
    info = np.finfo(numpy_type)
    values: Array = np.asarray([0, info.smallest_subnormal, info.tiny, 1, 1.5, 1000, info.max / 2, -3], numpy_type)
    assert np.array_equal(ulp(values, dtype), np.abs(np.spacing(values)).astype(np.float64))


def test_one_ulp_of_bfloat16_at_one_is_two_to_the_minus_seven() -> None:
    assert ulp(np.asarray([1.0, 2.0, 1e-45]), dt.bfloat16).tolist() == [2**-7, 2**-6, 2.0**-133]


def test_special_values_equal_themselves_and_nothing_else() -> None:
    values = np.asarray([np.nan, np.inf, -np.inf, 0.0], np.float32)
    assert compare(values, values).equal
    assert compare(values, values.astype(np.float64)).max_ulp == 0
    assert compare(np.asarray([0.0], np.float32), np.asarray([-0.0], np.float32)).equal
    wrong = compare(np.asarray([np.nan, 1, np.inf], np.float32), np.asarray([1, np.nan, -np.inf], np.float32))
    assert wrong.mismatches == 3
    assert wrong.first_mismatch == (0,)


def test_overflow_by_rounding_is_a_small_error() -> None:
    # 65519 is below the middle between the largest half and 65536, 65530 above it.
    assert compare(np.asarray([np.inf], np.float16), np.asarray([65519.0])).max_ulp <= 1
    assert compare(np.asarray([np.inf], np.float16), np.asarray([1e9])).max_ulp == 0
    assert compare(np.asarray([np.inf], np.float16), np.asarray([100.0])).max_ulp > 1000


def test_small_elements_are_judged_at_the_scale_of_the_tensor() -> None:
    expected = np.asarray([1024.0, 1e-3])
    actual = np.asarray([1024.0, 0.0], np.float32)
    assert ulp_error(actual, expected)[1] > 1e6
    assert tensor_scale_error(actual, expected)[1] == pytest.approx(1e-3 / 2**-23)
    assert tensor_scale_error(np.zeros(2, np.float32), np.zeros(2)).tolist() == [0, 0]


def test_integers_and_bools_are_compared_exactly() -> None:
    big = np.asarray([[0, 2**62], [7, 2**62 + 1]])
    difference = compare(big, np.asarray([[0, 2**62], [7, 2**62]]))
    assert (difference.mismatches, difference.first_mismatch) == (1, (1, 1))
    assert difference.max_abs >= 1
    assert compare(np.asarray([True, False]), np.asarray([True, True])).first_mismatch == (1,)
    assert compare(np.zeros((0, 3), np.int8), np.zeros((0, 3), np.int8)).equal


def test_the_figures_of_a_comparison_are_the_largest() -> None:
    difference = compare(np.asarray([1.0, 2.5, 4.0], np.float64), np.asarray([1.0, 2.0, 5.0]), allowed_ulp=1e30)
    assert (difference.max_abs, difference.max_rel, difference.mismatches) == (1.0, 0.25, 0)
    assert difference.count == 3


def test_bfloat16_is_compared_in_its_own_ulp() -> None:
    actual = np.asarray([1.0], ml_dtypes.bfloat16)
    assert compare(actual, np.asarray([1.0 + 2**-8])).max_ulp == 0.5


def test_a_fused_result_may_be_four_times_as_far_off_plus_four_ulp() -> None:
    unit = np.asarray([1.0])
    off = [compare(np.asarray([1.0 + k * 2.0**-52]), unit) for k in (1, 8, 9)]
    assert within_allowance(off[1], off[0])
    assert not within_allowance(off[2], off[0])


def test_different_shapes_and_ulp_of_integers_are_refused() -> None:
    with pytest.raises(EvaluationError, match=r"\[2\] and \[1\]"):
        compare(np.zeros(2), np.zeros(1))
    with pytest.raises(EvaluationError, match="measure of floats"):
        ulp_error(np.zeros(2, np.int8), np.zeros(2, np.int8))


def test_large_tensors_are_compared_as_a_whole() -> None:
    wanted = np.full((3, BLOCK), 2.0**-10, np.float32)
    wanted[2, 5] = 2.0  # the scale of all elements, also of those in other blocks
    got = wanted.astype(np.float32)
    got[1, 7] += np.float32(2.0**-32)
    found = compare(got, wanted)
    assert (found.count, found.mismatches, found.first_mismatch) == (3 * BLOCK, 1, (1, 7))
    assert found.max_ulp == 2.0**-32 / np.spacing(np.float32(2.0 * 2.0**-10))
    assert found.max_abs == 2.0**-32


def test_scalars_and_empty_tensors_are_compared() -> None:
    assert compare(np.float32(1).reshape(()), np.float64(2).reshape(())).first_mismatch == ()
    empty = compare(np.zeros((2, 0), np.float32), np.zeros((2, 0)))
    assert (empty.count, empty.mismatches, empty.max_ulp) == (0, 0, 0.0)
