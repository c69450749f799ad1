"""Softmax, its logarithm, and their gradients."""

from autofuse_ir.graph import Node

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import sub
from autofuse_fusion.lower.space import Space, SpaceOf, axes_attr, one_each
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values


def along(attr: str) -> SpaceOf:
    """Return the space of an operator whose values all have the shape of its first input, reduced along ``attr``."""

    def space(node: Node, values: Values) -> Space | None:
        assert node.inputs[0] is not None
        shape = values.shape(node.inputs[0])
        axes = axes_attr(node, attr, len(shape))
        whole = one_each(range(len(shape)))
        return None if axes is None else Space(shape, (whole,) * len(node.inputs), (whole,) * len(node.outputs), axes)

    return space


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


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("SoftmaxV2", lambda call: softmax(call, call.tensor("x")), space=along("axes")),
    Lowering("LogSoftmaxV2", lambda call: log_softmax(call, call.tensor("x")), space=along("axes")),
)
