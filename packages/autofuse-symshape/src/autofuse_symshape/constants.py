"""Elements of constant tensors as contents. Read without NumPy: shape arithmetic is small."""

import math
import struct

from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN
from autofuse_ir.tensor_data import TensorData

from autofuse_symshape.known import Content, Element, Real

_FORMATS = {
    dt.bool_: "?",
    dt.int8: "b",
    dt.int16: "h",
    dt.int32: "i",
    dt.int64: "q",
    dt.uint8: "B",
    dt.uint16: "H",
    dt.uint32: "I",
    dt.uint64: "Q",
    dt.float16: "e",
    dt.float32: "f",
    dt.float64: "d",
}
_MAX_DENOMINATOR = 2**40
"""Finest fraction that is followed: finer ones leave int64 when multiplied by a size."""


def decoded(data: TensorData) -> Content | None:
    """Return the elements of ``data``; None for opaque types."""
    if data.dtype == dt.bfloat16:
        halves = struct.unpack(f"<{data.element_count}H", data.raw)
        return tuple([real(struct.unpack("<f", struct.pack("<I", half << 16))[0]) for half in halves])
    code = _FORMATS.get(data.dtype)
    if code is None:
        return None
    numbers = struct.unpack(f"<{data.element_count}{code}", data.raw)
    return tuple([real(n) if data.dtype.is_float else _integer(n) for n in numbers])


def _integer(number: int) -> Element | None:
    return const(number) if INT64_MIN <= number <= INT64_MAX else None


def real(number: float) -> Real | None:
    """``number`` as a ratio; None where it is not finite, too fine or too large."""
    if not math.isfinite(number):
        return None
    numerator, denominator = number.as_integer_ratio()
    if denominator > _MAX_DENOMINATOR or not INT64_MIN <= numerator <= INT64_MAX:
        return None
    return Real(const(numerator), denominator)
