"""The meaning of losses."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.activation import log_softmax, softmax
from autofuse_reference.operators.axes import total
from autofuse_reference.operators.call import Call, Meaning
from autofuse_reference.operators.gather import checked


def _cross_entropy(call: Call) -> tuple[Array, Array]:
    features, labels = call.array("features"), call.array("labels")
    axis = (features.ndim - 1,)
    return -total(labels * log_softmax(features, axis), axis), softmax(features, axis) - labels


def _sparse_cross_entropy(call: Call) -> tuple[Array, Array]:
    features = call.array("features")
    labels = checked(call, call.array("labels"), features.shape[-1], negative=False)[..., None]
    axis = (features.ndim - 1,)
    one_hot = (labels == np.arange(features.shape[-1])).astype(features.dtype)
    loss = -np.take_along_axis(log_softmax(features, axis), labels, -1)[..., 0]
    return loss, softmax(features, axis) - one_hot


def _likelihood(call: Call, log_probabilities: Array, target: Array, weight: Array | None) -> Array:
    """Return minus the (weighted) log-probability of the targets; classes are axis 1."""
    attr = call.attrs["ignore_index"]
    ignored = np.zeros(target.shape, np.bool_) if attr is None else target == call.integer("ignore_index")
    classes = checked(call, np.where(ignored, 0, target), log_probabilities.shape[1], negative=False)
    picked = np.take_along_axis(log_probabilities, np.expand_dims(classes, 1), 1)[:, 0]
    weights = np.ones(target.shape, picked.dtype) if weight is None else weight[classes]
    weights = np.where(ignored, picked.dtype.type(0), weights)
    loss = np.where(ignored, picked.dtype.type(0), -picked * weights)
    everything = tuple(range(loss.ndim))
    match call.text("reduction"):
        case "none":
            return loss
        case "sum":
            return total(loss, everything)
        case "mean":
            return np.asarray(total(loss, everything) / total(weights, everything))
        case other:
            call.fail(f"the reduction is {other!r}", "use none, sum or mean")


def _softmax_cross_entropy(call: Call) -> tuple[Array, Array]:
    log_probabilities = log_softmax(call.array("scores"), (1,))
    loss = _likelihood(call, log_probabilities, call.array("labels"), call.optional("weights"))
    return loss, log_probabilities


def _negative_log_likelihood(call: Call) -> Array:
    return _likelihood(call, call.array("input"), call.array("target"), call.optional("weight"))


MEANINGS: tuple[Meaning, ...] = (
    Meaning("SoftmaxCrossEntropyWithLogits", _cross_entropy),
    Meaning("SparseSoftmaxCrossEntropyWithLogits", _sparse_cross_entropy),
    Meaning("NegativeLogLikelihoodLoss", _negative_log_likelihood),
    Meaning("SoftmaxCrossEntropyLoss", _softmax_cross_entropy),
)
