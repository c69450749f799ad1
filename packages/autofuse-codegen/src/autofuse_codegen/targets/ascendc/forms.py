"""How each operator is written in Ascend C, after the schedule has expressed it in what the chip has."""

from collections.abc import Callable

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc import form_arithmetic, form_bits, form_casts, form_truths
from autofuse_codegen.targets.ascendc.call import Call
from autofuse_codegen.targets.ascendc.form_integers import composed, is_composed
from autofuse_codegen.targets.ascendc.lines import Line


def write(call: Call) -> list[Line]:
    """Return the lines that compute ``call``, without the barriers between them."""
    op = call.node.op
    if is_composed(call) and op not in (*form_truths.COMPARES, "Select"):
        return composed(call)
    for forms, writer in _WRITERS:
        if op in forms:
            return writer(call)
    raise CodegenError(
        f"the operator {op} has no form on Ascend for elements of type {call.node.dtype.name}",
        where=f"node {call.node.name}",
        fix="keep it out of the kernel",
    )


_WRITERS: tuple[tuple[frozenset[str], Callable[[Call], list[Line]]], ...] = (
    (frozenset(form_arithmetic.UNARY), form_arithmetic.unary),
    (form_arithmetic.WITH_SCRATCH, form_arithmetic.with_scratch),
    (frozenset({"Log10"}), form_arithmetic.log10),
    (frozenset({"Neg"}), form_arithmetic.neg),
    (frozenset(form_arithmetic.ROUNDINGS), form_arithmetic.round_to_integer),
    (frozenset(form_arithmetic.BINARY), form_arithmetic.binary),
    (frozenset({"Pow"}), form_arithmetic.power),
    (frozenset({"Fmod"}), form_arithmetic.fmod),
    (frozenset(form_truths.COMPARES), form_truths.compare),
    (frozenset({"Select"}), form_truths.select),
    (frozenset(form_bits.BITWISE), form_bits.bitwise),
    (frozenset({"LogicalNot", "BitwiseNot"}), form_bits.not_),
    (frozenset({"LeftShift", "RightShift"}), form_bits.shift),
    (frozenset({"Cast"}), form_casts.cast),
)
