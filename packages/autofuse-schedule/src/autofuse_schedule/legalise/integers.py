"""Operators on integers, by how wide they are.

Narrow ones are computed in 32 bits, of which the low ones are kept; what no instruction computes on 32 and 64 bits is
composed in pieces, or left to the scalar unit.
"""

from collections.abc import Callable

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType, DTypeKind

from autofuse_schedule.legalise.casts import cast
from autofuse_schedule.legalise.chips import COMPARES
from autofuse_schedule.legalise.composed import by_elements, by_pieces
from autofuse_schedule.legalise.writer import Writer

DIVISIONS = ("TruncDiv", "FloorDiv", "Mod", "Fmod")
SHIFTS = ("LeftShift", "RightShift")

Compute = Callable[[str, tuple[str, ...], DType], str | None]
"""Expresses an operator on operands of another type; the last argument is the type of the result."""


def on_integers(w: Writer, op: str, inputs: tuple[str, ...], compute: Compute) -> str | None:
    """Add integer operator ``op``, which the chip has not; ``compute`` expresses it on other types."""
    dtype = w.dtype(inputs[-1])
    if op == "BitwiseXor":
        both = w.emit("BitwiseNot", w.emit("BitwiseAnd", *inputs))
        return w.emit("BitwiseAnd", w.emit("BitwiseOr", *inputs), both)
    if op in SHIFTS:
        amount = w.value(inputs[1])
        if isinstance(amount, int):
            return _shift_by(w, op, inputs[0], amount, compute)
        if w.chip.shifts_by_tensors:
            return _shift_within(w, op, inputs)
    if op == "Abs":
        return _absolute(w, inputs[0], compute)
    if op == "Neg" and dtype != dt.int8:
        return compute("Sub", (w.scalar(0, dtype), inputs[0]), dtype)
    if op == "Sign":
        return _sign(w, inputs[0], compute)
    if dtype.bits == 8:
        return _on_bytes(w, op, inputs, compute)
    if dtype.bits == 16:
        between = dt.float32 if op in COMPARES and dtype == dt.int16 else dt.int32
        return _through(w, op, inputs, between, compute)
    if dtype.bits == 32:
        return _on_words(w, op, inputs, compute)
    return _on_wide(w, op, inputs)


def _through(w: Writer, op: str, inputs: tuple[str, ...], between: DType, compute: Compute) -> str | None:
    """Compute in ``between`` and keep the low bits."""
    dtype = w.dtype(inputs[-1])
    data = inputs[1:] if op == "Select" else inputs
    widened = [cast(w, value, between) for value in data]
    operands = (*inputs[: len(inputs) - len(data)], *(value for value in widened if value is not None))
    if len(operands) < len(inputs):
        return None
    found = compute(op, operands, dt.bool_ if op in COMPARES else between)
    return found if found is None or op in COMPARES else cast(w, found, dtype)


def _shift_by(w: Writer, op: str, value: str, amount: int, compute: Compute) -> str | None:
    dtype = w.dtype(value)
    if amount == 0:
        return value
    if not 0 < amount < dtype.bits:
        if op == "LeftShift" or dtype.kind is DTypeKind.UNSIGNED:
            return w.emit("BitwiseAnd", value, w.scalar(0, dtype))
        amount = dtype.bits - 1
    number = w.scalar(amount, dtype)
    if w.chip.computes(op, dtype):
        return w.emit(op, value, number)
    if dtype.bits == 64:
        return by_pieces(w, op, value, number, dtype=dtype)
    return _through(w, op, (value, number), dt.int32, compute)


def _absolute(w: Writer, value: str, compute: Compute) -> str | None:
    dtype = w.dtype(value)
    if dtype.kind is DTypeKind.UNSIGNED:
        return value
    if dtype == dt.int8:
        return _through(w, "Abs", (value,), dt.int16, compute)
    negative = compute("Neg", (value,), dtype)
    return None if negative is None else compute("Maximum", (value, negative), dtype)


def _sign(w: Writer, value: str, compute: Compute) -> str | None:
    dtype = w.dtype(value)
    one, lower = w.scalar(1, dtype), value
    if dtype.bits == 8:
        return _through(w, "Sign", (value,), dt.int16, compute)
    if dtype.kind is DTypeKind.SIGNED:
        found = compute("Maximum", (value, w.scalar(-1, dtype)), dtype)
        if found is None:
            return None
        lower = found
    return compute("Minimum", (lower, one), dtype)


def _on_bytes(w: Writer, op: str, inputs: tuple[str, ...], compute: Compute) -> str | None:
    """Exact in half where no result leaves them, else in 16 or 32 bits."""
    if op in (*COMPARES, "Minimum", "Maximum", "Select"):
        return _through(w, op, inputs, dt.float16, compute)
    between = dt.int16 if op in ("Add", "Sub", "Mul", "Neg") else dt.int32
    return _through(w, op, inputs, between, compute)


def _on_words(w: Writer, op: str, inputs: tuple[str, ...], compute: Compute) -> str | None:
    dtype = w.dtype(inputs[-1])
    if op in (*DIVISIONS, "Pow"):
        return by_pieces(w, op, *inputs, dtype=dtype)
    if op in SHIFTS:
        return by_pieces(w, op, *inputs, dtype=dtype)
    if op in COMPARES and dtype == dt.int32:
        return _compare_int32(w, op, *inputs)
    if dtype != dt.uint32:
        return None
    if op in ("Eq", "Ne"):
        return compute(op, tuple(_signed(w, value) for value in inputs), dt.bool_)
    # In order of numbers with a sign, once the first half of the range changes places with the second.
    lowest = w.scalar(-(2**31), dt.int32)
    moved = tuple(_moved(w, value, lowest) for value in inputs)
    if op in COMPARES:
        return compute(op, moved, dt.bool_)
    if op in ("Minimum", "Maximum"):
        found = compute(op, moved, dt.int32)
        return None if found is None else cast(w, w.emit("Add", found, lowest), dt.uint32)
    return None


def _signed(w: Writer, value: str) -> str:
    found = cast(w, value, dt.int32)
    assert found is not None
    return found


def _moved(w: Writer, value: str, lowest: str) -> str:
    known = w.value(value)
    if isinstance(known, int):
        return w.scalar(known - 2**31, dt.int32)
    return w.emit("Add", _signed(w, value), lowest)


def _compare_int32(w: Writer, op: str, a: str, b: str) -> str:
    """Only equality has an instruction: a <= b where the smaller of them is a."""

    def at_most(x: str, y: str) -> str:
        return w.emit("Eq", w.emit("Minimum", x, y), x, dtype=dt.bool_)

    match op:
        case "Le":
            return at_most(a, b)
        case "Ge":
            return at_most(b, a)
        case "Gt":
            return w.emit("LogicalNot", at_most(a, b))
        case "Lt":
            return w.emit("LogicalNot", at_most(b, a))
        case _:
            return w.emit("LogicalNot", w.emit("Eq", a, b, dtype=dt.bool_))


def _on_wide(w: Writer, op: str, inputs: tuple[str, ...]) -> str | None:
    dtype = w.dtype(inputs[-1])
    if op in ("Add", "Sub", "Mul", "Minimum", "Maximum", "Select"):
        return by_pieces(w, op, *inputs, dtype=dtype)
    if op in COMPARES:
        return by_pieces(w, op, *inputs, dtype=dt.bool_)
    if op in (*DIVISIONS, *SHIFTS, "Pow"):
        return by_elements(w, op, *inputs, dtype=dtype)
    return None


def _shift_within(w: Writer, op: str, inputs: tuple[str, ...]) -> str:
    """Shift by a tensor where instructions do; what they make of amounts beyond the width is not relied on."""
    value, amount = inputs
    dtype = w.dtype(value)
    inside = w.emit(
        "LogicalAnd",
        w.emit("Ge", amount, w.scalar(0, dtype), dtype=dt.bool_),
        w.emit("Lt", amount, w.scalar(dtype.bits, dtype), dtype=dt.bool_),
    )
    keeps_sign = op == "RightShift" and dtype.kind is DTypeKind.SIGNED
    most = w.scalar(dtype.bits - 1 if keeps_sign else 0, dtype)
    moved = w.emit(op, value, w.emit("Select", inside, amount, most, dtype=dtype))
    return moved if keeps_sign else w.emit("Select", inside, moved, w.scalar(0, dtype), dtype=dtype)
