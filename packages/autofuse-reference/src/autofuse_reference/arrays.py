"""NumPy arrays and the element types and constants of ``autofuse_ir``."""

import sys
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType, dtype_named
from autofuse_ir.tensor_data import TensorData

from autofuse_reference.errors import EvaluationError

Array: TypeAlias = npt.NDArray[Any]


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Return NumPy's name for ``dtype``; bfloat16 is the one of ml_dtypes (extra ``bfloat16``), opaque is object."""
    if dtype is dt.bfloat16 or dtype.name == "bfloat16":
        try:
            import ml_dtypes  # noqa: PLC0415  an extra: needed only where bfloat16 occurs
        except ModuleNotFoundError as missing:
            raise EvaluationError(
                "bfloat16 arrays need the package ml_dtypes, which is not installed",
                where="autofuse_reference",
                fix="install 'autofuse-reference[bfloat16]'",
            ) from missing
        stored: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return stored
    return np.dtype(dtype.numpy_name)


def dtype_of(array: Array) -> DType:
    """Return the element type of ``array``; strings and objects are opaque, complex numbers an error."""
    return _element_type(array.dtype)


@cache
def _element_type(stored: "np.dtype[Any]") -> DType:
    if stored.kind in "OUST":
        return dt.opaque
    try:
        return dtype_named(stored.name)
    except KeyError:
        raise EvaluationError(
            f"arrays of NumPy dtype {stored} have no element type of AutoFuse",
            where="autofuse_reference",
            fix=f"convert to one of {', '.join(d.name for d in dt.TENSOR_DTYPES)}",
        ) from None


def to_array(data: TensorData) -> Array:
    """Return the content of a constant as a read-only row-major array in native byte order."""
    stored = numpy_dtype(data.dtype)
    array = np.frombuffer(data.raw, dtype=np.uint8).view(stored).reshape(data.shape)
    if sys.byteorder == "big" and data.dtype.itemsize > 1:
        array = array.byteswap()
        array.flags.writeable = False
    return array


def to_tensor_data(array: Array) -> TensorData:
    """Return ``array`` as a constant: row-major, little-endian."""
    dtype = dtype_of(array)
    content = np.ascontiguousarray(array)
    if sys.byteorder == "big" and dtype.itemsize > 1:
        content = content.byteswap()
    return TensorData(dtype, tuple(array.shape), content.tobytes())
