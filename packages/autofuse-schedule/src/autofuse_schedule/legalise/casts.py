"""Casts as chains of the pairs that the chip converts itself."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType, DTypeKind

from autofuse_schedule.legalise.chips import SAME_BITS
from autofuse_schedule.legalise.composed import by_elements, by_pieces
from autofuse_schedule.legalise.writer import Writer, convert

_VIA: dict[tuple[DType, DType], DType] = {
    **{(small, to): dt.float16 for small in (dt.int8, dt.uint8) for to in (dt.float32, dt.int32, dt.int16)},
    **{(small, dt.bfloat16): dt.float32 for small in (dt.int8, dt.uint8, dt.int16, dt.uint16, dt.float16)},
    **{(dt.uint16, real): dt.int32 for real in (dt.float16, dt.float32)},
    (dt.int32, dt.float16): dt.float32,  # what float32 rounds is beyond half's largest number
    **{(wide, dt.float16): dt.float32 for wide in (dt.uint32, dt.int64, dt.uint64)},
    (dt.bfloat16, dt.float16): dt.float32,
    (dt.int16, dt.int32): dt.float32,
    **{(dt.bfloat16, to): dt.float32 for to in (dt.int8, dt.uint8, dt.int16, dt.int64)},
    (dt.float16, dt.int64): dt.float32,
    (dt.float32, dt.int8): dt.int16,  # saturates twice; half would round up to the next integer
    (dt.float32, dt.uint8): dt.int16,
    **{(small, to): dt.float32 for small in (dt.float16, dt.bfloat16) for to in (dt.uint16, dt.uint32, dt.uint64)},
}
"""The type to go through, without another result."""

SIGNED = {8: dt.int8, 16: dt.int16, 32: dt.int32, 64: dt.int64}


def cast(writer: Writer, value: str, to: DType) -> str | None:
    """Add the conversion of ``value`` to ``to``; None where the chip has none."""
    source = writer.dtype(value)
    constant = writer.value(value)
    if isinstance(constant, (bool, int, float)):
        return writer.scalar(convert(constant, to), to)
    if dt.float64 in (source, to):
        return None
    if source == to:
        return value
    if writer.node(value).op == "IndexExpr":
        return writer.expression(value, to) if to.is_integer else writer.emit("Cast", value, dtype=to)
    if to == dt.bool_:
        return _to_bool(writer, value)
    if source == dt.bool_:
        source = dt.uint8  # a byte of 0 or 1
        if to == dt.uint8:
            return writer.emit("Cast", writer.emit("Cast", value, dtype=dt.float16), dtype=dt.uint8)
    if source.is_integer and to.is_integer:
        return _wrapped(writer, value, source, to) if to.bits <= source.bits else _widened(writer, value, source, to)
    if writer.chip.converts(source, to):
        return writer.emit("Cast", value, dtype=to)
    between = _VIA.get((source, to))
    if between is None:
        return _composed(writer, value, source, to)
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
    if source.kind is DTypeKind.UNSIGNED and source.bits > 8:
        value = writer.emit("Cast", value, dtype=SIGNED[source.bits])
        source = writer.dtype(value)
    wide = cast(writer, value, dt.float16 if source.bits == 8 else dt.int32 if source.bits == 32 else dt.float32)
    return None if wide is None else _to_bool(writer, wide)


def _widened(writer: Writer, value: str, source: DType, to: DType) -> str | None:
    """A longer integer, width by width; without a sign it has the bits of one with a sign."""
    if (source, to) in writer.chip.casts:
        return writer.emit("Cast", value, dtype=to)
    if to.kind is DTypeKind.UNSIGNED:
        if (source, to) == (dt.uint32, dt.uint64):
            return by_pieces(writer, "Cast", value, dtype=to)
        signed = cast(writer, value, SIGNED[to.bits])
        return None if signed is None else writer.emit("Cast", signed, dtype=to)
    if to.bits == 64:
        if source == dt.uint32:
            return by_pieces(writer, "Cast", value, dtype=to)
        word = value if source == dt.int32 else cast(writer, value, dt.int32)
        return None if word is None else writer.emit("Cast", word, dtype=to)
    if source == dt.uint16:
        word = cast(writer, writer.emit("Cast", value, dtype=dt.int16), dt.int32)
        return None if word is None else writer.emit("BitwiseAnd", word, writer.scalar(0xFFFF, dt.int32))
    between = _VIA[source, to]
    first = writer.emit("Cast", value, dtype=between)
    return writer.emit("Cast", first, dtype=to)


def _wrapped(writer: Writer, value: str, source: DType, to: DType) -> str | None:
    """An integer of the low bits of a wider one, or of one of the other sign."""
    if (source, to) in SAME_BITS:
        return writer.emit("Cast", value, dtype=to)
    if source.bits == 8:
        wide = cast(writer, value, dt.int16)
        return None if wide is None else cast(writer, wide, to)
    if source.kind is DTypeKind.UNSIGNED:
        return cast(writer, writer.emit("Cast", value, dtype=SIGNED[source.bits]), to)
    if source == dt.int64:
        return cast(writer, writer.emit("Cast", value, dtype=dt.int32), to)
    if to == dt.uint16:
        narrow = cast(writer, value, dt.int16)
        return None if narrow is None else writer.emit("Cast", narrow, dtype=to)
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


def _composed(writer: Writer, value: str, source: DType, to: DType) -> str | None:
    """Conversions that arithmetic makes."""
    match source, to:
        case (dt.uint32, dt.float32):
            return _float_of_uint32(writer, value)
        case (dt.uint64, dt.float32):
            return _float_of_uint64(writer, value)
        case ((dt.int32 | dt.uint32), dt.bfloat16):
            return _bfloat_of_words(writer, value)
        case ((dt.int64 | dt.uint64), dt.bfloat16):
            odd = by_elements(writer, "Cast", value, dtype=dt.float32)
            return writer.emit("Cast", odd, dtype=dt.bfloat16)
        case (dt.float32, dt.uint16):
            word = writer.emit("Cast", value, dtype=dt.int32)
            inside = writer.emit("Maximum", word, writer.scalar(0, dt.int32))
            return cast(writer, writer.emit("Minimum", inside, writer.scalar(0xFFFF, dt.int32)), to)
        case (dt.float32, (dt.uint32 | dt.uint64)):
            return _unsigned_of_float(writer, value, to)
    return None


def _float_of_uint32(writer: Writer, value: str) -> str:
    """Both halves are exact, their sum is rounded once."""
    word = writer.emit("Cast", value, dtype=dt.int32)
    low = writer.emit("BitwiseAnd", word, writer.scalar(0xFFFF, dt.int32))
    upper = writer.emit("Cast", writer.emit("RightShift", value, writer.scalar(16, dt.uint32)), dtype=dt.int32)
    scaled = writer.emit("Mul", writer.emit("Cast", upper, dtype=dt.float32), writer.scalar(65536.0, dt.float32))
    return writer.emit("Add", scaled, writer.emit("Cast", low, dtype=dt.float32))


def _float_of_uint64(writer: Writer, value: str) -> str | None:
    """Half of what has the top bit, its last bit set where one is lost, is rounded as the whole, and doubled."""
    halved = cast(writer, _wide(writer, "RightShift", value, writer.scalar(1, dt.uint64)), dt.int64)
    signed = writer.emit("Cast", value, dtype=dt.int64)
    if halved is None:
        return None
    last = writer.emit("BitwiseAnd", signed, writer.scalar(1, dt.int64))
    is_large = _wide(writer, "Lt", signed, writer.scalar(0, dt.int64), dtype=dt.bool_)
    taken = _wide(writer, "Select", is_large, writer.emit("BitwiseOr", halved, last), signed, dtype=dt.int64)
    real = writer.emit("Cast", taken, dtype=dt.float32)
    return writer.emit("Select", is_large, writer.emit("Add", real, real), real, dtype=dt.float32)


def _wide(writer: Writer, op: str, *inputs: str, dtype: DType | None = None) -> str:
    """``op`` on 64 bits: by an instruction where there is one."""
    operand = writer.dtype(inputs[-1])
    if writer.chip.computes(op, operand):
        return writer.emit(op, *inputs, dtype=dtype)
    return by_pieces(writer, op, *inputs, dtype=dtype or operand)


def _bfloat_of_words(writer: Writer, value: str) -> str | None:
    """Beyond 2^24, where float32 would round, only whether the low 9 bits are 0 matters: one bit for all of them."""
    source = writer.dtype(value)
    word = value if source == dt.int32 else writer.emit("Cast", value, dtype=dt.int32)
    if source == dt.uint32:
        top = writer.emit("RightShift", value, writer.scalar(24, dt.uint32))
        size = writer.emit("Cast", top, dtype=dt.int32)
    else:
        size = writer.emit("Maximum", word, writer.emit("Neg", word))
        shifted = writer.emit("RightShift", writer.emit("Cast", size, dtype=dt.uint32), writer.scalar(24, dt.uint32))
        size = writer.emit("Cast", shifted, dtype=dt.int32)
    low = writer.emit("BitwiseAnd", word, writer.scalar(0x1FF, dt.int32))
    one = writer.emit("LeftShift", writer.emit("Minimum", low, writer.scalar(1, dt.int32)), writer.scalar(8, dt.int32))
    short = writer.emit("Add", writer.emit("Sub", word, low), one)
    is_small = writer.emit("Eq", size, writer.scalar(0, dt.int32), dtype=dt.bool_)
    taken = writer.emit("Select", is_small, word, short, dtype=dt.int32)
    back = taken if source == dt.int32 else writer.emit("Cast", taken, dtype=dt.uint32)
    real = cast(writer, back, dt.float32)
    return None if real is None else writer.emit("Cast", real, dtype=dt.bfloat16)


def _unsigned_of_float(writer: Writer, value: str, to: DType) -> str | None:
    """What lies beyond the numbers with a sign is converted without their top bit."""
    signed = SIGNED[to.bits]
    half = writer.scalar(2.0 ** (to.bits - 1), dt.float32)
    is_large = writer.emit("Ge", value, half, dtype=dt.bool_)
    positive = writer.emit("Maximum", value, writer.scalar(0.0, dt.float32))
    inside = writer.emit("Select", is_large, writer.emit("Sub", value, half), positive, dtype=dt.float32)
    whole = writer.emit("Cast", inside, dtype=signed)
    top = writer.scalar(-(2 ** (to.bits - 1)), signed)
    if signed == dt.int64:
        raised = _wide(writer, "Add", whole, top)
        found = _wide(writer, "Select", is_large, raised, whole, dtype=signed)
    else:
        found = writer.emit("Select", is_large, writer.emit("Add", whole, top), whole, dtype=signed)
    return writer.emit("Cast", found, dtype=to)
