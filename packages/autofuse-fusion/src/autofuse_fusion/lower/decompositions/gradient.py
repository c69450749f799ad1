"""Gradients of activations and element-wise operators."""

import math

from autofuse_reference.arrays import numpy_dtype

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.activation import TANH_GELU_CUBIC
from autofuse_fusion.lower.decompositions.functions import add, mul, one_minus, plus, quotient, times
from autofuse_fusion.lower.writer import Tensor


def _relu_grad(call: Call) -> Tensor:
    gradients, features = call.tensor("gradients"), call.tensor("features")
    positive = call.apply("Gt", features, call.scalar(0, features))
    return call.select(positive, gradients, call.scalar(0, gradients))


def _leaky_relu_grad(call: Call) -> Tensor:
    gradients, features = call.tensor("gradients"), call.tensor("features")
    positive = call.apply("Gt", features, call.scalar(0, features))
    return call.select(positive, gradients, times(call, gradients, call.number("negative_slope")))


def _elu_grad(call: Call) -> Tensor:
    activations = call.tensor("activations")
    slope = plus(call, call.apply("Minimum", activations, call.scalar(0, activations)), 1)
    return mul(call, call.tensor("grads"), slope)


def _sigmoid_grad(call: Call) -> Tensor:
    y = call.tensor("y")
    return mul(call, mul(call, call.tensor("dy"), y), one_minus(call, y))


def _tanh_grad(call: Call) -> Tensor:
    y = call.tensor("y")
    return mul(call, call.tensor("dy"), one_minus(call, mul(call, y, y)))


def _rsqrt_grad(call: Call) -> Tensor:
    y = call.tensor("y")
    return mul(call, mul(call, mul(call, times(call, call.tensor("dy"), -0.5), y), y), y)


def _reciprocal_grad(call: Call) -> Tensor:
    y = call.tensor("y")
    return mul(call, mul(call, call.apply("Neg", call.tensor("dy")), y), y)


def _gelu_derivative(call: Call, approximate: str) -> Tensor:
    x = call.tensor("x")
    if approximate != "tanh":
        distribution = times(call, plus(call, call.apply("Erf", times(call, x, math.sqrt(0.5))), 1), 0.5)
        bell = call.apply("Exp", mul(call, times(call, x, -0.5), x))
        return add(call, distribution, times(call, mul(call, x, bell), 1 / math.sqrt(2 * math.pi)))
    slope, cubic = math.sqrt(2 / math.pi), TANH_GELU_CUBIC
    cube = mul(call, mul(call, times(call, x, cubic), x), x)
    t = call.apply("Tanh", times(call, add(call, x, cube), slope))
    outer = times(call, plus(call, t, 1), 0.5)
    # 3 * cubic is rounded to the dtype of x, as the reference does.
    kind = numpy_dtype(x.dtype).type
    square = mul(call, times(call, x, float(kind(3) * kind(cubic))), x)
    inner = mul(call, times(call, x, 0.5), one_minus(call, mul(call, t, t)))
    return add(call, outer, mul(call, times(call, inner, slope), plus(call, square, 1)))


def _silu_grad(call: Call) -> Tensor:
    x = call.tensor("x")
    s = call.apply("Sigmoid", x)
    return mul(call, mul(call, call.tensor("dy"), s), plus(call, mul(call, x, one_minus(call, s)), 1))


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("ReluGrad", _relu_grad),
    Lowering("LeakyReluGrad", _leaky_relu_grad),
    Lowering("EluGrad", _elu_grad),
    Lowering("SigmoidGrad", _sigmoid_grad),
    Lowering("TanhGrad", _tanh_grad),
    Lowering("RsqrtGrad", _rsqrt_grad),
    Lowering("SqrtGrad", lambda call: quotient(call, call.tensor("dy"), times(call, call.tensor("y"), 2))),
    Lowering("ReciprocalGrad", _reciprocal_grad),
    Lowering("AbsGrad", lambda call: mul(call, call.tensor("dy"), call.apply("Sign", call.tensor("y")))),
    Lowering("GeluGrad", lambda call: mul(call, call.tensor("dy"), _gelu_derivative(call, "tanh")), unread=("y",)),
    Lowering(
        "GeluGradV2",
        lambda call: mul(call, call.tensor("dy"), _gelu_derivative(call, str(call.attr("approximate")))),
        accepts=lambda node: node.attr("approximate", "none") in ("none", "tanh"),
    ),
    Lowering("SiluGrad", _silu_grad),
)
