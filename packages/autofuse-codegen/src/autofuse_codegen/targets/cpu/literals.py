"""Element types and constants as C++ text."""

import math
import struct

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.printers.floats import round_to_float32, shortest_float32

TYPES: dict[DType, str] = {
    dt.bool_: "bool",
    dt.int8: "af_i8",
    dt.int16: "af_i16",
    dt.int32: "af_i32",
    dt.int64: "af_i64",
    dt.uint8: "af_u8",
    dt.uint16: "af_u16",
    dt.uint32: "af_u32",
    dt.uint64: "af_u64",
    dt.float16: "af_f16",
    dt.bfloat16: "af_bf16",
    dt.float32: "float",
    dt.float64: "double",
}


def type_name(dtype: DType) -> str:
    """Return the C++ type of an element; ``CodegenError`` for types no kernel can hold."""
    if dtype not in TYPES:
        raise CodegenError(
            f"kernels cannot hold elements of type {dtype.name}", where="CPU emitter", fix="keep it in a host region"
        )
    return TYPES[dtype]


def literal(value: float | int | bool, dtype: DType) -> str:
    """Return ``value`` rounded to ``dtype`` as a C++ literal of exactly that type and bits; errors of `type_name`."""
    type_name(dtype)  # raises for what no kernel can hold
    if dtype == dt.bool_:
        return "true" if value else "false"
    if dtype.is_integer:
        return _integer(int(value), dtype)
    number = float(value)
    if dtype == dt.float16:
        return f"af_f16{{{_half_bits(number):#06x}}}"
    if dtype == dt.bfloat16:
        return f"af_bf16{{{bfloat16_bits(number):#06x}}}"
    suffix = "f" if dtype == dt.float32 else ""
    if math.isnan(number):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(number):
        return f"{'-' if number < 0 else ''}__builtin_inf{suffix}()"
    if dtype == dt.float32:
        number = round_to_float32(number)
        if math.isinf(number):
            return f"{'-' if number < 0 else ''}__builtin_inff()"
        return shortest_float32(number) + suffix
    text = repr(number)
    return text if "." in text or "e" in text else f"{text}.0"


def _integer(value: int, dtype: DType) -> str:
    wrapped = value & (2**dtype.bits - 1)
    if dtype.kind is dt.DTypeKind.SIGNED and wrapped >= 2 ** (dtype.bits - 1):
        wrapped -= 2**dtype.bits
    name = TYPES[dtype]
    if wrapped == -(2**63):
        return "(-9223372036854775807LL - 1)"
    if dtype.kind is dt.DTypeKind.SIGNED:
        return f"{name}({wrapped}LL)"
    return f"{name}({wrapped}ULL)"


def _half_bits(value: float) -> int:
    try:
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    except OverflowError:
        return 0xFC00 if value < 0 else 0x7C00


def bfloat16_bits(value: float) -> int:
    """Return the bits of ``value`` rounded once, to nearest even, to bfloat16."""
    if math.isnan(value):
        return 0x7FC0
    wide = int(struct.unpack("<Q", struct.pack("<d", value))[0])
    sign, exponent = wide >> 63, (wide >> 52) & 0x7FF
    if exponent == 0x7FF:
        return sign << 15 | 0x7F80
    scale = max(exponent - 1023, -126) - 7  # weight of the last kept bit
    magnitude = abs(value)
    units = magnitude / 2.0**scale
    rounded = int(units)
    rest = units - rounded
    if rest > 0.5 or (rest == 0.5 and rounded % 2 == 1):
        rounded += 1
    return sign << 15 | _bfloat16_of(rounded, scale)


def _bfloat16_of(units: int, scale: int) -> int:
    """Return the bits of ``units * 2**scale`` where units has at most 9 bits and scale is at least -133."""
    if units == 0:
        return 0
    if units >= 256:
        units, scale = units // 2, scale + 1
    if units < 128:
        return units  # subnormal: scale is -133
    exponent = scale + 7 + 127
    if exponent >= 255:
        return 0x7F80
    return exponent << 7 | (units - 128)
