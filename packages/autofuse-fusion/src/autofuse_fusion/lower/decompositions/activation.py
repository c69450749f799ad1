"""Activations."""

import math

from autofuse_ir import dtypes as dt

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul, plus, quotient, softplus, sub, times
from autofuse_fusion.lower.writer import Tensor

SELU_ALPHA = 1.6732632423543772
"""Fixed point constants of Klambauer et al., "Self-Normalizing Neural Networks" (2017)."""
SELU_SCALE = 1.0507009873554805
TANH_GELU_CUBIC = 0.044715
"""Coefficient of x**3 in Hendrycks and Gimpel's tanh approximation of Gelu (2016)."""


def _relu(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.apply("Maximum", x, call.scalar(0, x))


def _relu6(call: Call) -> Tensor:
    x = _relu(call)
    return call.apply("Minimum", x, call.scalar(6, x))


def _leaky_relu(call: Call) -> Tensor:
    x = call.tensor("x")
    positive = call.apply("Ge", x, call.scalar(0, x))
    return call.select(positive, x, times(call, x, call.number("negative_slope")))


def _prelu(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.select(call.apply("Lt", x, call.scalar(0, x)), mul(call, x, call.tensor("weight")), x)


def _elu(call: Call, alpha: float, scale: float, input_scale: float) -> Tensor:
    x = call.tensor("x")
    zero = call.scalar(0, x)
    inner = call.apply("Expm1", times(call, call.apply("Minimum", x, zero), input_scale))
    chosen = call.select(call.apply("Gt", x, zero), x, times(call, inner, alpha))
    return times(call, chosen, scale)


def _celu(call: Call) -> Tensor:
    x, alpha = call.tensor("x"), call.number("alpha")
    zero = call.scalar(0, x)
    negative = times(call, call.apply("Expm1", call.apply("Div", x, call.scalar(alpha, x))), alpha)
    return add(call, call.apply("Maximum", x, zero), call.apply("Minimum", negative, zero))


def _hard_sigmoid(call: Call, alpha: float, beta: float) -> Tensor:
    x = call.tensor("x")
    line = plus(call, times(call, x, alpha), beta)
    return call.apply("Minimum", call.apply("Maximum", line, call.scalar(0, x)), call.scalar(1, x))


def _hard_shrink(call: Call) -> Tensor:
    x = call.tensor("x")
    small = call.apply("Le", call.apply("Abs", x), call.scalar(call.number("lambd"), x))
    return call.select(small, call.scalar(0, x), x)


def _soft_shrink(call: Call) -> Tensor:
    x = call.tensor("x")
    lambd, minus = call.scalar(call.number("lambd"), x), call.scalar(-call.number("lambd"), x)
    inside = times(call, x, 0)  # not the constant 0: NaN stays NaN
    low = call.select(call.apply("Lt", x, minus), add(call, x, lambd), inside)
    return call.select(call.apply("Gt", x, lambd), sub(call, x, lambd), low)


def _shrink(call: Call) -> Tensor:
    x, lambd = call.tensor("x"), call.number("lambd")
    # Integers are compared with the float bound as floats; the bias is truncated to their type.
    compared = x if x.dtype.is_float else call.cast(x, dt.float64)
    bias = call.scalar(call.number("bias"), x)
    high = call.select(call.apply("Gt", compared, call.scalar(lambd, compared)), sub(call, x, bias), call.scalar(0, x))
    return call.select(call.apply("Lt", compared, call.scalar(-lambd, compared)), add(call, x, bias), high)


def _thresholded_relu(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.select(call.apply("Gt", x, call.scalar(call.number("alpha"), x)), x, call.scalar(0, x))


def _threshold(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.select(call.apply("Gt", x, call.tensor("threshold")), x, call.tensor("value"))


def _gelu(call: Call, approximate: str) -> Tensor:
    x = call.tensor("x")
    half = times(call, x, 0.5)
    if approximate == "tanh":
        cubic = mul(call, mul(call, times(call, x, TANH_GELU_CUBIC), x), x)
        inner = times(call, add(call, x, cubic), math.sqrt(2 / math.pi))
        return mul(call, half, plus(call, call.apply("Tanh", inner), 1))
    return mul(call, half, plus(call, call.apply("Erf", times(call, x, math.sqrt(0.5))), 1))


def _swish(call: Call) -> Tensor:
    x = call.tensor("x")
    return mul(call, x, call.apply("Sigmoid", times(call, x, call.number("scale"))))


def _softsign(call: Call) -> Tensor:
    x = call.tensor("x")
    return quotient(call, x, plus(call, call.apply("Abs", x), 1))


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("Relu", _relu),
    Lowering("Relu6", _relu6),
    Lowering("LeakyRelu", _leaky_relu),
    Lowering("PRelu", _prelu),
    Lowering("Elu", lambda call: _elu(call, call.number("alpha"), call.number("scale"), call.number("input_scale"))),
    Lowering("CeluV2", _celu),
    Lowering("Selu", lambda call: _elu(call, SELU_ALPHA, SELU_SCALE, 1.0)),
    Lowering("Sigmoid", lambda call: call.apply("Sigmoid", call.tensor("x"))),
    Lowering("LogSigmoid", lambda call: call.apply("Neg", softplus(call, call.apply("Neg", call.tensor("x"))))),
    Lowering("HardSigmoid", lambda call: _hard_sigmoid(call, call.number("alpha"), call.number("beta"))),
    Lowering("HardSwish", lambda call: mul(call, call.tensor("x"), _hard_sigmoid(call, 1 / 6, 0.5))),
    Lowering("HardShrink", _hard_shrink),
    Lowering("SoftShrink", _soft_shrink),
    Lowering("Shrink", _shrink),
    Lowering("ThresholdedRelu", _thresholded_relu),
    Lowering("ThresholdV2", _threshold),
    Lowering("Gelu", lambda call: _gelu(call, "tanh")),
    Lowering(
        "GeluV2",
        lambda call: _gelu(call, str(call.attr("approximate"))),
        accepts=lambda node: node.attr("approximate", "none") in ("none", "tanh"),
    ),
    Lowering("Swish", _swish),
    Lowering("Mish", lambda call: mul(call, call.tensor("x"), call.apply("Tanh", softplus(call, call.tensor("x"))))),
    Lowering("Softplus", lambda call: softplus(call, call.tensor("x"))),
    Lowering("Softsign", _softsign),
)
