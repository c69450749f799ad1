"""In which arithmetic a program is evaluated, and the casts between element types."""

from typing import Literal, TypeAlias

import numpy as np
from autofuse_ir.dtypes import DType, DTypeKind, float32, float64

from autofuse_reference.arrays import Array, dtype_of, numpy_dtype

Precision: TypeAlias = Literal["declared", "float64"]
"""``declared``: every operator rounds its results to its own dtype; inside one operator 16-bit floats are computed in
float32, the others in their own dtype. ``float64``: floats are upcast, computed in float64, and never rounded."""


def internal_dtype(dtype: DType, precision: Precision) -> DType:
    """Return the dtype in which an operator computes on values of ``dtype``."""
    if not dtype.is_float:
        return dtype
    if precision == "float64":
        return float64
    return float32 if dtype.bits == 16 else dtype


def widen(array: Array, precision: Precision) -> Array:
    """Return ``array`` in the dtype in which an operator computes on it."""
    dtype = dtype_of(array)
    internal = internal_dtype(dtype, precision)
    return array if internal == dtype else array.astype(numpy_dtype(internal))


def cast(array: Array, dtype: DType) -> Array:
    """Return ``array`` converted to ``dtype`` by the rules every target follows.

    * float to integer: truncated towards zero; NaN gives 0; what is out of range (infinities too) gives the nearest
      value of the integer type;
    * float to bool, integer to bool: not equal to 0 (so NaN is true, -0.0 is false);
    * integer to integer: the low bits (wraps);
    * to a float: rounded once to nearest, ties to even, whatever the source.
    """
    source = dtype_of(array)
    if source == dtype:
        return array
    if dtype.kind is DTypeKind.BOOL:
        return np.asarray(array != 0)
    target = numpy_dtype(dtype)
    with np.errstate(all="ignore"):
        if source.is_float and dtype.is_integer:
            return _truncate(array, target)
        if dtype.is_float and dtype.bits == 16:
            # NumPy and ml_dtypes would round twice: from wide integers, and from float64 to bfloat16.
            array = _integers_to_odd(array) if source.is_integer and source.bits == 64 else array.astype(np.float64)
            array = _narrow_to_odd(array) if dtype.name == "bfloat16" else array
        return array.astype(target)


def _integers_to_odd(array: Array) -> Array:
    """Return 64-bit integers as float64 whose last bit is odd where bits were lost: one more rounding is then exact."""
    negative = array < 0
    magnitude = array.astype(np.uint64)
    magnitude = np.where(negative, ~magnitude + np.uint64(1), magnitude)
    lost = magnitude & np.uint64(0xFFF)
    odd = (magnitude - lost) | np.where(lost != 0, np.uint64(0x1000), np.uint64(0))
    value = np.where(magnitude >= np.uint64(1 << 53), odd, magnitude).astype(np.float64)
    return np.where(negative, -value, value)


def _narrow_to_odd(array: Array) -> Array:
    """Return float64 as float32 whose last bit is odd where bits were lost: one more rounding is then exact."""
    narrow = array.astype(np.float32)
    below = np.where(np.abs(narrow.astype(np.float64)) > np.abs(array), np.nextafter(narrow, np.float32(0)), narrow)
    odd = (below.view(np.uint32) | np.uint32(1)).view(np.float32)
    exact = (narrow.astype(np.float64) == array) | np.isnan(array)
    return np.where(exact, narrow, odd)


def _truncate(array: Array, target: "np.dtype[np.integer]") -> Array:
    limits = np.iinfo(target)
    wide = np.trunc(array.astype(np.float64))
    above = wide >= float(limits.max)  # for 64 bits the limit rounds up to 2**63 (2**64): out of range as well
    below = wide < float(limits.min)
    inside = np.where(above | below | np.isnan(wide), 0.0, wide).astype(target)
    return np.where(above, target.type(limits.max), np.where(below, target.type(limits.min), inside))
