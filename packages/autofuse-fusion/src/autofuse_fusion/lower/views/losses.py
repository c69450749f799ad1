"""Losses of class numbers: the logarithm of the probability of the class is read where it lies, by an index."""

from collections.abc import Callable

from autofuse_ir.dims import product
from autofuse_ir.dtypes import bool_, int64
from autofuse_ir.fused_graph import Reason

from autofuse_fusion.index_map import at, given
from autofuse_fusion.lower.views.call import NotLoweredError, ViewCall, ViewLowering
from autofuse_fusion.lower.views.softmaxes import SoftmaxSteps
from autofuse_fusion.lower.views.steps import Steps


def _of_class(call: ViewCall, scores: str, classes: str, axis: int) -> str:
    """Return ``scores`` at the class numbers, which have its shape without ``axis``."""
    shape = call.shape_of(classes)
    places = [at(dim) for dim in range(len(shape))]
    places.insert(axis, given(0))
    return call.builder.gather(scores, shape, tuple(places), [classes])


def _log_probability(softmax: SoftmaxSteps, classes: str, axis: int) -> str:
    """Return the logarithm of the probability of each class number."""
    steps, shape = softmax.steps, softmax.steps.shape(classes)
    picked = steps.wide(_of_class(steps.call, softmax.scores, classes, axis))
    below = steps.apply("Sub", picked, steps.reshaped(softmax.peak, shape))
    return steps.apply("Sub", below, steps.reshaped(softmax.log_total, shape))


def _sparse(call: ViewCall) -> None:
    steps, features, labels = Steps(call), call.value("features"), call.value("labels")
    shape = call.shape("features")
    axis = len(shape) - 1
    softmax = SoftmaxSteps(steps, features, (axis,))
    loss, backprop = (*call.node.outputs, "")[:2]
    if loss:
        steps.finish(loss, steps.apply("Neg", _log_probability(softmax, labels, axis)))
    if backprop:
        index = call.builder.cast(call.builder.index(shape, axis), int64)
        wanted = call.builder.cast(call.builder.view(labels, shape, tuple(at(dim) for dim in range(axis))), int64)
        hit = steps.apply("Equal", index, wanted, shape=shape, dtype=bool_)
        dtype = steps.dtype(softmax.wide)
        probability = steps.apply("RealDiv", softmax.exponentials, softmax.total)
        steps.finish(backprop, steps.apply("Sub", probability, call.builder.cast(hit, dtype)))


def _likelihood(call: ViewCall) -> None:
    _weighed(
        call, "target", "weight", lambda steps, classes: steps.wide(_of_class(call, call.value("input"), classes, 1))
    )


def _cross_entropy(call: ViewCall) -> None:
    softmax = SoftmaxSteps(Steps(call), call.value("scores"), (1,))
    _weighed(call, "labels", "weights", lambda _, classes: _log_probability(softmax, classes, 1))
    log_probabilities = (*call.node.outputs, "")[1]
    if log_probabilities:
        softmax.steps.finish(log_probabilities, softmax.steps.apply("Sub", softmax.below, softmax.log_total))


def _weighed(call: ViewCall, labels: str, weights: str, log_probability: Callable[[Steps, str], str]) -> None:
    """Finish minus the weighted log-probability of the classes in ``labels``, none of those ignored, reduced."""
    steps, builder = Steps(call), call.builder
    classes = call.value(labels)
    shape = call.shape_of(classes)
    ignored = None
    if call.attr("ignore_index") is not None:
        ignored = steps.compare("Equal", classes, steps.number(call.integer("ignore_index"), classes))
        # What is ignored may be no class at all: class 0 is read in its place.
        classes = steps.choose(ignored, steps.number(0, classes), classes, shape)
    loss = steps.apply("Neg", log_probability(steps, classes))
    zero = steps.number(0, loss)
    weight = None
    if call.has(weights):
        weight = steps.wide(builder.gather(call.value(weights), shape, (given(0),), [classes]))
        loss = steps.apply("Mul", loss, weight)
    if ignored is not None:
        loss = steps.choose(ignored, zero, loss, shape)
        weight = steps.choose(ignored, zero, steps.number(1, loss) if weight is None else weight, shape)
    everything = tuple(range(len(shape)))
    match call.text("reduction"):
        case "none":
            steps.finish(call.result, loss)
        case "sum":
            steps.finish(call.result, steps.reduce("ReduceSumD", loss, everything, keep=False))
        case "mean":
            total = steps.reduce("ReduceSumD", loss, everything, keep=False)
            if weight is None:
                count = builder.cast(builder.size(product(shape), int64), steps.dtype(loss))
            else:
                count = steps.reduce("ReduceSumD", weight, everything, keep=False)
            steps.finish(call.result, steps.apply("RealDiv", total, count))
        case _:
            raise NotLoweredError(Reason.HOST_OPERATOR)


LOWERINGS: dict[str, ViewLowering] = {
    "SparseSoftmaxCrossEntropyWithLogits": _sparse,
    "NegativeLogLikelihoodLoss": _likelihood,
    "SoftmaxCrossEntropyLoss": _cross_entropy,
}
