"""Element-wise operators of one input."""

import math

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_reference.operators.precision import cast

from autofuse_fusion.index_map import Number
from autofuse_fusion.lower.call import Call, Lowering, direct
from autofuse_fusion.lower.decompositions.functions import plus, times
from autofuse_fusion.lower.writer import Tensor


def constant_of(call: Call, name: str) -> Number:
    """Return float attribute ``name`` rounded to the declared dtype of x."""
    rounded: Number = cast(np.asarray(call.number(name)), call.dtypes["x"]).item()
    return rounded


def _exponent(call: Call) -> Tensor:
    """Return scale * x + shift; a scale of 1 and a shift of 0 are not written: they would change -0.0."""
    x = call.tensor("x")
    if not x.dtype.is_float:
        x = call.cast(x, dt.float32)
    scale, shift = call.number("scale"), call.number("shift")
    if scale != 1.0:
        x = times(call, x, scale)
    return x if shift == 0.0 else plus(call, x, shift)


def _exp(call: Call) -> Tensor:
    x, base = _exponent(call), call.number("base")
    if base == -1.0:
        return call.apply("Exp", x)
    return call.apply("Exp2", x) if base == 2.0 else call.apply("Exp", times(call, x, math.log(base)))


def _log(call: Call) -> Tensor:
    x, base = _exponent(call), call.number("base")
    named = {-1.0: "Ln", 2.0: "Log2", 10.0: "Log10"}.get(base)
    return call.apply(named, x) if named else times(call, call.apply("Ln", x), 1 / math.log(base))


def _round(call: Call) -> Tensor:
    x, decimals = call.tensor("x"), call.attr("decimals")
    assert isinstance(decimals, int)
    if not x.dtype.is_float:
        if decimals >= 0:
            return x
        return call.cast(_rounded_at(call, call.cast(x, dt.float64), decimals), x.dtype)
    return call.apply("Round", x) if decimals == 0 else _rounded_at(call, x, decimals)


def _rounded_at(call: Call, x: Tensor, decimals: int) -> Tensor:
    power = call.scalar(10.0 ** abs(decimals), x)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return call.apply(back, call.apply("Round", call.apply(there, x, power)), power)


def _constant(call: Call, value: Number) -> Tensor:
    return call.writer.scalar(value, call.result)


LOWERINGS: tuple[Lowering, ...] = (
    *(
        direct(name, name)
        for name in (
            *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Erfc", "Expm1"),
            *("Log1p", "Neg", "Reciprocal", "Rsqrt", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"),
            *("Ceil", "Floor", "Trunc", "Sign"),
        )
    ),
    direct("Rint", "Round"),
    Lowering("Square", lambda call: call.apply("Mul", call.tensor("x"), call.tensor("x"))),
    Lowering("ZerosLike", lambda call: _constant(call, 0), moves=True, unread=("x",)),
    Lowering("OnesLike", lambda call: _constant(call, 1), moves=True, unread=("x",)),
    Lowering("Fills", lambda call: _constant(call, constant_of(call, "value")), moves=True, unread=("x",)),
    Lowering("Muls", lambda call: times(call, call.tensor("x"), constant_of(call, "value"))),
    Lowering("Adds", lambda call: plus(call, call.tensor("x"), constant_of(call, "value"))),
    Lowering("Exp", _exp),
    Lowering("Log", _log),
    Lowering("Round", _round),
    Lowering("Cast", lambda call: call.cast(call.tensor("x"), call.result)),
)
