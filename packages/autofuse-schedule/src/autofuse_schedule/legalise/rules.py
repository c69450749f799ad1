"""How each AscIR operator is expressed, by the type of its elements."""

import math
from collections.abc import Callable

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType

from autofuse_schedule.legalise import floats
from autofuse_schedule.legalise.casts import cast, low_bits
from autofuse_schedule.legalise.writer import Writer

_F = frozenset({dt.float16, dt.float32})
_I = frozenset({dt.int16, dt.int32})
_SAME_BITS = _I | {dt.uint16, dt.uint32}
_BITS = frozenset(d for d in dt.TENSOR_DTYPES if not d.is_float and d != dt.bool_)

FUNCTIONS = (
    *("Exp", "Ln", "Sqrt", "Log2", "Log10", "Erf", "Erfc", "Sigmoid", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Div", "Fmod", "Pow"),
)
COMPARES = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge")

NATIVE: dict[str, frozenset[DType]] = {
    **dict.fromkeys(FUNCTIONS, _F),
    **dict.fromkeys(("Add", "Sub", "Mul"), _F | _SAME_BITS),
    **dict.fromkeys(("Minimum", "Maximum", "Neg"), _F | _I),
    **dict.fromkeys(("Ne", "Lt", "Le", "Gt", "Ge", "Abs"), _F),
    **dict.fromkeys(("Floor", "Ceil", "Trunc", "Round"), frozenset({dt.float32})),
    "Eq": _F | {dt.int32},
    "Select": _F | _SAME_BITS | {dt.bfloat16},
    **dict.fromkeys(("LogicalAnd", "LogicalOr", "LogicalNot"), frozenset({dt.bool_})),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseNot"), _BITS),
    **dict.fromkeys(("LeftShift", "RightShift"), _SAME_BITS),
}
"""Types of the operands (of ``Select``: what it selects) with an instruction or a short fixed sequence of them."""

_COMPOSED: dict[str, Callable[..., str]] = {
    "Reciprocal": floats.reciprocal,
    "Rsqrt": floats.rsqrt,
    "Exp2": floats.exp2,
    "Sign": floats.sign,
    "Log1p": floats.log1p,
    "Expm1": floats.expm1,
    "Atanh": floats.atanh,
    "Mod": floats.floor_mod,
}
_NEEDS_FLOAT32 = ("Rsqrt", "Log1p", "Expm1", "Atanh", "Mod", "Floor", "Ceil", "Trunc", "Round", "Exp2")
_ON_BOOLS = {
    **{"Minimum": "LogicalAnd", "BitwiseAnd": "LogicalAnd", "Maximum": "LogicalOr", "BitwiseOr": "LogicalOr"},
    **{"BitwiseXor": "LogicalXor", "BitwiseNot": "LogicalNot", "Eq": "Xnor", "Ne": "LogicalXor"},
}


def is_native(node: AscNode, w: Writer, inputs: tuple[str, ...]) -> bool:
    """True for what the chip computes as it stands."""
    dtype = w.dtype(inputs[1] if node.op == "Select" else inputs[0])
    if node.op in ("Cast", "LeftShift", "RightShift"):
        return False  # these depend on more than the operator and one type
    return dtype in NATIVE.get(node.op, ())


def express(w: Writer, node: AscNode, inputs: tuple[str, ...]) -> str | None:
    """Add what stands for ``node`` on ``inputs`` and return the result; None where the chip cannot compute it."""
    dtype = w.dtype(inputs[1] if node.op == "Select" else inputs[0])
    if node.op == "Cast":
        return cast(w, inputs[0], node.dtype)
    if node.op in ("LeftShift", "RightShift"):
        return _shift(w, node, inputs, dtype)
    if is_native(node, w, inputs):
        return w.emit(node.op, *inputs, dtype=node.dtype, attrs=node.attrs)
    if dtype == dt.bool_:
        return _on_bools(w, node, inputs)
    if node.op == "BitwiseXor" and dtype in _BITS:
        both = w.emit("BitwiseNot", w.emit("BitwiseAnd", *inputs))
        return w.emit("BitwiseAnd", w.emit("BitwiseOr", *inputs), both)
    if dtype == dt.bfloat16 or (dtype == dt.float16 and node.op in _NEEDS_FLOAT32):
        return _through(w, node, inputs, dt.float32)
    if dtype in _F:
        return _on_floats(w, node, inputs, dtype)
    return _on_integers(w, node, inputs, dtype)


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


def _express_as(w: Writer, node: AscNode, operands: tuple[str, ...], dtype: DType) -> str | None:
    like = AscNode(node.name, node.op, operands, dtype, node.repeats, node.strides, node.attrs)
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


def _on_integers(w: Writer, node: AscNode, inputs: tuple[str, ...], dtype: DType) -> str | None:
    if dtype.bits == 8:
        return _on_bytes(w, node, inputs, dtype)
    if dtype not in _I:
        return None
    match node.op:
        case "Abs":
            return w.emit("Maximum", inputs[0], w.emit("Neg", inputs[0]))
        case "Sign":
            one = w.scalar(1, dtype)
            return w.emit("Minimum", w.emit("Maximum", inputs[0], w.scalar(-1, dtype)), one)
        case op if op in COMPARES and dtype == dt.int16:
            return _through(w, node, inputs, dt.float32)
        case op if op in COMPARES:
            return _compare_int32(w, op, *inputs)
    return None


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


def _on_bytes(w: Writer, node: AscNode, inputs: tuple[str, ...], dtype: DType) -> str | None:
    """8-bit integers: exact in half where no result leaves them, else in 16 bits, of which the low 8 are kept."""
    if node.op in (*COMPARES, "Minimum", "Maximum", "Select"):
        return _through(w, node, inputs, dt.float16)
    if node.op not in ("Add", "Sub", "Mul", "Neg", "Abs", "Sign"):
        return None
    widened = tuple(cast(w, value, dt.int16) for value in inputs)
    operands = tuple(value for value in widened if value is not None)
    found = _express_as(w, node, operands, dt.int16)
    if found is None:
        return None
    if node.op != "Sign":
        found = low_bits(w, found, dtype)
    return w.emit("Cast", w.emit("Cast", found, dtype=dt.float16), dtype=dtype)


def _shift(w: Writer, node: AscNode, inputs: tuple[str, ...], dtype: DType) -> str | None:
    """Shifts by a constant alone, of what keeps a bit."""
    amount = w.value(inputs[1])
    if dtype not in _SAME_BITS or not isinstance(amount, int) or not 0 <= amount < dtype.bits:
        return None
    return w.emit(node.op, *inputs)
