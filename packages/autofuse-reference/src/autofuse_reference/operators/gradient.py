"""The meaning of the gradients of activations."""

import math

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators import float_math
from autofuse_reference.operators.activation import TANH_GELU_CUBIC, scalar
from autofuse_reference.operators.axes import normalised, total
from autofuse_reference.operators.call import Call, Meaning, binary
from autofuse_reference.operators.error_function import erf
from autofuse_reference.operators.extremes import minimum


def _relu_grad(gradients: Array, features: Array) -> Array:
    return np.where(features > 0, gradients, gradients.dtype.type(0))


def _leaky_relu_grad(call: Call) -> Array:
    gradients, features = call.array("gradients"), call.array("features")
    return np.where(features > 0, gradients, scalar(gradients, call.number("negative_slope")) * gradients)


def _elu_grad(grads: Array, activations: Array) -> Array:
    return np.asarray(grads * (minimum(activations, scalar(activations, 0)) + 1))


def gelu_derivative(x: Array, approximate: str) -> Array:
    """Return the derivative of Gelu at ``x``."""
    if approximate == "tanh":
        a, b = scalar(x, math.sqrt(2 / math.pi)), scalar(x, TANH_GELU_CUBIC)
        t = np.tanh(a * (x + b * x * x * x))
        return np.asarray(0.5 * (1 + t) + 0.5 * x * (1 - t * t) * a * (1 + 3 * b * x * x))
    distribution = 0.5 * (1 + erf(x * scalar(x, math.sqrt(0.5))))
    return np.asarray(distribution + x * np.exp(-0.5 * x * x) * scalar(x, 1 / math.sqrt(2 * math.pi)))


def _silu_grad(dy: Array, x: Array) -> Array:
    s = float_math.sigmoid(x)
    return np.asarray(dy * s * (1 + x * (1 - s)))


def _softmax_grad(call: Call) -> Array:
    forward, grad = call.array("softmax"), call.array("grad_softmax")
    axes = normalised(call, call.integers("axes"), grad.ndim)
    return np.asarray((grad - total(grad * forward, axes, keep=True)) * forward)


def _softmax_grad_ext(call: Call) -> Array:
    grad, x1, x2 = call.array("grad"), call.array("x1"), call.array("x2")
    product = grad * x1
    axes = normalised(call, (call.integer("axes"),), product.ndim)
    return np.asarray((grad - total(product, axes, keep=call.flag("keep_dims"))) * x1 * x2)


def _confusion_softmax_grad(call: Call) -> Array:
    grad, x = call.array("grad"), call.array("x")
    return np.asarray(grad - total(grad * x, (grad.ndim - 1,), keep=True))


def _log_softmax_grad(call: Call) -> Array:
    grad, x = call.array("grad"), call.array("x")
    return np.asarray(grad - np.exp(x) * total(grad, normalised(call, call.integers("axis"), grad.ndim), keep=True))


MEANINGS: tuple[Meaning, ...] = (
    binary("ReluGrad", _relu_grad),
    Meaning("LeakyReluGrad", _leaky_relu_grad),
    binary("EluGrad", _elu_grad),
    binary("SigmoidGrad", lambda y, dy: dy * y * (1 - y)),
    binary("TanhGrad", lambda y, dy: dy * (1 - y * y)),
    binary("RsqrtGrad", lambda y, dy: -0.5 * dy * y * y * y),
    binary("SqrtGrad", lambda y, dy: dy / (2 * y)),
    binary("ReciprocalGrad", lambda y, dy: -dy * y * y),
    binary("AbsGrad", lambda y, dy: dy * np.sign(y)),
    binary("GeluGrad", lambda dy, x: dy * gelu_derivative(x, "tanh")),
    Meaning("GeluGradV2", lambda call: call.array("dy") * gelu_derivative(call.array("x"), call.text("approximate"))),
    binary("SiluGrad", _silu_grad),
    Meaning("SoftmaxGrad", _softmax_grad),
    Meaning("SoftmaxGradExt", _softmax_grad_ext),
    Meaning("ConfusionSoftmaxGrad", _confusion_softmax_grad),
    Meaning("LogSoftmaxGrad", _log_softmax_grad),
)
