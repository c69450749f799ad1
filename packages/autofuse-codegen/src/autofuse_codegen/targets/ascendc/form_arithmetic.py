"""Arithmetic and functions, of floats and of integers with 16 and 32 bits."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

from autofuse_codegen.targets.ascendc.call import SCRATCH, Call, constant_error, signed, tensors_of
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.operands import Number, Tensor

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

_SIGNED = {dt.uint16: dt.int16, dt.uint32: dt.int32}


def unary(call: Call) -> list[Line]:
    """Write a function of the basic API."""
    (x,) = tensors_of(call)
    return [call.put(f"{UNARY[call.node.op]}({call.to.text}, {x.text}, {signed(call.count)});", x)]


def neg(call: Call) -> list[Line]:
    """Write a product with -1."""
    (x,) = tensors_of(call)
    minus = literal(-1, call.node.dtype)
    return [call.put(f"Muls({call.to.text}, {x.text}, {minus}, {signed(call.count)});", x)]


def with_scratch(call: Call) -> list[Line]:
    """Write a function of the high-level API, which works in scratch."""
    (x,) = tensors_of(call)
    text = f"{call.node.op}({call.to.text}, {x.text}, {SCRATCH}, {call.count});"
    return [vector(text, {x.memory}, {call.to.memory, SCRATCH})]


def log10(call: Call) -> list[Line]:
    """Write a function of the high-level API without a place to work in."""
    (x,) = tensors_of(call)
    return [call.put(f"Log10({call.to.text}, {x.text}, {call.count});", x)]


def round_to_integer(call: Call) -> list[Line]:
    """Write a cast from float32 to itself, or the truncation of a short float."""
    (x,) = tensors_of(call)
    mode = f"RoundMode::CAST_{ROUNDINGS[call.node.op]}"
    if x.dtype.bits == 16:
        return [call.put(f"Truncate<{type_name(x.dtype)}, {mode}>({call.to.text}, {x.text}, {call.count});", x)]
    return [call.put(f"Cast({call.to.text}, {x.text}, {mode}, {call.count});", x)]


def binary(call: Call) -> list[Line]:
    """Write arithmetic on tensors and numbers."""
    a, b = call.operands
    name = BINARY[call.node.op]
    is_extreme = name in ("Max", "Min")
    view = call.to.dtype if is_extreme else _SIGNED.get(call.to.dtype, call.to.dtype)
    to = call.to.seen_as(view)
    count = signed(call.count)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        # Of two equal operands the instruction takes the second: that of the first is meant (0.0 and -0.0).
        first, second = (b, a) if is_extreme else (a, b)
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
    raise constant_error(call)


def _with_number(call: Call, to: str, x: Tensor, number: Number, view: DType, number_is_left: bool) -> Line:
    op = call.node.op
    value = number.seen_as(view)
    is_extreme = op in ("Minimum", "Maximum")
    has_form = not is_extreme or (not number.may_be_zero if view.is_float else view not in _SIGNED)
    if op in WITH_SCALAR and has_form:
        return call.put(f"{WITH_SCALAR[op]}({to}, {x.seen_as(view)}, {value}, {signed(call.count)});", x)
    if is_extreme:  # the sign of a zero is that of the first operand, which the instruction takes second
        function = f"af_{BINARY[op].lower()}_{'with' if number_is_left else 'of'}"
    else:
        function = "af_div_of" if number_is_left else "af_div_by"
    block = f"{SCRATCH}.ReinterpretCast<{type_name(view)}>()"
    text = f"{function}<{type_name(view)}>({to}, {x.seen_as(view)}, {value}, {call.count}, {block});"
    return vector(text, (), {call.to.memory}, settles=True)


def power(call: Call) -> list[Line]:
    """Write a float to the power of another."""
    a, b = call.operands
    kind = type_name(call.to.dtype)
    operands = ", ".join(o.text for o in (a, b))
    reads = {o.memory for o in (a, b) if isinstance(o, Tensor)}
    if not reads:
        raise constant_error(call)
    text = f"Power<{kind}, false>({call.to.text}, {operands}, {SCRATCH}, {call.count});"
    return [vector(text, reads, {call.to.memory, SCRATCH})]


def fmod(call: Call) -> list[Line]:
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
            raise constant_error(call)
        texts.append(f"{SCRATCH}.ReinterpretCast<{kind}>()")
        room = f"{SCRATCH}[{call.whole} * {call.to.dtype.itemsize}]"
        lines.append(vector(f"af_fill<{kind}>({texts[-1]}, {operand.text}, {call.count});", (), {SCRATCH}))
    reads = {o.memory for o in call.operands if isinstance(o, Tensor)} | ({SCRATCH} if lines else set())
    text = f"Fmod({call.to.text}, {', '.join(texts)}, {room}, {call.count});"
    return [*lines, vector(text, reads, {call.to.memory, SCRATCH})]
