"""The meaning of batch normalisation, forward and backward; channels are axis 1."""

import math

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.activation import scalar
from autofuse_reference.operators.axes import total
from autofuse_reference.operators.call import Call, Meaning
from autofuse_reference.operators.norm import per_channel


def _others(x: Array) -> tuple[int, ...]:
    return tuple(axis for axis in range(x.ndim) if axis != 1)


def _count(x: Array) -> int:
    return math.prod(x.shape[axis] for axis in _others(x))


def _reduce(call: Call) -> tuple[Array, Array]:
    x = call.array("x")
    return total(x, _others(x)), total(x * x, _others(x))


def _normalise(call: Call, average: Array, variance: Array) -> Array:
    """Return scale * (x - average) / sqrt(variance + epsilon) + offset."""
    x, rank = call.array("x"), call.array("x").ndim
    factor = np.asarray(call.array("scale") / np.sqrt(variance + scalar(variance, call.number("epsilon"))))
    shifted = (x - per_channel(average, rank)) * per_channel(factor, rank)
    return np.asarray(shifted + per_channel(call.array("offset"), rank))


def _batch_moments(call: Call) -> tuple[Array, Array, Array]:
    """Return mean, biased and unbiased variance from the sums; one element has no unbiased variance but 0."""
    x, average = call.array("x"), call.array("sum") / _count(call.array("x"))
    biased = call.array("square_sum") / _count(x) - average * average
    unbiased = biased * (_count(x) / max(_count(x) - 1, 1))
    return np.asarray(average), np.asarray(biased), np.asarray(unbiased)


def _update(call: Call) -> tuple[Array, ...]:
    average, biased, unbiased = _batch_moments(call)
    factor = scalar(average, call.number("factor"))
    y = _normalise(call, average, biased)
    running_mean = call.array("mean") * (1 - factor) + average * factor
    running_variance = call.array("variance") * (1 - factor) + unbiased * factor
    return y, np.asarray(running_mean), np.asarray(running_variance), average, biased


def _update_v3(call: Call) -> tuple[Array, ...]:
    average, biased, unbiased = _batch_moments(call)
    y = _normalise(call, average, biased)
    return y, average, unbiased, average, biased


def _normal(call: Call) -> tuple[Array, Array]:
    """Return the normalised x and 1 / sqrt(variance + epsilon), both shaped to broadcast."""
    x, variance = call.array("x"), call.array("batch_variance")
    rstd = per_channel(np.asarray(1 / np.sqrt(variance + scalar(variance, call.number("epsilon")))), x.ndim)
    return np.asarray((x - per_channel(call.array("batch_mean"), x.ndim)) * rstd), rstd


def _update_grad(call: Call) -> tuple[Array, Array]:
    grads = call.array("grads")
    normal, _ = _normal(call)
    return total(grads * normal, _others(grads)), total(grads, _others(grads))


def _reduce_grad(call: Call) -> Array:
    grads, rank = call.array("grads"), call.array("grads").ndim
    normal, rstd = _normal(call)
    scale, diff_scale, diff_offset = (
        per_channel(call.array(name), rank) for name in ("scale", "diff_scale", "diff_offset")
    )
    count = _count(grads)
    return np.asarray(scale * rstd * (grads - diff_offset / count - normal * diff_scale / count))


def _inference_d(call: Call) -> Array:
    x, scale, shift = call.array("x"), call.optional("scale"), call.optional("b")
    y = (x + per_channel(call.array("mean"), x.ndim)) * per_channel(call.array("variance"), x.ndim)
    y = y if scale is None else y * per_channel(scale, x.ndim)
    return np.asarray(y if shift is None else y + per_channel(shift, x.ndim))


MEANINGS: tuple[Meaning, ...] = (
    Meaning("BNTrainingReduce", _reduce),
    Meaning("BNTrainingUpdate", _update),
    Meaning("BNTrainingUpdateV3", _update_v3),
    Meaning("BNTrainingUpdateGrad", _update_grad),
    Meaning("BNTrainingReduceGrad", _reduce_grad),
    Meaning("BNInferenceD", _inference_d),
    Meaning("BNInfer", lambda call: _normalise(call, call.array("mean"), call.array("variance"))),
)
