"""How each AscIR operator is written for the CPU: functions of our vector headers."""

from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.kernel.program import Call, Expression, Literal, Name
from autofuse_codegen.targets.cpu.literals import type_name

RAISED = Name("&raised")
"""Where a block collects the status bits of its operators."""


@frozen
class CpuForm:
    """The functions of one operator by kind of element: ``floats``, ``integers``, ``bools`` (None: no such form).

    ``fails_on_integers``: the integer function raises status bits and takes the number of live lanes. ``predicate``:
    the result is a mask rather than a bool vector.
    """

    floats: str | None
    integers: str | None = None
    bools: str | None = None
    fails_on_integers: bool = False
    predicate: bool = False


def _float_forms(*names: str) -> dict[str, CpuForm]:
    return {name: CpuForm(f"af_{name.lower()}") for name in names}


def _compare(name: str, on_bools: str | None = None) -> CpuForm:
    return CpuForm(name, name, on_bools or name, predicate=True)


FORMS: dict[str, CpuForm] = {
    **_float_forms("Reciprocal", "Sqrt", "Rsqrt", "Exp", "Exp2", "Expm1", "Log2", "Log10", "Log1p"),
    **_float_forms("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Atan2", "Sinh", "Cosh", "Tanh"),
    **_float_forms("Asinh", "Acosh", "Atanh", "Erf", "Erfc", "Sigmoid", "Floor", "Ceil", "Trunc", "Div"),
    "Ln": CpuForm("af_log"),
    "Round": CpuForm("af_rint"),
    "Abs": CpuForm("af_abs", "af_abs"),
    "Neg": CpuForm("af_neg", "af_neg"),
    "Sign": CpuForm("af_sign", "af_sign"),
    "Add": CpuForm("af_add", "af_add"),
    "Sub": CpuForm("af_sub", "af_sub"),
    "Mul": CpuForm("af_mul", "af_mul"),
    "TruncDiv": CpuForm(None, "af_int_div_trunc", fails_on_integers=True),
    "FloorDiv": CpuForm("af_floor_divide", "af_int_div_floor", fails_on_integers=True),
    "Mod": CpuForm("af_remainder", "af_int_mod_floor", fails_on_integers=True),
    "Fmod": CpuForm("af_fmod", "af_int_mod_trunc", fails_on_integers=True),
    "Pow": CpuForm("af_pow", "af_int_pow", fails_on_integers=True),
    "Minimum": CpuForm("af_min", "af_min", "af_logical_and"),
    "Maximum": CpuForm("af_max", "af_max", "af_logical_or"),
    "BitwiseAnd": CpuForm(None, "af_bit_and", "af_logical_and"),
    "BitwiseOr": CpuForm(None, "af_bit_or", "af_logical_or"),
    "BitwiseXor": CpuForm(None, "af_bit_xor", "af_logical_xor"),
    "BitwiseNot": CpuForm(None, "af_bit_not", "af_logical_not"),
    "LeftShift": CpuForm(None, "af_shift_left"),
    "RightShift": CpuForm(None, "af_shift_right"),
    "LogicalAnd": CpuForm(None, None, "af_logical_and", predicate=True),
    "LogicalOr": CpuForm(None, None, "af_logical_or", predicate=True),
    "LogicalXor": CpuForm(None, None, "af_logical_xor", predicate=True),
    "LogicalNot": CpuForm(None, None, "af_logical_not", predicate=True),
    "Eq": _compare("af_eq"),
    "Ne": _compare("af_ne"),
    "Lt": _compare("af_lt"),
    "Le": _compare("af_le"),
    "Gt": _compare("af_gt"),
    "Ge": _compare("af_ge"),
    "IsNan": CpuForm("af_isnan", predicate=True),
    "IsInf": CpuForm("af_isinf", predicate=True),
    "IsFinite": CpuForm("af_isfinite", predicate=True),
    "Select": CpuForm("af_select", "af_select", "af_select"),
    "Cast": CpuForm("af_cast", "af_cast", "af_cast"),
}

TAKES_PREDICATES = frozenset({"af_logical_and", "af_logical_or", "af_logical_xor", "af_logical_not", "af_bool"})
"""Functions whose operands may be masks as they come from a comparison."""


def can_fail(node: AscNode, dtype: DType) -> bool:
    """True when ``node`` on elements of ``dtype`` may raise status bits."""
    return node.op in FORMS and FORMS[node.op].fails_on_integers and dtype.is_integer


def function_of(node: AscNode, dtype: DType) -> str:
    """Return the header function for ``node`` whose operands have ``dtype``; ``CodegenError`` where there is none."""
    form = FORMS.get(node.op)
    found = None
    if form is not None:
        found = form.bools if dtype == dt.bool_ else form.integers if dtype.is_integer else form.floats
    if found is None:
        raise CodegenError(
            f"the operator {node.op} has no CPU form for elements of type {dtype.name}",
            where=f"node {node.name}",
            fix="cast its inputs first; lowering does that for operators of the table",
        )
    return found


def call(node: AscNode, operands: tuple[Expression, ...], dtypes: tuple[DType, ...], access: str) -> Expression:
    """Return the expression that computes ``node`` from ``operands`` (whose element types are ``dtypes``)."""
    if node.op == "Cast":
        return _cast(node, operands[0], dtypes[0])
    if node.op == "Select":
        picked = tuple(as_bools(o, d) for o, d in zip(operands[1:], dtypes[1:], strict=True))
        return Call("af_select", (operands[0], *picked))
    operand_dtype = dtypes[0]
    function = function_of(node, operand_dtype)
    if function not in TAKES_PREDICATES:
        operands = tuple(as_bools(o, d) for o, d in zip(operands, dtypes, strict=True))
    if can_fail(node, operand_dtype):
        operands = (*operands, RAISED, Call(f"{access}.live", ()))
    if node.op == "IsInf":
        flags = (node.attr("positive", True), node.attr("negative", True))
        operands = (*operands, *(Literal("true" if flag else "false") for flag in flags))
    return Call(function, operands)


def as_bools(operand: Expression, dtype: DType) -> Expression:
    """Return a bool operand in the form memory holds (a byte of 0 or 1); others as they are."""
    return Call("af_bool", (operand,)) if dtype == dt.bool_ else operand


def _cast(node: AscNode, operand: Expression, dtype: DType) -> Expression:
    if node.dtype == dtype:
        return operand
    return Call("af_cast", (as_bools(operand, dtype),), (type_name(node.dtype),))
