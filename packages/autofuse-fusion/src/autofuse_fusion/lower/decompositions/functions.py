"""Functions that several decompositions share. Each is written in the order the reference computes it."""

from autofuse_fusion.index_map import Number
from autofuse_fusion.lower.call import Call
from autofuse_fusion.lower.writer import Tensor


def add(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Return x + y."""
    return call.apply("Add", x, y)


def sub(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Return x - y."""
    return call.apply("Sub", x, y)


def mul(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Return x * y."""
    return call.apply("Mul", x, y)


def times(call: Call, x: Tensor, factor: Number) -> Tensor:
    """Return x * factor, the factor rounded to the dtype of x."""
    return call.apply("Mul", x, call.scalar(factor, x))


def plus(call: Call, x: Tensor, addend: Number) -> Tensor:
    """Return x + addend."""
    return call.apply("Add", x, call.scalar(addend, x))


def one_minus(call: Call, x: Tensor) -> Tensor:
    """Return 1 - x."""
    return call.apply("Sub", call.scalar(1, x), x)


def softplus(call: Call, x: Tensor) -> Tensor:
    """Return ln(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-abs(x)))."""
    decay = call.apply("Exp", call.apply("Neg", call.apply("Abs", x)))
    return add(call, call.apply("Maximum", x, call.scalar(0, x)), call.apply("Log1p", decay))


def quotient(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Return x / y; integers are rounded towards zero."""
    return call.apply("Div" if x.dtype.is_float else "TruncDiv", x, y)
