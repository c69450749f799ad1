"""Tensor elements as text: shortest decimals that read back to the same bits, and back from text to bytes."""

import math
import struct
from collections.abc import Iterator

from autofuse_ir.dtypes import DType, DTypeKind, bfloat16, float16, float32
from autofuse_ir.tensor_data import TensorData


def element_texts(data: TensorData) -> Iterator[str]:
    """Yield the text of each element, row-major. NaNs show their bits, since there are many of them."""
    size = data.dtype.itemsize
    for start in range(0, len(data.raw), size):
        yield _text(data.dtype, data.raw[start : start + size])


def element_bytes(dtype: DType, text: str) -> bytes:
    """Return the bytes of the element that ``text`` describes; ``ValueError`` where it is none of ``dtype``.

    Decimals are rounded to nearest even; ``0x...`` gives the bits themselves.
    """
    if text.startswith("0x"):
        return int(text, 16).to_bytes(dtype.itemsize, "little")
    match dtype.kind:
        case DTypeKind.BOOL:
            return bytes([("false", "true").index(text)])
        case DTypeKind.SIGNED | DTypeKind.UNSIGNED:
            return int(text).to_bytes(dtype.itemsize, "little", signed=dtype.kind is DTypeKind.SIGNED)
        case DTypeKind.FLOAT:
            return _float_bytes(dtype, float(text))
        case DTypeKind.OPAQUE:
            raise ValueError("an opaque value has no elements")


def _text(dtype: DType, raw: bytes) -> str:
    match dtype.kind:
        case DTypeKind.BOOL:
            return ("false", "true")[raw[0]] if raw[0] in (0, 1) else f"0x{raw[0]:02x}"
        case DTypeKind.FLOAT:
            return _float_text(dtype, raw)
        case _:
            return str(int.from_bytes(raw, "little", signed=dtype.kind is DTypeKind.SIGNED))


def _float_text(dtype: DType, raw: bytes) -> str:
    number = _float_of(dtype, raw)
    if math.isnan(number):
        return f"0x{int.from_bytes(raw, 'little'):0{2 * len(raw)}x}"
    for digits in range(1, 17):
        text = f"{number:.{digits}g}"
        if _float_bytes(dtype, float(text)) == raw:
            return text
    return repr(number)


def _float_of(dtype: DType, raw: bytes) -> float:
    if dtype == bfloat16:
        return float(struct.unpack("<f", bytes(2) + raw)[0])
    return float(struct.unpack(_FORMATS.get(dtype, "<d"), raw)[0])


def _float_bytes(dtype: DType, number: float) -> bytes:
    if dtype == bfloat16:
        return _bfloat16_bytes(number)
    try:
        return struct.pack(_FORMATS.get(dtype, "<d"), number)
    except OverflowError:  # struct refuses to round to infinity
        return struct.pack(_FORMATS.get(dtype, "<d"), math.copysign(math.inf, number))


def _bfloat16_bytes(number: float) -> bytes:
    """Round a double to bfloat16 (8 bits of precision, to nearest even) in one step."""
    if not math.isfinite(number) or number == 0:
        return struct.pack("<f", number)[2:]
    exponent = max(math.frexp(number)[1] - 8, -133)
    rounded = math.ldexp(round(math.ldexp(number, -exponent)), exponent)
    if abs(rounded) >= 2.0**128:
        rounded = math.copysign(math.inf, number)
    return struct.pack("<f", rounded)[2:]


_FORMATS = {float16: "<e", float32: "<f"}
