"""Conversions between element types that one instruction makes."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

from autofuse_codegen.targets.ascendc.call import Call
from autofuse_codegen.targets.ascendc.lines import Line
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.operands import Number


def cast(call: Call) -> list[Line]:
    """Write one conversion."""
    (x,) = call.operands
    if isinstance(x, Number):
        value = f"static_cast<{type_name(call.to.dtype)}>({x.text})"
        return [call.put(f"af_fill({call.to.text}, {value}, {call.count});")]
    source = dt.uint8 if x.dtype == dt.bool_ else x.dtype
    if (source, call.to.dtype) == (dt.int64, dt.int32):
        return [call.put(f"af_low_words({call.to.text}, {x.text}, {call.count});", x)]
    if source.is_integer and call.to.dtype.is_integer and source.bits == call.to.dtype.bits:
        return [call.put(f"af_copy({call.to.text}, {x.seen_as(call.to.dtype)}, {call.count});", x)]
    mode = f"RoundMode::CAST_{rounding(source, call.to.dtype)}"
    return [call.put(f"Cast({call.to.text}, {x.text}, {mode}, {call.count});", x)]


def rounding(source: DType, to: DType) -> str:
    """Return the rounding mode of a conversion: to nearest even, to integers towards zero; NONE where it is exact."""
    if source.is_float and to.is_integer:
        return "TRUNC"
    if source.is_float and to.is_float:
        return "NONE" if to.bits > source.bits else "RINT"
    if source.is_integer and to.is_float:
        is_exact = source.bits == 8 or (source == dt.int16 and to == dt.float32)
        return "NONE" if is_exact else "RINT"
    return "NONE"
