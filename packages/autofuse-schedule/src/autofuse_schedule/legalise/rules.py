"""How each AscIR operator is expressed, by the type of its elements."""

import math
from collections.abc import Callable

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType

from autofuse_schedule.legalise import floats
from autofuse_schedule.legalise.casts import cast
from autofuse_schedule.legalise.chips import FLOATS
from autofuse_schedule.legalise.integers import SHIFTS, on_integers
from autofuse_schedule.legalise.writer import Writer

_COMPOSED: dict[str, Callable[..., str]] = {
    "Reciprocal": floats.reciprocal,
    "Rsqrt": floats.rsqrt,
    "Exp2": floats.exp2,
    "Sign": floats.sign,
    "Log1p": floats.log1p,
    "Expm1": floats.expm1,
    "Atanh": floats.atanh,
    "Mod": floats.floor_mod,
    "FloorDiv": floats.floor_divide,
    "Atan2": floats.atan2,
}
_NEEDS_FLOAT32 = (
    "Rsqrt",
    "Log1p",
    "Expm1",
    "Atanh",
    "Mod",
    "FloorDiv",
    "Atan2",
    "Floor",
    "Ceil",
    "Trunc",
    "Round",
    "Exp2",
)
_ON_BOOLS = {
    **{"Minimum": "LogicalAnd", "BitwiseAnd": "LogicalAnd", "Maximum": "LogicalOr", "BitwiseOr": "LogicalOr"},
    **{"BitwiseXor": "LogicalXor", "BitwiseNot": "LogicalNot", "Eq": "Xnor", "Ne": "LogicalXor"},
}


def is_native(node: AscNode, w: Writer, inputs: tuple[str, ...]) -> bool:
    """True for what the chip computes as it stands."""
    dtype = w.dtype(inputs[-1])
    if node.op == "Cast" or node.op in SHIFTS:
        return False  # these depend on more than the operator and one type
    if node.op == "Sub" and dtype.bits == 8 and w.value(inputs[0]) is not None:
        return False  # a number less a tensor is a product with -1
    return w.chip.computes(node.op, dtype)


def express(w: Writer, node: AscNode, inputs: tuple[str, ...]) -> str | None:
    """Add what stands for ``node`` on ``inputs`` and return the result; None where the chip cannot compute it."""
    dtype = w.dtype(inputs[-1])
    if dt.float64 in (dtype, node.dtype):
        return None
    if node.op == "Cast":
        return cast(w, inputs[0], node.dtype)
    if is_native(node, w, inputs):
        return w.emit(node.op, *inputs, dtype=node.dtype, attrs=node.attrs)
    if dtype == dt.bool_:
        return _on_bools(w, node, inputs)
    if dtype.is_integer:
        return on_integers(w, node.op, inputs, lambda op, operands, to: _express_as(w, node, operands, to, op))
    if dtype == dt.bfloat16 or (dtype == dt.float16 and node.op in _NEEDS_FLOAT32):
        return _through(w, node, inputs, dt.float32)
    return _on_floats(w, node, inputs, dtype) if dtype in FLOATS else None


def _through(w: Writer, node: AscNode, inputs: tuple[str, ...], wide: DType) -> str | None:
    """Compute in ``wide`` and convert the result back."""
    data = inputs[1:] if node.op == "Select" else inputs
    widened = [cast(w, value, wide) for value in data]
    if any(value is None for value in widened):
        return None
    operands = (*inputs[: len(inputs) - len(data)], *(value for value in widened if value is not None))
    result_dtype = node.dtype if node.dtype == dt.bool_ else wide
    found = _express_as(w, node, operands, result_dtype)
    return None if found is None else cast(w, found, node.dtype)


def _express_as(w: Writer, node: AscNode, operands: tuple[str, ...], dtype: DType, op: str | None = None) -> str | None:
    like = AscNode(node.name, op or node.op, operands, dtype, node.repeats, node.strides, node.attrs)
    return express(w, like, operands)


def _on_floats(w: Writer, node: AscNode, inputs: tuple[str, ...], dtype: DType) -> str | None:
    infinity = w.scalar(math.inf, dtype)
    match node.op:
        case "IsNan":
            return w.emit("Ne", inputs[0], inputs[0], dtype=dt.bool_)
        case "IsFinite":
            return w.emit("Lt", w.emit("Abs", inputs[0]), infinity, dtype=dt.bool_)
        case "IsInf":
            positive, negative = node.attr("positive", True), node.attr("negative", True)
            if positive and negative:
                return w.emit("Eq", w.emit("Abs", inputs[0]), infinity, dtype=dt.bool_)
            wanted = infinity if positive else w.scalar(-math.inf, dtype)
            if not positive and not negative:
                return None
            return w.emit("Eq", inputs[0], wanted, dtype=dt.bool_)
        case op if op in _COMPOSED:
            return _COMPOSED[op](w, *inputs)
    return None


def _on_bools(w: Writer, node: AscNode, inputs: tuple[str, ...]) -> str | None:
    op = _ON_BOOLS.get(node.op, node.op)
    match op:
        case "LogicalXor" | "Xnor":
            both = w.emit("LogicalNot", w.emit("LogicalAnd", *inputs))
            differ = w.emit("LogicalAnd", w.emit("LogicalOr", *inputs), both)
            return w.emit("LogicalNot", differ) if op == "Xnor" else differ
        case "LogicalAnd" | "LogicalOr" | "LogicalNot":
            return w.emit(op, *inputs)
        case "Lt" | "Gt":
            smaller, larger = inputs if op == "Lt" else inputs[::-1]
            return w.emit("LogicalAnd", w.emit("LogicalNot", smaller), larger)
        case "Le" | "Ge":
            smaller, larger = inputs if op == "Le" else inputs[::-1]
            return w.emit("LogicalOr", w.emit("LogicalNot", smaller), larger)
        case "Select":
            condition, first, second = inputs
            taken = w.emit("LogicalAnd", condition, first)
            return w.emit("LogicalOr", taken, w.emit("LogicalAnd", w.emit("LogicalNot", condition), second))
    return None
