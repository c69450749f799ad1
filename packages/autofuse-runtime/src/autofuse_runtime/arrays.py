"""NumPy's names for element types, and arrays made from what callers give."""

from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from autofuse_ir.dtypes import TENSOR_DTYPES, DType, bfloat16
from autofuse_ir.tensor_data import TensorData

Array: TypeAlias = np.ndarray[Any, Any]

ALIGNMENT = 64
"""Bytes that constants are aligned to."""


@cache
def bfloat16_type() -> "np.dtype[Any] | None":
    """Return ml_dtypes' bfloat16, or None where ml_dtypes is not installed."""
    try:
        found: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ImportError:
        return None
    return found


@cache
def numpy_dtype(dtype: DType) -> "np.dtype[Any]":
    """Return the NumPy type of ``dtype``; bfloat16 is uint16 (its bits) where ml_dtypes is not installed."""
    if dtype == bfloat16:
        return bfloat16_type() or np.dtype(np.uint16)
    return np.dtype(dtype.numpy_name)


def bits_of(array: Array) -> Array:
    """Return ``array`` as a view the buffer protocol can export: bfloat16 as its bits."""
    return array.view(np.uint16) if array.dtype == bfloat16_type() else array


def dtype_code(dtype: DType) -> int:
    """Return the number of ``dtype`` in the extension; -1 for objects."""
    return -1 if dtype.is_opaque else TENSOR_DTYPES.index(dtype)


def constant_array(data: TensorData) -> Array:
    """Return a read-only, aligned array with the content of ``data``."""
    dtype = numpy_dtype(data.dtype)
    room = np.empty(len(data.raw) + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    aligned = room[start : start + len(data.raw)]
    aligned[:] = np.frombuffer(data.raw, np.uint8)
    array = aligned.view(dtype).reshape(data.shape) if data.raw else np.empty(data.shape, dtype)
    array.flags.writeable = False
    return array


def as_array(value: object) -> Array | None:
    """Return ``value`` as an array over the same memory (arrays, DLPack, buffer exporters); None for anything else.

    Tensors that record a gradient are None too. A torch tensor whose sign is put off (``torch.conj(x).imag``) becomes a
    read-only copy.
    """
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return None if records_gradient(value) else _from_dlpack(value)
    try:
        return np.asarray(memoryview(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def records_gradient(value: object) -> bool:
    """Answer whether ``value`` is a torch tensor whose uses are being recorded for a gradient."""
    return _requires_gradient(value) and bool(import_module("torch").is_grad_enabled())


def _requires_gradient(value: Any) -> bool:
    return getattr(value, "requires_grad", False) is True and hasattr(value, "detach")


def _has_sign_put_off(value: Any) -> bool:
    is_negated = getattr(value, "is_neg", None)
    return callable(is_negated) and is_negated() is True


def _from_dlpack(value: Any) -> Array | None:
    tensor = value.detach() if _requires_gradient(value) else value
    if _has_sign_put_off(tensor):
        copy = _from_dlpack(tensor.resolve_neg())
        if copy is not None:
            copy.flags.writeable = False
        return copy
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return _from_bfloat16(tensor)


def _from_bfloat16(value: Any) -> Array | None:
    """A torch tensor of bfloat16, which NumPy's DLPack does not read, through its 16-bit view."""
    wanted = bfloat16_type()
    if wanted is None or not str(getattr(value, "dtype", "")).endswith("bfloat16"):
        return None
    try:
        return np.from_dlpack(value.view(import_module("torch").int16)).view(wanted)
    except (AttributeError, BufferError, ImportError, RuntimeError, TypeError, ValueError):
        return None


def stand_in(value: object, writable: int) -> Array | None:
    """Return an array over ``value``'s memory that exports a buffer (the extension asks when ``value`` does not)."""
    array = as_array(value)
    if array is None or (writable and (not array.flags.writeable or isinstance(value, np.generic))):
        return None
    if array.dtype == bfloat16_type():
        return bits_of(array)
    return array if _requires_gradient(value) or _has_sign_put_off(value) else None
