"""Bitwise operators, logic of truth values, and shifts: words of 16 bits at a time."""

from autofuse_ir import dtypes as dt

from autofuse_codegen.targets.ascendc.call import SCRATCH, Call, constant_error, signed, tensors_of, words_of
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.operands import Number, Tensor

SIGNED = {8: dt.int8, 16: dt.int16, 32: dt.int32, 64: dt.int64}
BITWISE = {"BitwiseAnd": "And", "BitwiseOr": "Or", "LogicalAnd": "And", "LogicalOr": "Or"}


def bitwise(call: Call) -> list[Line]:
    """Sixteen bits at a time."""
    a, b = call.operands
    function = BITWISE[call.node.op]
    to = call.to.seen_as(dt.uint16)
    count = words_of(call)
    if isinstance(a, Number):
        a, b = b, a
    if not isinstance(a, Tensor):
        raise constant_error(call)
    if isinstance(b, Tensor):
        text = f"{function}({to}, {a.seen_as(dt.uint16)}, {b.seen_as(dt.uint16)}, {signed(count)});"
        return [call.put(text, a, b)]
    name = type_name(b.dtype)
    text = f"af_{function.lower()}_with<{name}>({to}, {a.seen_as(dt.uint16)}, {b.text}, {count}, {SCRATCH});"
    return [vector(text, (), {call.to.memory}, settles=True)]


def not_(call: Call) -> list[Line]:
    """Write the complement of bits or truth values."""
    (x,) = tensors_of(call)
    if call.node.op == "LogicalNot" and not call.as_bits:
        return [vector(f"af_not_bytes({call.to.text}, {x.text}, {call.whole});", {x.memory}, {call.to.memory}, True)]
    text = f"Not({call.to.seen_as(dt.uint16)}, {x.seen_as(dt.uint16)}, {signed(words_of(call))});"
    return [call.put(text, x)]


def shift(call: Call) -> list[Line]:
    """Write a shift by a number, or by a tensor, whose elements count as integers with a sign."""
    x, amount = call.operands
    function = "ShiftLeft" if call.node.op == "LeftShift" else "ShiftRight"
    if isinstance(amount, Number):
        if not isinstance(x, Tensor):
            raise constant_error(call)
        return [call.put(f"{function}({call.to.text}, {x.text}, {amount.text}, {signed(call.count)});", x)]
    lines: list[Line] = []
    if isinstance(x, Number):
        lines.append(call.put(f"af_fill({call.to.text}, {x.text}, {call.count});"))
        x = call.to
    by = amount.seen_as(SIGNED[amount.dtype.bits])
    return [*lines, call.put(f"{function}({call.to.text}, {x.text}, {by}, {signed(call.count)});", x, amount)]
