"""Integer operators that are composed of several instructions in pieces, or computed one element after the other."""

from autofuse_ir import dtypes as dt

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.call import SCRATCH, Call, tensors_of
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.operands import Number, Tensor

WIDE = {"Add": "add", "Sub": "sub", "Mul": "mul", "Minimum": "min", "Maximum": "max"}
DIVISIONS = {"TruncDiv": "trunc_div", "FloorDiv": "floor_div", "Fmod": "trunc_mod", "Mod": "floor_mod"}
SHIFTS = {"LeftShift": "left", "RightShift": "right"}
RAISED = "raised"
"""The variable that collects status bits of a case."""


def is_composed(call: Call) -> bool:
    """True where the schedule says that no instruction computes it."""
    return call.node.attr("composed") is not None


def composed(call: Call) -> list[Line]:
    """Write what is composed, but for comparisons and selection."""
    node = call.node
    if node.attr("composed") == "elements":
        return [vector(_elements(call), (), (), settles=True)]
    kind, operands = type_name(call.to.dtype), ", ".join(o.text for o in call.operands)
    to, count = call.to.text, call.count
    match node.op:
        case "Cast":
            text = f"af_wide_of_words<{kind}>({to}, {operands}, {count});"
        case "LeftShift" | "RightShift" if call.to.dtype.bits == 64:
            text = _wide_shift(call)
        case "LeftShift" | "RightShift":
            is_left = "true" if node.op == "LeftShift" else "false"
            text = f"af_shift<{is_left}, {kind}>({to}, {operands}, {count}, {SCRATCH});"
        case "Pow":
            text = f"af_power<{kind}>({to}, {operands}, {count}, {call.live}, {SCRATCH}, {RAISED});"
        case op if op in WIDE:
            text = f"af_wide_{WIDE[op]}<{kind}>({to}, {operands}, {count}, {SCRATCH});"
        case op if op in DIVISIONS:
            division = f"af_division::{DIVISIONS[op]}"
            text = f"af_divide<{division}, {kind}>({to}, {operands}, {count}, {call.live}, {SCRATCH}, {RAISED});"
        case op:
            raise CodegenError(f"no pieces make {op}", where=f"node {node.name}", fix="report this")
    return [vector(text, (), {call.to.memory, SCRATCH}, settles=True)]


def _wide_shift(call: Call) -> str:
    value, amount = call.operands
    assert isinstance(value, Tensor)
    assert isinstance(amount, Number)
    by = f"{int(amount.value or 0)}U"
    kind = type_name(call.to.dtype)
    return f"af_wide_{SHIFTS[call.node.op]}<{kind}>({call.to.text}, {value.text}, {by}, {call.count}, {SCRATCH});"


def _elements(call: Call) -> str:
    node, kind = call.node, type_name(call.to.dtype)
    operands = ", ".join(o.text for o in call.operands)
    to, count = call.to.text, call.count
    match node.op:
        case "Cast":
            (x,) = tensors_of(call)
            assert call.to.dtype == dt.float32
            return f"af_odd_float<{type_name(x.dtype)}>({to}, {x.text}, {count});"
        case "LeftShift" | "RightShift":
            is_left = "true" if node.op == "LeftShift" else "false"
            return f"af_shift_each<{is_left}, {kind}>({to}, {operands}, {count});"
        case "Pow":
            return f"af_power_each<{kind}>({to}, {operands}, {count}, {call.live}, {RAISED});"
        case op if op in DIVISIONS:
            return (
                f"af_divide_each<af_division::{DIVISIONS[op]}, {kind}>"
                f"({to}, {operands}, {count}, {call.live}, {RAISED});"
            )
        case op:
            raise CodegenError(f"the scalar unit has no form of {op}", where=f"node {node.name}", fix="report this")


def wide_compare(call: Call, bits: str, mode: str, room: str) -> Line:
    """Return the line that compares 64-bit operands to ``bits``; ``room`` is scratch beside them."""
    a, b = call.operands
    kind = type_name(a.dtype)
    text = f"af_wide_compare<CMPMODE::{mode}, {kind}>({bits}, {a.text}, {b.text}, {call.whole}, {room});"
    return vector(text, (), {call.to.memory if call.as_bits else SCRATCH, SCRATCH}, settles=True)


def wide_select(call: Call, bits: str, room: str) -> Line:
    """Return the line that selects 64-bit operands by ``bits``."""
    _, a, b = call.operands
    kind = type_name(call.to.dtype)
    text = f"af_wide_select<{kind}>({call.to.text}, {bits}, {a.text}, {b.text}, {call.count}, {room});"
    return vector(text, (), {call.to.memory, SCRATCH}, settles=True)
