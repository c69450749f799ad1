"""How far results are from a reference, in units in the last place (ULP).

One ULP of a dtype at x is the distance of the two numbers of that dtype around x; below the smallest normal number it
stays constant. Distances are computed in float64. NaN equals NaN, -0.0 equals 0.0, an infinity equals itself; next to a
finite number an infinity counts as the power of two after the largest number, where rounding begins to overflow.
Integers and bools are compared exactly.
"""

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from autofuse_ir.dtypes import DType, bfloat16, float16, float32, float64

from autofuse_reference.arrays import Array, dtype_of
from autofuse_reference.errors import EvaluationError

TENSOR_SCALE = 2.0**-10
"""Elements smaller than this part of the largest are judged by the ULP of that part."""

BLOCK = 1 << 15
"""Elements compared at a time: what is computed for them stays in the cache."""

RELATIVE_ALLOWANCE = 4.0
ULP_ALLOWANCE = 4.0
"""A fused result may be off by ``RELATIVE_ALLOWANCE`` times the unfused error plus this many ULP at tensor scale."""


@frozen
class FloatFormat:
    """Explicitly stored bits of the significand, and exponents of the smallest normal and of overflow."""

    fraction_bits: int
    least_exponent: int
    overflow_exponent: int


_FORMATS = {
    float16: FloatFormat(10, -14, 16),
    bfloat16: FloatFormat(7, -126, 128),
    float32: FloatFormat(23, -126, 128),
    float64: FloatFormat(52, -1022, 1024),
}


@frozen
class Comparison:
    """The difference of two tensors of ``count`` elements.

    ``max_ulp`` is the largest distance in ULP at tensor scale; ``mismatches`` counts elements further apart than was
    allowed (for integers and bools: unequal ones), ``first_mismatch`` is the index of the first in row-major order.
    """

    count: int
    max_abs: float
    max_rel: float
    max_ulp: float
    mismatches: int
    first_mismatch: tuple[int, ...] | None

    @property
    def equal(self) -> bool:
        """True when no element is further off than was allowed."""
        return self.mismatches == 0


def ulp(values: Array, dtype: DType) -> Array:
    """Return the size of one ULP of float ``dtype`` at ``values`` (float64); NaN and infinities count as 0."""
    form = _FORMATS[dtype]
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    _, exponents = np.frexp(finite)
    exponents = np.where(finite == 0, form.least_exponent, exponents - 1)
    exponents = np.clip(exponents, form.least_exponent, form.overflow_exponent - 1)
    return np.asarray(np.ldexp(1.0, exponents - form.fraction_bits))


def ulp_error(actual: Array, expected: Array) -> Array:
    """Return the distance of each element in ULP of the dtype of ``actual`` at ``expected``; inf for NaN next to a
    number. ``expected`` may be more precise than ``actual``.
    """
    dtype = _float_dtype(actual)
    return np.asarray(_distance(actual, expected, dtype) / ulp(expected, dtype))


def tensor_scale_error(actual: Array, expected: Array) -> Array:
    """Return the distance of each element in ULP at ``max(|expected|, TENSOR_SCALE * max |expected|)``."""
    return _scaled_error(actual, expected, _float_dtype(actual), _magnitude(expected).max(initial=0.0))


def compare(actual: Array, expected: Array, *, allowed_ulp: float = 0.0) -> Comparison:
    """Return how ``actual`` differs from ``expected``, which may be more precise (float64 for any float).

    ``allowed_ulp`` is the distance at tensor scale from which on a float is a mismatch.
    """
    if actual.shape != expected.shape:
        raise EvaluationError(
            f"results of shapes {list(actual.shape)} and {list(expected.shape)} cannot be compared",
            where="autofuse_reference.compare",
        )
    if not dtype_of(actual).is_float:
        return _compare_exactly(actual, expected)
    dtype = dtype_of(actual)
    flat, wanted = actual.reshape(-1), expected.reshape(-1)
    blocks = [slice(start, start + BLOCK) for start in range(0, actual.size, BLOCK)]
    largest = max((float(_magnitude(wanted[block]).max()) for block in blocks), default=0.0)
    parts = [_compare_block(flat[block], wanted[block], dtype, largest, allowed_ulp) for block in blocks]
    return _joined(parts, actual.shape)


def within_allowance(fused: Comparison, unfused: Comparison) -> bool:
    """True when the fused result is about as good as the unfused one, both compared with one float64 reference."""
    return fused.max_ulp <= RELATIVE_ALLOWANCE * unfused.max_ulp + ULP_ALLOWANCE


def _magnitude(expected: Array) -> Array:
    return np.abs(np.where(np.isfinite(expected), expected, 0.0).astype(np.float64))


def _scaled_error(actual: Array, expected: Array, dtype: DType, largest: float) -> Array:
    scale = np.maximum(_magnitude(expected), TENSOR_SCALE * largest)
    return np.asarray(_distance(actual, expected, dtype) / ulp(scale, dtype))


def _compare_block(actual: Array, expected: Array, dtype: DType, largest: float, allowed_ulp: float) -> Comparison:
    wide = expected.astype(np.float64)
    distance = _distance(actual, expected, dtype)
    known = np.isfinite(wide) & (wide != 0)
    relative = np.where(known, distance / np.where(known, np.abs(wide), 1.0), 0.0)
    error = _scaled_error(actual, expected, dtype, largest)
    return _comparison(distance, relative, error, error > allowed_ulp)


def _joined(parts: Sequence[Comparison], shape: tuple[int, ...]) -> Comparison:
    """The comparison of a tensor from those of its blocks, which are `BLOCK` elements in row-major order each."""
    first = None
    for number, part in enumerate(parts):
        if part.first_mismatch is not None:
            at = number * BLOCK + part.first_mismatch[0]
            first = tuple(int(i) for i in np.unravel_index(at, shape))
            break
    return Comparison(
        count=sum(part.count for part in parts),
        max_abs=max((part.max_abs for part in parts), default=0.0),
        max_rel=max((part.max_rel for part in parts), default=0.0),
        max_ulp=max((part.max_ulp for part in parts), default=0.0),
        mismatches=sum(part.mismatches for part in parts),
        first_mismatch=first,
    )


def _float_dtype(array: Array) -> DType:
    dtype = dtype_of(array)
    if not dtype.is_float:
        raise EvaluationError(
            f"ULP are a measure of floats, not of {dtype.name}",
            where="autofuse_reference.compare",
            fix="use compare() for any dtype",
        )
    return dtype


def _distance(actual: Array, expected: Array, dtype: DType) -> Array:
    """Return |actual - expected| in float64: 0 where both are NaN or the same infinity, inf where one is NaN."""
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    form = _FORMATS[dtype]
    if dtype != float64:
        limit = 2.0**form.overflow_exponent
        a, e = np.clip(a, -limit, limit), np.clip(e, -limit, limit)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(a - e)
    both_nan, either_nan = np.isnan(a) & np.isnan(e), np.isnan(a) | np.isnan(e)
    return np.where(both_nan | (a == e), 0.0, np.where(either_nan, np.inf, distance))


def _compare_exactly(actual: Array, expected: Array) -> Comparison:
    wrong = np.asarray(actual != expected)
    with np.errstate(over="ignore"):
        distance = np.where(wrong, np.abs(actual.astype(np.float64) - expected.astype(np.float64)), 0.0)
    # Neighbouring 64-bit integers may be one number in float64, but are a difference.
    distance = np.where(wrong, np.maximum(distance, 1.0), 0.0)
    size = np.abs(expected.astype(np.float64))
    return _comparison(distance, np.where(size > 0, distance / np.where(size > 0, size, 1.0), 0.0), distance, wrong)


def _comparison(distance: Array, relative: Array, error: Array, wrong: Array) -> Comparison:
    first = None
    if wrong.any():
        first = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return Comparison(
        count=distance.size,
        max_abs=float(distance.max(initial=0.0)),
        max_rel=float(relative.max(initial=0.0)),
        max_ulp=float(error.max(initial=0.0)),
        mismatches=int(np.count_nonzero(wrong)),
        first_mismatch=first,
    )
