"""Arithmetic on the constants of a kernel, done once when it is written, where every kernel would get the same bits."""

from collections.abc import Sequence

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.precision import cast

from autofuse_fusion.index_map import Number

_EXACT = frozenset(("Add", "Sub", "Mul", "Div", "Neg", "Abs", "Sqrt"))
"""Operators on floats whose results IEEE 754 fixes to the last bit."""


def folded(op: str, dtype: DType, operands: Sequence[tuple[Number, DType]]) -> Number | None:
    """Return ``op`` of constants, a float of ``dtype``; None where kernels may differ in its last bits."""
    if op not in _EXACT or not dtype.is_float or any(own != dtype for _, own in operands):
        return None
    with np.errstate(all="ignore"):
        return _item(evaluate_asc(op, dtype, {}, [_array(value, own) for value, own in operands]), dtype)


def cast_number(value: Number, source: DType, target: DType) -> Number:
    """Return constant ``value`` of ``source`` as one of ``target``, as a Cast of the kernel would."""
    with np.errstate(all="ignore"):
        return _item(cast(_array(value, source), target), target)


def rounded(value: Number, dtype: DType) -> Number:
    """Return ``value`` as the element of ``dtype`` that it is stored as: one constant, however it was written."""
    if not dtype.is_float:
        return bool(value) if dtype == dt.bool_ else int(value)
    return float(value) if dtype == dt.float64 else float(cast(np.asarray(float(value)), dtype).astype(np.float64))


def _array(value: Number, dtype: DType) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return np.asarray(value).astype(numpy_dtype(dtype))


def _item(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], dtype: DType) -> Number:
    if dtype == dt.bool_:
        return bool(array)
    return float(array.astype(np.float64)) if dtype.is_float else int(array)
