"""Softmax, its logarithm, their gradients, and cross entropy with distributions."""

from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import mul, sub
from autofuse_fusion.lower.space import Space, SpaceOf, axes_attr, kept, normalised, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values


def along(attr: str) -> SpaceOf:
    """Return the space of an operator that broadcasts its inputs to its result and reduces along ``attr``."""

    def found(node: Node, values: Values) -> Space | None:
        shape = values.shape(node.outputs[0])
        axes = axes_attr(node, attr, len(shape))
        return None if axes is None else space(node, values, shape, axes)

    return found


def _along_last(node: Node, values: Values) -> Space:
    shape = values.shape(node.outputs[0])
    return space(node, values, shape, (len(shape) - 1,))


def _cross_entropy_space(node: Node, values: Values) -> Space:
    assert node.inputs[0] is not None
    shape = values.shape(node.inputs[0])
    classes = normalised((-1,), len(shape)) or ()
    return space(node, values, shape, classes, {"-> loss": kept(len(shape), classes, False)})


def shifted(call: Call, x: Tensor) -> Tensor:
    """Return x - max(x): no exponential of it overflows."""
    return sub(call, x, call.reduce("Max", x))


def softmax(call: Call, x: Tensor) -> Tensor:
    """Return exp(x - max) / sum."""
    exponentials = call.apply("Exp", shifted(call, x))
    return call.apply("Div", exponentials, call.reduce("Sum", exponentials))


def log_softmax(call: Call, x: Tensor) -> Tensor:
    """Return x - max - ln(sum(exp(x - max)))."""
    below = shifted(call, x)
    return sub(call, below, call.apply("Ln", call.reduce("Sum", call.apply("Exp", below))))


def _softmax_grad(call: Call) -> Tensor:
    forward, grad = call.tensor("softmax"), call.tensor("grad_softmax")
    return mul(call, sub(call, grad, call.reduce("Sum", mul(call, grad, forward))), forward)


def _softmax_grad_ext(call: Call) -> Tensor:
    grad, x1 = call.tensor("grad"), call.tensor("x1")
    inner = sub(call, grad, call.reduce("Sum", mul(call, grad, x1)))
    return mul(call, mul(call, inner, x1), call.tensor("x2"))


def _confusion_softmax_grad(call: Call) -> Tensor:
    grad = call.tensor("grad")
    return sub(call, grad, call.reduce("Sum", mul(call, grad, call.tensor("x"))))


def _log_softmax_grad(call: Call) -> Tensor:
    grad = call.tensor("grad")
    return sub(call, grad, mul(call, call.apply("Exp", call.tensor("x")), call.reduce("Sum", grad)))


def _cross_entropy(call: Call) -> tuple[Tensor, ...]:
    features, labels = call.tensor("features"), call.tensor("labels")
    loss = call.apply("Neg", call.reduce("Sum", mul(call, labels, log_softmax(call, features))))
    return loss, sub(call, softmax(call, features), labels)


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("SoftmaxV2", lambda call: softmax(call, call.tensor("x")), space=along("axes")),
    Lowering("LogSoftmaxV2", lambda call: log_softmax(call, call.tensor("x")), space=along("axes")),
    Lowering("SoftmaxGrad", _softmax_grad, space=along("axes")),
    Lowering(
        "SoftmaxGradExt",
        _softmax_grad_ext,
        accepts=lambda node: bool(attr_of(node, "keep_dims")),
        space=along("axes"),
    ),
    Lowering("ConfusionSoftmaxGrad", _confusion_softmax_grad, space=_along_last),
    Lowering("LogSoftmaxGrad", _log_softmax_grad, space=along("axis")),
    Lowering("SoftmaxCrossEntropyWithLogits", _cross_entropy, space=_cross_entropy_space),
)
