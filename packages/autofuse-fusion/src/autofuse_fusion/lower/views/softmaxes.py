"""Softmaxes as steps, where elements of what they make are picked by index.

Only what is picked is computed then, from the row's largest and its sum, and no row is stored::

    GatherElements(LogSoftmax(x), labels)   ->   GatherElements(x, labels) - max(x) - log(sum(exp(x - max(x))))
"""

from collections.abc import Mapping, Sequence

from autofuse_ir.dims import product
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of
from autofuse_ir.operators.bind import Bound, bind

from autofuse_fusion.lower.space import axes_attr, normalised
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.steps import Steps
from autofuse_fusion.values import Values

_SOURCE = {"GatherElements": "x", "GatherV2": "x", "NegativeLogLikelihoodLoss": "input"}
"""Operators that take elements along one axis, and the input that they take them from."""


class SoftmaxSteps:
    """The steps of a softmax of ``scores`` along ``axes``; ``peak`` and ``total`` are one wide there."""

    def __init__(self, steps: Steps, scores: str, axes: tuple[int, ...]) -> None:
        self.steps, self.scores = steps, scores
        self.wide = steps.wide(scores)
        self.peak = steps.reduce("ReduceMaxD", self.wide, axes, keep=True)
        self.below = steps.apply("Sub", self.wide, self.peak)
        self.exponentials = steps.apply("Exp", self.below)
        self.total = steps.reduce("ReduceSumD", self.exponentials, axes, keep=True)
        self.log_total = steps.apply("Log", self.total)


def _softmax(call: ViewCall) -> None:
    softmax = _steps(call)
    softmax.steps.finish(call.result, softmax.steps.apply("RealDiv", softmax.exponentials, softmax.total))


def _log_softmax(call: ViewCall) -> None:
    softmax = _steps(call)
    softmax.steps.finish(call.result, softmax.steps.apply("Sub", softmax.below, softmax.log_total))


def _steps(call: ViewCall) -> SoftmaxSteps:
    scores = call.value("x")
    axes = axes_attr(call.node, "axes", len(call.shape_of(scores)))
    assert axes is not None, "picked elements lie along known axes"
    return SoftmaxSteps(Steps(call), scores, axes)


def is_picked(node: Node, readers: Sequence[Node], values: Values) -> bool:
    """True where every reader of a softmax takes elements along its axes by index, and half of them at most."""
    shape = values.fact(node.outputs[0]).shape
    if shape is None or not readers:
        return False
    axes = axes_attr(node, "axes", len(shape))
    if axes is None:
        return False
    taken = 0
    for reader in readers:
        bound = bind(reader)
        axis = _axis_taken(reader, bound, values, len(shape))
        if axis not in axes or bound.get(_SOURCE[reader.op]) != node.outputs[0]:
            return False
        count = _elements_taken(reader, bound, values)
        if count is None:
            return False
        taken += count
    return 2 * taken <= values.sizes.hint(product(shape))


def _axis_taken(reader: Node, bound: Mapping[str, Bound], values: Values, rank: int) -> int | None:
    """Return the axis of a tensor of ``rank`` dims along which ``reader`` takes elements; None where it takes none."""
    numbers: tuple[int, ...] | None
    match reader.op:
        case "GatherElements":
            found = attr_of(reader, "dim")
            numbers = (found,) if isinstance(found, int) else None
        case "GatherV2":
            value = bound["axis"]
            numbers = values.numbers(value) if isinstance(value, str) else None
        case "NegativeLogLikelihoodLoss":
            numbers = (1,)
        case _:
            return None
    axes = normalised(numbers, rank) if numbers is not None else None
    return axes[0] if axes is not None and len(axes) == 1 else None


def _elements_taken(reader: Node, bound: Mapping[str, Bound], values: Values) -> int | None:
    """Return how many elements ``reader`` takes, at the hints."""
    name = bound["target"] if reader.op == "NegativeLogLikelihoodLoss" else reader.outputs[0]
    shape = values.fact(name).shape if isinstance(name, str) else None
    return None if shape is None else values.sizes.hint(product(shape))


LOWERINGS: dict[str, ViewLowering] = {"SoftmaxV2": _softmax, "LogSoftmaxV2": _log_softmax}
