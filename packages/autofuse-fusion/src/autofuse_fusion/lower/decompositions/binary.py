"""Arithmetic of two or more inputs."""

import math
from functools import partial, reduce

from autofuse_ir.operators import promote

from autofuse_fusion.lower.call import Call, Lowering, direct2
from autofuse_fusion.lower.decompositions.functions import add, mul, quotient, sub
from autofuse_fusion.lower.writer import Tensor


def _promoted(call: Call, op: str) -> Tensor:
    """Return ``op`` of x1 and x2 in the dtype of the result; 16-bit floats were widened already."""
    x1, x2 = call.tensor("x1"), call.tensor("x2")
    dtype = promote(x1.dtype, x2.dtype)
    return call.apply(op, call.cast(x1, dtype), call.cast(x2, dtype))


def _squared_difference(call: Call) -> Tensor:
    difference = sub(call, call.tensor("x1"), call.tensor("x2"))
    return mul(call, difference, difference)


def _hypot(call: Call) -> Tensor:
    """Return the larger side times sqrt(1 + ratio**2): no square overflows; an infinite side wins over NaN."""
    x, y = call.apply("Abs", call.tensor("x1")), call.apply("Abs", call.tensor("x2"))
    large, small = call.apply("Maximum", x, y), call.apply("Minimum", x, y)
    ratio = call.apply("Div", small, large)
    root = call.apply("Sqrt", add(call, mul(call, ratio, ratio), call.scalar(1, x)))
    zero = call.apply("Eq", large, call.scalar(0, x))
    finite = call.select(zero, large, mul(call, large, root))
    infinite = call.apply("LogicalOr", call.apply("IsInf", x), call.apply("IsInf", y))
    return call.select(infinite, call.scalar(math.inf, x), finite)


def _log_add_exp(call: Call) -> Tensor:
    """Return max + log1p(exp(-abs(x1 - x2))); equal operands, infinite ones too, give x1 + ln 2."""
    x, y = call.tensor("x1"), call.tensor("x2")
    decay = call.apply("Exp", call.apply("Neg", call.apply("Abs", sub(call, x, y))))
    apart = add(call, call.apply("Maximum", x, y), call.apply("Log1p", decay))
    return call.select(call.apply("Eq", x, y), add(call, x, call.scalar(math.log(2), x)), apart)


def _truncate_div(call: Call) -> Tensor:
    x1, x2 = call.tensor("x1"), call.tensor("x2")
    return call.apply("Trunc", call.apply("Div", x1, x2)) if x1.dtype.is_float else call.apply("TruncDiv", x1, x2)


def _div_no_nan(call: Call) -> Tensor:
    x1, x2 = call.tensor("x1"), call.tensor("x2")
    zero = call.apply("Eq", x2, call.scalar(0, x2))
    safe = call.select(zero, call.scalar(1, x2), x2)
    return call.select(zero, call.scalar(0, x1), quotient(call, x1, safe))


def _axpy(call: Call) -> Tensor:
    x1, x2 = call.tensor("x1"), call.tensor("x2")
    return add(call, x1, mul(call, call.scalar(call.number("alpha"), x2), x2))


def _addcmul(call: Call) -> Tensor:
    scaled = mul(call, mul(call, call.tensor("value"), call.tensor("x1")), call.tensor("x2"))
    return add(call, call.tensor("input_data"), scaled)


def _addcdiv(call: Call) -> Tensor:
    scaled = quotient(call, mul(call, call.tensor("value"), call.tensor("x1")), call.tensor("x2"))
    return add(call, call.tensor("input_data"), scaled)


def _lerp(call: Call) -> Tensor:
    start = call.tensor("start")
    return add(call, start, mul(call, call.tensor("weight"), sub(call, call.tensor("end"), start)))


def _clip_by_value(call: Call) -> Tensor:
    below = call.apply("Minimum", call.tensor("x"), call.tensor("clip_value_max"))
    return call.apply("Maximum", below, call.tensor("clip_value_min"))


def _clip(call: Call) -> Tensor:
    x, low, high = call.tensor("x"), call.optional("min"), call.optional("max")
    x = x if low is None else call.apply("Maximum", x, low)
    return x if high is None else call.apply("Minimum", x, high)


LOWERINGS: tuple[Lowering, ...] = (
    direct2("Add", "Add"),
    direct2("AddV2", "Add"),
    Lowering("Mul", lambda call: _promoted(call, "Mul")),
    direct2("Maximum", "Maximum"),
    direct2("Minimum", "Minimum"),
    direct2("Sub", "Sub"),
    Lowering("Div", lambda call: quotient(call, call.tensor("x1"), call.tensor("x2"))),
    direct2("RealDiv", "Div"),
    direct2("Atan2", "Atan2"),
    Lowering("Pow", lambda call: _promoted(call, "Pow")),
    direct2("FloorDiv", "FloorDiv"),
    Lowering("TruncateDiv", _truncate_div),
    direct2("FloorMod", "Mod"),
    direct2("Mod", "Fmod"),
    direct2("TruncateMod", "Fmod"),
    Lowering("SquaredDifference", _squared_difference),
    Lowering("Hypot", _hypot),
    Lowering("LogAddExp", _log_add_exp),
    Lowering("DivNoNan", _div_no_nan),
    Lowering("Axpy", _axpy),
    Lowering("AddN", lambda call: reduce(partial(add, call), call.tensors_of("x"))),
    Lowering(
        "FusedMulAddN", lambda call: add(call, mul(call, call.tensor("x1"), call.tensor("x3")), call.tensor("x2"))
    ),
    Lowering("Addcmul", _addcmul),
    Lowering("Addcdiv", _addcdiv),
    Lowering("Lerp", _lerp),
    direct2("BiasAdd", "Add"),
    Lowering("ClipByValue", _clip_by_value),
    Lowering("Clip", _clip),
    Lowering("Select", lambda call: call.select(call.tensor("condition"), call.tensor("x1"), call.tensor("x2"))),
    Lowering("SelectV2", lambda call: call.select(call.tensor("condition"), call.tensor("then"), call.tensor("else"))),
    Lowering("MaskedFill", lambda call: call.select(call.tensor("mask"), call.tensor("value"), call.tensor("x"))),
)
