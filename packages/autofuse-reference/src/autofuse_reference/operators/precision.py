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
    * to a float: rounded to nearest, ties to even; to 16-bit floats from integers through float32, to bfloat16 from
      float64 too.
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
        through_float32 = dtype.name == "bfloat16" or (dtype.name == "float16" and not source.is_float)
        if through_float32:
            array = array.astype(np.float32)
        return array.astype(target)


def _truncate(array: Array, target: "np.dtype[np.integer]") -> Array:
    limits = np.iinfo(target)
    wide = np.trunc(array.astype(np.float64))
    above = wide >= float(limits.max)  # for 64 bits the limit rounds up to 2**63 (2**64): out of range as well
    below = wide < float(limits.min)
    inside = np.where(above | below | np.isnan(wide), 0.0, wide).astype(target)
    return np.where(above, target.type(limits.max), np.where(below, target.type(limits.min), inside))
