"""Element types and constants as Ascend C text."""

import math

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.printers.floats import round_to_float32, shortest_float32

TYPES: dict[DType, str] = {
    dt.bool_: "uint8_t",
    dt.int8: "int8_t",
    dt.int16: "int16_t",
    dt.int32: "int32_t",
    dt.int64: "int64_t",
    dt.uint8: "uint8_t",
    dt.uint16: "uint16_t",
    dt.uint32: "uint32_t",
    dt.uint64: "uint64_t",
    dt.float16: "half",
    dt.bfloat16: "bfloat16_t",
    dt.float32: "float",
    dt.float64: "double",
}


def type_name(dtype: DType) -> str:
    """Return the C++ type of an element in memory; a bool is a byte."""
    if dtype not in TYPES:
        raise CodegenError(
            f"kernels cannot hold elements of type {dtype.name}", where="Ascend C", fix="keep it in a host region"
        )
    return TYPES[dtype]


def literal(value: bool | int | float, dtype: DType) -> str:
    """Return ``value``, a number of ``dtype``, as an expression of exactly its type.

    The scalar unit has no float64: floats are written as float32, in which every narrower number is exact.
    """
    name = type_name(dtype)
    if not dtype.is_float:
        number = int(value)
        text = f"{number}LL" if -(2**63) < number < 2**63 else f"{number}ULL"
        return f"static_cast<{name}>({'(-9223372036854775807LL - 1)' if number == -(2**63) else text})"
    real = round_to_float32(float(value))
    # Chips differ in the limits of short floats that they have.
    if math.isnan(real):
        text = "NumericLimits<float>::QuietNaN()"
    elif math.isinf(real):
        text = f"NumericLimits<float>::{'Negative' if real < 0 else ''}Infinity()"
    else:
        text = f"{shortest_float32(real)}f"
    return text if dtype == dt.float32 else f"static_cast<{name}>({text})"
