"""The meaning of comparisons, tests of floats, logic and bits."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.call import Call, Meaning, binary, unary


def _is_finite(x: Array) -> Array:
    return np.asarray(np.isfinite(x)) if x.dtype.kind == "f" else np.ones(x.shape, np.bool_)


def is_infinite(x: Array, positive: bool, negative: bool) -> Array:
    """Return where ``x`` is infinite with one of the asked signs."""
    return np.asarray(np.isinf(x) & (((x > 0) & positive) | ((x < 0) & negative)))


def _is_inf(call: Call) -> Array:
    return is_infinite(call.array("x"), call.flag("detect_positive"), call.flag("detect_negative"))


MEANINGS: tuple[Meaning, ...] = (
    binary("Equal", np.equal),
    binary("NotEqual", np.not_equal),
    binary("Greater", np.greater),
    binary("GreaterEqual", np.greater_equal),
    binary("Less", np.less),
    binary("LessEqual", np.less_equal),
    unary("IsFinite", _is_finite),
    Meaning("IsInf", _is_inf),
    unary("IsNan", np.isnan),
    binary("BitwiseAnd", np.bitwise_and),
    binary("BitwiseOr", np.bitwise_or),
    binary("BitwiseXor", np.bitwise_xor),
    binary("LogicalAnd", np.logical_and),
    binary("LogicalOr", np.logical_or),
    binary("LogicalXor", np.logical_xor),
    unary("Invert", np.invert),
    unary("LogicalNot", np.logical_not),
    binary("LeftShift", np.left_shift),
    binary("RightShift", np.right_shift),
)
