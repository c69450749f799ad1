"""Casts as chains of the pairs that the chip converts itself."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType, DTypeKind

from autofuse_schedule.legalise.writer import Writer, convert

NATIVE: frozenset[tuple[DType, DType]] = frozenset(
    {
        (dt.uint8, dt.float16),
        (dt.int8, dt.float16),
        (dt.int16, dt.float16),
        (dt.int16, dt.float32),
        (dt.float16, dt.int8),
        (dt.float16, dt.uint8),
        (dt.float16, dt.int16),
        (dt.float16, dt.int32),
        (dt.float16, dt.float32),
        (dt.bfloat16, dt.float32),
        (dt.bfloat16, dt.int32),
        (dt.int32, dt.int16),
        (dt.int32, dt.float32),
        (dt.int32, dt.int64),
        (dt.float32, dt.float16),
        (dt.float32, dt.bfloat16),
        (dt.float32, dt.int16),
        (dt.float32, dt.int32),
        (dt.float32, dt.int64),
        (dt.int64, dt.int32),
        (dt.int64, dt.float32),
    }
)
"""Pairs of one Cast instruction, on all chips. Floats become integers towards zero and saturate."""

_VIA: dict[tuple[DType, DType], DType] = {
    **{(small, to): dt.float16 for small in (dt.int8, dt.uint8) for to in (dt.float32, dt.int32, dt.int16)},
    **{(small, dt.bfloat16): dt.float32 for small in (dt.int8, dt.uint8, dt.int16, dt.float16)},
    **{(small, dt.int64): dt.int32 for small in (dt.int8, dt.uint8, dt.int16)},
    (dt.int32, dt.float16): dt.float32,  # what float32 rounds is beyond half's largest number
    (dt.int64, dt.float16): dt.float32,
    (dt.bfloat16, dt.float16): dt.float32,
    (dt.int16, dt.int32): dt.float32,
    (dt.bfloat16, dt.int16): dt.float32,
    (dt.bfloat16, dt.int64): dt.float32,
    (dt.bfloat16, dt.int8): dt.float32,
    (dt.bfloat16, dt.uint8): dt.float32,
    (dt.float16, dt.int64): dt.float32,
    (dt.float32, dt.int8): dt.int16,  # saturates twice; half would round up to the next integer
    (dt.float32, dt.uint8): dt.int16,
}
"""The type to go through, without another result."""

_INTEGERS = (dt.int8, dt.uint8, dt.int16, dt.int32, dt.int64)


def cast(writer: Writer, value: str, to: DType) -> str | None:
    """Add the conversion of ``value`` to ``to``; None where the chip has none."""
    source = writer.dtype(value)
    constant = writer.value(value)
    if isinstance(constant, (bool, int, float)):
        return writer.scalar(convert(constant, to), to)
    if writer.node(value).op == "IndexExpr":
        return writer.emit("Cast", value, dtype=to)
    if source == to:
        return value
    if to == dt.bool_:
        return _to_bool(writer, value)
    if source == dt.bool_:
        source = dt.uint8  # a byte of 0 or 1
        if to == dt.uint8:
            return writer.emit("Cast", writer.emit("Cast", value, dtype=dt.float16), dtype=dt.uint8)
    if source.is_integer and to.is_integer and to.bits <= source.bits and source != to:
        return _wrapped(writer, value, source, to)
    if (source, to) in NATIVE:
        return writer.emit("Cast", value, dtype=to)
    between = _VIA.get((source, to))
    if between is None:
        return None
    first = cast(writer, value, between)
    if first is None:
        return None
    if between == dt.int16 and to.bits == 8:  # saturated, not wrapped
        return writer.emit("Cast", writer.emit("Cast", first, dtype=dt.float16), dtype=to)
    return cast(writer, first, to)


def _to_bool(writer: Writer, value: str) -> str | None:
    source = writer.dtype(value)
    if source == dt.int32:
        zero = writer.emit("Eq", value, writer.scalar(0, dt.int32), dtype=dt.bool_)
        return writer.emit("LogicalNot", zero)
    if source in (dt.float16, dt.float32):
        return writer.emit("Ne", value, writer.scalar(0.0, source), dtype=dt.bool_)
    wide = cast(writer, value, dt.float16 if source.bits == 8 else dt.float32)
    return None if wide is None else _to_bool(writer, wide)


def _wrapped(writer: Writer, value: str, source: DType, to: DType) -> str | None:
    """An integer of the low bits of a wider one, or of one of the other sign."""
    if source not in _INTEGERS or to not in _INTEGERS:
        return None
    if source == dt.int64:
        low = writer.emit("Cast", value, dtype=dt.int32)
        return cast(writer, low, to)
    if source.bits == 8:
        wide = cast(writer, value, dt.int16)
        return None if wide is None else cast(writer, wide, to)
    low = low_bits(writer, value, to)
    if source == dt.int32:
        low = writer.emit("Cast", low, dtype=dt.int16)
    if to.bits == 8:
        low = writer.emit("Cast", writer.emit("Cast", low, dtype=dt.float16), dtype=to)
    return low


def low_bits(writer: Writer, value: str, to: DType) -> str:
    """Return 16- or 32-bit integer ``value`` with its low bits read as ``to``: in the range of ``to``."""
    source = writer.dtype(value)
    if to.kind is DTypeKind.UNSIGNED:
        return writer.emit("BitwiseAnd", value, writer.scalar(2**to.bits - 1, source))
    amount = writer.scalar(source.bits - to.bits, source)
    return writer.emit("RightShift", writer.emit("LeftShift", value, amount), amount)
