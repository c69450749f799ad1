"""Comparisons, selection and logic: truth values as bits and as bytes."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

from autofuse_codegen.targets.ascendc.call import SCRATCH, Call, behind_bits, bits_in_scratch, constant_error, halves
from autofuse_codegen.targets.ascendc.form_integers import is_composed, wide_compare, wide_select
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.operands import Number, Operand, Tensor

COMPARES = {"Eq": "EQ", "Ne": "NE", "Lt": "LT", "Le": "LE", "Gt": "GT", "Ge": "GE"}
MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
READS_WHOLE_VECTORS = (*COMPARES, "LogicalAnd", "LogicalOr", "LogicalNot")


def compare(call: Call) -> list[Line]:
    """Write a comparison, which makes bits; bytes where those are asked for."""
    a, b = call.operands
    mode = COMPARES[call.node.op]
    bits, memory = (call.to.text, call.to.memory) if call.as_bits else (bits_in_scratch(call), SCRATCH)
    if is_composed(call):
        lines = [wide_compare(call, bits, mode, SCRATCH if call.as_bits else behind_bits(call))]
    else:
        if isinstance(a, Number):
            a, b, mode = b, a, MIRRORED[mode]
        if not isinstance(a, Tensor):
            raise constant_error(call)
        function = "Compare" if isinstance(b, Tensor) else "Compares"
        text = f"{function}({bits}, {a.text}, {b.text}, CMPMODE::{mode}, {call.whole});"
        lines = [call.put(text, a, b, writes=memory)]
    if not call.as_bits:
        text = f"af_bytes_of_bits({call.to.text}, {bits}, {call.whole}, {halves()});"
        lines.append(vector(text, (), {call.to.memory}, settles=True))
    return lines


def select(call: Call) -> list[Line]:
    """Write a choice between two operands by bits."""
    mask, a, b = call.operands
    view = {16: dt.float16, 32: dt.float32}.get(call.to.dtype.bits, call.to.dtype)
    to = call.to.seen_as(view)
    if isinstance(mask, Number):
        return _choose(call, mask, a, b)
    lines: list[Line] = []
    is_swapped = isinstance(a, Number) and isinstance(b, Tensor) and not call.mask_is_bits and not is_composed(call)
    if is_swapped:
        a, b = b, a
    bits, memory = (mask.text, mask.memory) if call.mask_is_bits else (bits_in_scratch(call), SCRATCH)
    if not call.mask_is_bits:
        mode = "EQ" if is_swapped else "NE"
        text = f"af_bits_of_bytes({bits}, {mask.text}, CMPMODE::{mode}, {call.whole}, {halves()});"
        lines.append(vector(text, {mask.memory}, {SCRATCH}, settles=True))
    if is_composed(call):
        return [*lines, wide_select(call, bits, SCRATCH if call.mask_is_bits else behind_bits(call))]
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
