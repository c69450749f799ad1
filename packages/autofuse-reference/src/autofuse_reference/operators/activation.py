"""The meaning of the activations."""

import math

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators import float_math
from autofuse_reference.operators.axes import by_tree, normalised, total
from autofuse_reference.operators.call import Call, Meaning, unary
from autofuse_reference.operators.error_function import erf
from autofuse_reference.operators.extremes import maximum, minimum

SELU_ALPHA = 1.6732632423543772
"""Fixed point constants of Klambauer et al., "Self-Normalizing Neural Networks" (2017)."""
SELU_SCALE = 1.0507009873554805
TANH_GELU_CUBIC = 0.044715
"""Coefficient of x**3 in Hendrycks and Gimpel's tanh approximation of Gelu (2016)."""


def scalar(x: Array, value: float) -> Array:
    """Return ``value`` in the dtype of ``x``."""
    return np.asarray(value, x.dtype)


def gelu(x: Array, approximate: str) -> Array:
    """Return x * Phi(x), Phi the normal distribution: by erf, or by tanh for ``approximate`` "tanh"."""
    half, one = scalar(x, 0.5), scalar(x, 1.0)
    if approximate == "tanh":
        inner = scalar(x, math.sqrt(2 / math.pi)) * (x + scalar(x, TANH_GELU_CUBIC) * x * x * x)
        return np.asarray(half * x * (one + np.tanh(inner)))
    return np.asarray(half * x * (one + erf(x * scalar(x, math.sqrt(0.5)))))


def _gelu_v2(call: Call) -> Array:
    approximate = call.text("approximate")
    if approximate not in ("none", "tanh"):
        call.fail(f"approximate is {approximate!r}", "use 'none' or 'tanh'")
    return gelu(call.array("x"), approximate)


def _leaky_relu(call: Call) -> Array:
    x = call.array("x")
    return np.where(x >= 0, x, x * scalar(x, call.number("negative_slope")))


def _prelu(call: Call) -> Array:
    x, weight = call.array("x"), call.array("weight")
    return np.where(x < 0, x * weight, x)


def _elu(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    negative = scalar(x, alpha) * np.expm1(scalar(x, input_scale) * minimum(x, scalar(x, 0)))
    return np.asarray(scalar(x, scale) * np.where(x > 0, x, negative))


def _celu(call: Call) -> Array:
    x, zero, alpha = call.array("x"), scalar(call.array("x"), 0), scalar(call.array("x"), call.number("alpha"))
    return np.asarray(maximum(x, zero) + minimum(alpha * np.expm1(x / alpha), zero))


def _hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return minimum(maximum(scalar(x, alpha) * x + scalar(x, beta), scalar(x, 0)), scalar(x, 1))


def _shrink(call: Call) -> Array:
    x, lambd = call.array("x"), call.number("lambd")
    bias = np.asarray(call.number("bias")).astype(x.dtype)
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, np.zeros_like(x)))


def _hard_shrink(call: Call) -> Array:
    x, lambd = call.array("x"), scalar(call.array("x"), call.number("lambd"))
    return np.where(np.abs(x) <= lambd, np.zeros_like(x), x)


def _soft_shrink(call: Call) -> Array:
    x, lambd = call.array("x"), scalar(call.array("x"), call.number("lambd"))
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0))


def _halves(call: Call) -> tuple[Array, Array]:
    x = call.array("x")
    (axis,) = normalised(call, (call.integer("dim"),), x.ndim)
    if x.shape[axis] % 2:
        call.fail(f"dim {axis} of size {x.shape[axis]} has no two halves")
    first, second = np.split(x, 2, axis)
    return first, second


def _glu(call: Call) -> Array:
    first, second = _halves(call)
    return first * float_math.sigmoid(second)


def _swiglu(call: Call) -> Array:
    first, second = _halves(call)
    return first * float_math.sigmoid(first) * second


def softmax(x: Array, axes: tuple[int, ...]) -> Array:
    """Return exp(x - max) / sum over ``axes``."""
    exponentials = np.exp(x - by_tree("Max", x, axes, keep=True))
    return np.asarray(exponentials / total(exponentials, axes, keep=True))


def log_softmax(x: Array, axes: tuple[int, ...]) -> Array:
    """Return x - max - ln(sum(exp(x - max))) over ``axes``."""
    shifted = x - by_tree("Max", x, axes, keep=True)
    return np.asarray(shifted - np.log(total(np.exp(shifted), axes, keep=True)))


def _softmax_v2(call: Call) -> Array:
    return softmax(call.array("x"), normalised(call, call.integers("axes"), call.array("x").ndim))


def _log_softmax_v2(call: Call) -> Array:
    return log_softmax(call.array("x"), normalised(call, call.integers("axes"), call.array("x").ndim))


def _hard_max(call: Call) -> Array:
    x = call.array("x")
    (axis,) = normalised(call, (call.integer("axis"),), x.ndim)
    result = np.zeros_like(x)
    if x.size:
        np.put_along_axis(result, np.expand_dims(np.argmax(x, axis), axis), 1, axis)
    return result


def _threshold(call: Call) -> Array:
    return np.where(call.array("x") > call.array("threshold"), call.array("x"), call.array("value"))


MEANINGS: tuple[Meaning, ...] = (
    unary("Relu", lambda x: maximum(x, x.dtype.type(0))),
    unary("Relu6", lambda x: minimum(maximum(x, x.dtype.type(0)), x.dtype.type(6))),
    Meaning("LeakyRelu", _leaky_relu),
    Meaning("PRelu", _prelu),
    Meaning(
        "Elu",
        lambda call: _elu(call.array("x"), call.number("alpha"), call.number("scale"), call.number("input_scale")),
    ),
    Meaning("CeluV2", _celu),
    unary("Selu", lambda x: _elu(x, SELU_ALPHA, SELU_SCALE, 1.0)),
    unary("Sigmoid", float_math.sigmoid),
    unary("LogSigmoid", lambda x: np.negative(float_math.softplus(-x))),
    Meaning("HardSigmoid", lambda call: _hard_sigmoid(call.array("x"), call.number("alpha"), call.number("beta"))),
    unary("HardSwish", lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5)),
    Meaning("HardShrink", _hard_shrink),
    Meaning("SoftShrink", _soft_shrink),
    Meaning("Shrink", _shrink),
    Meaning(
        "ThresholdedRelu",
        lambda call: np.where(
            call.array("x") > scalar(call.array("x"), call.number("alpha")),
            call.array("x"),
            call.array("x").dtype.type(0),
        ),
    ),
    Meaning("ThresholdV2", _threshold),
    unary("Gelu", lambda x: gelu(x, "tanh")),
    Meaning("GeluV2", _gelu_v2),
    Meaning(
        "Swish",
        lambda call: (
            call.array("x") * float_math.sigmoid(scalar(call.array("x"), call.number("scale")) * call.array("x"))
        ),
    ),
    unary("Mish", lambda x: x * np.tanh(float_math.softplus(x))),
    unary("Softplus", float_math.softplus),
    unary("Softsign", lambda x: x / (1 + np.abs(x))),
    Meaning("GLU", _glu),
    Meaning("SwiGlu", _swiglu),
    Meaning("SoftmaxV2", _softmax_v2),
    Meaning("LogSoftmaxV2", _log_softmax_v2),
    Meaning("HardMax", _hard_max),
)
