"""How each operator is written in Ascend C, after the schedule has expressed it in what the chip has."""

from collections.abc import Callable

from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.operands import Number, Operand, Tensor

SCRATCH = "scratch"

UNARY = {"Abs": "Abs", "Exp": "Exp", "Ln": "Ln", "Sqrt": "Sqrt"}
"""Functions of the basic API: (dst, src, count)."""

WITH_SCRATCH = frozenset(
    [
        "Erf",
        "Erfc",
        "Tanh",
        "Sigmoid",
        "Sin",
        "Cos",
        "Tan",
        "Asin",
        "Acos",
        "Atan",
        "Sinh",
        "Cosh",
        "Asinh",
        "Acosh",
        "Log2",
    ],
)
"""Functions of the high-level API: (dst, src, scratch, count)."""

BINARY = {"Add": "Add", "Sub": "Sub", "Mul": "Mul", "Div": "Div", "Minimum": "Min", "Maximum": "Max"}
WITH_SCALAR = {"Add": "Adds", "Mul": "Muls", "Minimum": "Mins", "Maximum": "Maxs"}
ROUNDINGS = {"Floor": "FLOOR", "Ceil": "CEIL", "Trunc": "TRUNC", "Round": "RINT"}
COMPARES = {"Eq": "EQ", "Ne": "NE", "Lt": "LT", "Le": "LE", "Gt": "GT", "Ge": "GE"}
MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
BITWISE = {"BitwiseAnd": "And", "BitwiseOr": "Or", "LogicalAnd": "And", "LogicalOr": "Or"}
READS_WHOLE_VECTORS = (*COMPARES, "LogicalAnd", "LogicalOr", "LogicalNot")

_SIGNED = {dt.uint16: dt.int16, dt.uint32: dt.int32}


@frozen
class Call:
    """One node to write: its result, its operands, and counts of elements as expressions.

    ``round_up`` gives ``count`` rounded up to whole vectors. ``as_bits``: truth values are a bit each, not a byte.
    """

    node: AscNode
    to: Tensor
    operands: tuple[Operand, ...]
    count: str
    round_up: Callable[[], str]
    as_bits: bool = False
    mask_is_bits: bool = False

    @property
    def whole(self) -> str:
        """The number of elements of all vectors that hold some of the value."""
        return self.round_up()

    def put(self, text: str, *operands: Operand, writes: str | None = None, extra: tuple[str, ...] = ()) -> Line:
        """Return a line that reads ``operands`` and writes the result."""
        reads = {o.memory for o in operands if isinstance(o, Tensor)} | set(extra)
        return vector(text, reads, {writes or self.to.memory})


def write(call: Call) -> list[Line]:
    """Return the lines that compute ``call``, without the barriers between them."""
    op = call.node.op
    for forms, writer in _WRITERS:
        if op in forms:
            return writer(call)
    raise CodegenError(
        f"the operator {op} has no form on Ascend for elements of type {call.node.dtype.name}",
        where=f"node {call.node.name}",
        fix="keep it out of the kernel",
    )


def _unary(call: Call) -> list[Line]:
    (x,) = _tensors(call)
    return [call.put(f"{UNARY[call.node.op]}({call.to.text}, {x.text}, {_signed(call.count)});", x)]


def _neg(call: Call) -> list[Line]:
    (x,) = _tensors(call)
    minus = literal(-1, call.node.dtype)
    return [call.put(f"Muls({call.to.text}, {x.text}, {minus}, {_signed(call.count)});", x)]


def _with_scratch(call: Call) -> list[Line]:
    (x,) = _tensors(call)
    text = f"{call.node.op}({call.to.text}, {x.text}, {SCRATCH}, {call.count});"
    return [vector(text, {x.memory}, {call.to.memory, SCRATCH})]


def _log10(call: Call) -> list[Line]:
    (x,) = _tensors(call)
    return [call.put(f"Log10({call.to.text}, {x.text}, {call.count});", x)]


def _rounding(call: Call) -> list[Line]:
    (x,) = _tensors(call)
    mode = f"RoundMode::CAST_{ROUNDINGS[call.node.op]}"
    return [call.put(f"Cast({call.to.text}, {x.text}, {mode}, {call.count});", x)]


def _binary(call: Call) -> list[Line]:
    a, b = call.operands
    view = _SIGNED.get(call.to.dtype, call.to.dtype)
    to = call.to.seen_as(view)
    name = BINARY[call.node.op]
    count = _signed(call.count)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        # Of two equal operands the instruction takes the second: that of the first is meant (0.0 and -0.0).
        first, second = (b, a) if name in ("Max", "Min") else (a, b)
        return [call.put(f"{name}({to}, {first.seen_as(view)}, {second.seen_as(view)}, {count});", a, b)]
    if isinstance(b, Number) and isinstance(a, Tensor):
        if name == "Sub":
            return [call.put(f"Adds({to}, {a.seen_as(view)}, {b.negated(view)}, {count});", a)]
        return [_with_number(call, to, a, b, view, number_is_left=False)]
    if isinstance(a, Number) and isinstance(b, Tensor):
        if name == "Sub":
            minus = literal(-1, view)
            return [
                call.put(f"Muls({to}, {b.seen_as(view)}, {minus}, {count});", b),
                call.put(f"Adds({to}, {to}, {a.seen_as(view)}, {count});", call.to),
            ]
        return [_with_number(call, to, b, a, view, number_is_left=True)]
    raise _constant(call)


def _with_number(call: Call, to: str, x: Tensor, number: Number, view: DType, number_is_left: bool) -> Line:
    op = call.node.op
    value = number.seen_as(view)
    is_extreme = op in ("Minimum", "Maximum")
    if op in WITH_SCALAR and not (is_extreme and view.is_float and number.may_be_zero):
        return call.put(f"{WITH_SCALAR[op]}({to}, {x.seen_as(view)}, {value}, {_signed(call.count)});", x)
    if is_extreme:  # the sign of a zero is that of the first operand, which the instruction takes second
        function = f"af_{BINARY[op].lower()}_{'with' if number_is_left else 'of'}"
    else:
        function = "af_div_of" if number_is_left else "af_div_by"
    block = f"{SCRATCH}.ReinterpretCast<{type_name(view)}>()"
    text = f"{function}<{type_name(view)}>({to}, {x.seen_as(view)}, {value}, {call.count}, {block});"
    return vector(text, (), {call.to.memory}, settles=True)


def _power(call: Call) -> list[Line]:
    a, b = call.operands
    kind = type_name(call.to.dtype)
    operands = ", ".join(o.text for o in (a, b))
    reads = {o.memory for o in (a, b) if isinstance(o, Tensor)}
    if not reads:
        raise _constant(call)
    text = f"Power<{kind}, false>({call.to.text}, {operands}, {SCRATCH}, {call.count});"
    return [vector(text, reads, {call.to.memory, SCRATCH})]


def _fmod(call: Call) -> list[Line]:
    """Two tensors alone; a number is spread over the beginning of scratch."""
    kind = type_name(call.to.dtype)
    texts: list[str] = []
    lines: list[Line] = []
    room = SCRATCH
    for operand in call.operands:
        if isinstance(operand, Tensor):
            texts.append(operand.text)
            continue
        if lines:
            raise _constant(call)
        texts.append(f"{SCRATCH}.ReinterpretCast<{kind}>()")
        room = f"{SCRATCH}[{call.whole} * {call.to.dtype.itemsize}]"
        lines.append(vector(f"af_fill<{kind}>({texts[-1]}, {operand.text}, {call.count});", (), {SCRATCH}))
    reads = {o.memory for o in call.operands if isinstance(o, Tensor)} | ({SCRATCH} if lines else set())
    text = f"Fmod({call.to.text}, {', '.join(texts)}, {room}, {call.count});"
    return [*lines, vector(text, reads, {call.to.memory, SCRATCH})]


def _compare(call: Call) -> list[Line]:
    a, b = call.operands
    mode = COMPARES[call.node.op]
    if isinstance(a, Number):
        a, b, mode = b, a, MIRRORED[mode]
    if not isinstance(a, Tensor):
        raise _constant(call)
    bits, memory = (call.to.text, call.to.memory) if call.as_bits else (_bits(call), SCRATCH)
    second = b.text
    function = "Compare" if isinstance(b, Tensor) else "Compares"
    text = f"{function}({bits}, {a.text}, {second}, CMPMODE::{mode}, {call.whole});"
    lines = [call.put(text, a, b, writes=memory)]
    if not call.as_bits:
        text = f"af_bytes_of_bits({call.to.text}, {bits}, {call.whole}, {_halves()});"
        lines.append(vector(text, (), {call.to.memory}, settles=True))
    return lines


def _select(call: Call) -> list[Line]:
    mask, a, b = call.operands
    view = dt.float16 if call.to.dtype.bits == 16 else dt.float32
    to = call.to.seen_as(view)
    if isinstance(mask, Number):
        return _choose(call, mask, a, b)
    lines: list[Line] = []
    is_swapped = isinstance(a, Number) and isinstance(b, Tensor) and not call.mask_is_bits
    if is_swapped:
        a, b = b, a
    bits, memory = (mask.text, mask.memory) if call.mask_is_bits else (_bits(call), SCRATCH)
    if not call.mask_is_bits:
        mode = "EQ" if is_swapped else "NE"
        text = f"af_bits_of_bytes({bits}, {mask.text}, CMPMODE::{mode}, {call.whole}, {_halves()});"
        lines.append(vector(text, {mask.memory}, {SCRATCH}, settles=True))
    source = a
    if isinstance(a, Number):
        # Only the second source can be a number: the first is spread where the result will be.
        lines.append(call.put(f"af_fill({call.to.text}, {a.text}, {call.count});"))
        source = call.to
    second = _number_bits(b, view) if isinstance(b, Number) else b.seen_as(view)
    selmode = "SCALAR" if isinstance(b, Number) else "TENSOR"
    text = f"Select({to}, {bits}, {source.seen_as(view)}, {second}, SELMODE::VSEL_TENSOR_{selmode}_MODE, {call.count});"
    lines.append(call.put(text, source, b, extra=(memory,)))
    return lines


def _number_bits(number: Number, view: DType) -> str:
    """A number as the float type that Select moves; integers keep their bits."""
    if number.dtype == view:
        return number.text
    return f"af_bits_as<{type_name(view)}>({number.text})"


def _choose(call: Call, mask: Number, a: Operand, b: Operand) -> list[Line]:
    """One truth value for all lanes: a copy of either."""
    lines: list[Line] = []
    reads = frozenset(source.memory for source in (a, b) if isinstance(source, Tensor))
    for word, source in ((f"if ({mask.text}) {{", a), ("} else {", b)):
        lines.append(Line(word, reads))  # what either branch reads must be there before both
        if isinstance(source, Number):
            text = f"af_fill({call.to.text}, {source.text}, {call.count});"
        else:
            text = f"af_copy({call.to.text}, {source.text}, {call.count});"
        line = call.put(text, source)
        lines.append(Line(line.text, writes=line.writes, depth=1))
    return [*lines, Line("}")]


def _bitwise(call: Call) -> list[Line]:
    """Sixteen bits at a time."""
    a, b = call.operands
    function = BITWISE[call.node.op]
    to = call.to.seen_as(dt.uint16)
    count = _words(call)
    if isinstance(a, Number):
        a, b = b, a
    if not isinstance(a, Tensor):
        raise _constant(call)
    if isinstance(b, Tensor):
        text = f"{function}({to}, {a.seen_as(dt.uint16)}, {b.seen_as(dt.uint16)}, {_signed(count)});"
        return [call.put(text, a, b)]
    name = type_name(b.dtype)
    text = f"af_{function.lower()}_with<{name}>({to}, {a.seen_as(dt.uint16)}, {b.text}, {count}, {SCRATCH});"
    return [vector(text, (), {call.to.memory}, settles=True)]


def _not(call: Call) -> list[Line]:
    (x,) = _tensors(call)
    if call.node.op == "LogicalNot" and not call.as_bits:
        return [vector(f"af_not_bytes({call.to.text}, {x.text}, {call.whole});", {x.memory}, {call.to.memory}, True)]
    text = f"Not({call.to.seen_as(dt.uint16)}, {x.seen_as(dt.uint16)}, {_signed(_words(call))});"
    return [call.put(text, x)]


def _shift(call: Call) -> list[Line]:
    x, amount = call.operands
    if not isinstance(x, Tensor) or not isinstance(amount, Number):
        raise _constant(call)
    function = "ShiftLeft" if call.node.op == "LeftShift" else "ShiftRight"
    return [call.put(f"{function}({call.to.text}, {x.text}, {amount.text}, {_signed(call.count)});", x)]


def _cast(call: Call) -> list[Line]:
    (x,) = call.operands
    if isinstance(x, Number):
        value = f"static_cast<{type_name(call.to.dtype)}>({x.text})"
        return [call.put(f"af_fill({call.to.text}, {value}, {call.count});")]
    source = dt.uint8 if x.dtype == dt.bool_ else x.dtype
    if (source, call.to.dtype) == (dt.int64, dt.int32):
        return [call.put(f"af_low_words({call.to.text}, {x.text}, {call.count});", x)]
    mode = f"RoundMode::CAST_{rounding(source, call.to.dtype)}"
    return [call.put(f"Cast({call.to.text}, {x.text}, {mode}, {call.count});", x)]


def rounding(source: DType, to: DType) -> str:
    """Return the rounding mode of a conversion: to nearest even, to integers towards zero; NONE where it is exact."""
    if source.is_float and to.is_integer:
        return "TRUNC"
    if source.is_float and to.is_float:
        return "RINT" if to.bits < source.bits else "NONE"
    if source.is_integer and to.is_float:
        is_exact = source.bits == 8 or (source == dt.int16 and to == dt.float32)
        return "NONE" if is_exact else "RINT"
    return "NONE"


def _tensors(call: Call) -> tuple[Tensor, ...]:
    found = tuple(o for o in call.operands if isinstance(o, Tensor))
    if len(found) != len(call.operands):
        raise _constant(call)
    return found


def _constant(call: Call) -> CodegenError:
    return CodegenError(
        f"{call.node.op} of constants has no form on Ascend",
        where=f"node {call.node.name}",
        fix="compute it when compiling, or broadcast the constant first",
    )


def _halves() -> str:
    return f"{SCRATCH}.ReinterpretCast<half>()"


def _bits(call: Call) -> str:
    """Where bits stand in scratch: behind 2 bytes an element."""
    return f"{SCRATCH}[2 * {call.whole}]"


def _signed(count: str) -> str:
    return f"static_cast<int32_t>({count})"


def _words(call: Call) -> str:
    """How many 16-bit words the result has."""
    if call.as_bits:
        return f"{call.whole} / 16"
    if call.to.dtype.bits == 8:
        return f"{call.whole} / 2"
    factor = call.to.dtype.bits // 16
    return call.count if factor == 1 else f"{factor} * {call.count}"


_WRITERS: tuple[tuple[frozenset[str], Callable[[Call], list[Line]]], ...] = (
    (frozenset(UNARY), _unary),
    (WITH_SCRATCH, _with_scratch),
    (frozenset({"Log10"}), _log10),
    (frozenset({"Neg"}), _neg),
    (frozenset(ROUNDINGS), _rounding),
    (frozenset(BINARY), _binary),
    (frozenset({"Pow"}), _power),
    (frozenset({"Fmod"}), _fmod),
    (frozenset(COMPARES), _compare),
    (frozenset({"Select"}), _select),
    (frozenset(BITWISE), _bitwise),
    (frozenset({"LogicalNot", "BitwiseNot"}), _not),
    (frozenset({"LeftShift", "RightShift"}), _shift),
    (frozenset({"Cast"}), _cast),
)
