"""The meaning of normalisations and rotary embeddings."""

import math

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.activation import scalar
from autofuse_reference.operators.axes import mean, normalised, total
from autofuse_reference.operators.call import Call, Meaning
from autofuse_reference.operators.gather import checked


def per_channel(values: Array, rank: int, axis: int = 1) -> Array:
    """Return a vector shaped to broadcast along ``axis`` of a tensor of ``rank``."""
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def moments(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return mean and (biased) variance over ``axes``, which stay with size 1."""
    average = mean(x, axes, keep=True)
    return average, mean(np.square(x - average), axes, keep=True)


def layer_norm(
    x: Array, gamma: Array | None, beta: Array | None, axes: tuple[int, ...], epsilon: float
) -> tuple[Array, Array, Array, Array]:
    """Return the normalised ``x``, and its mean, variance and 1 / sqrt(variance + epsilon)."""
    average, variance = moments(x, axes)
    rstd = 1 / np.sqrt(variance + scalar(x, epsilon))
    y = (x - average) * rstd
    y = y if gamma is None else y * gamma
    return np.asarray(y if beta is None else y + beta), average, variance, np.asarray(rstd)


def _from(call: Call, name: str) -> tuple[int, ...]:
    rank = call.array("x").ndim
    (first,) = normalised(call, (call.integer(name),), rank)
    return tuple(range(first, rank))


def _layer_norm(call: Call) -> tuple[Array, ...]:
    axes, epsilon = _from(call, "begin_norm_axis"), call.number("epsilon")
    y, average, variance, _ = layer_norm(call.array("x"), call.array("gamma"), call.array("beta"), axes, epsilon)
    return y, average, variance


def _layer_norm_v3(call: Call) -> tuple[Array, ...]:
    axes, epsilon = _from(call, "begin_norm_axis"), call.number("epsilon")
    y, average, _, rstd = layer_norm(call.array("x"), call.array("gamma"), call.array("beta"), axes, epsilon)
    return y, average, rstd


def _layer_norm_v4(call: Call) -> tuple[Array, ...]:
    x, shape = call.array("x"), call.operand("normalized_shape")
    if shape != x.shape[x.ndim - len(shape) :]:
        call.fail(f"normalized_shape {list(shape)} is not the end of shape {list(x.shape)}")
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    gamma, beta = call.optional("gamma"), call.optional("beta")
    y, average, _, rstd = layer_norm(x, gamma, beta, axes, call.number("epsilon"))
    return y, average, rstd


def _last(gamma: Array, x: Array) -> tuple[int, ...]:
    """Return the trailing axes that ``gamma`` covers."""
    return tuple(range(x.ndim - gamma.ndim, x.ndim))


def _add_layer_norm(call: Call) -> tuple[Array, ...]:
    gamma, bias = call.array("gamma"), call.optional("bias")
    x = call.array("x1") + call.array("x2")
    x = x if bias is None else x + bias
    y, average, _, rstd = layer_norm(x, gamma, call.array("beta"), _last(gamma, x), call.number("epsilon"))
    return y, average, rstd, x


def _rms(call: Call, x: Array) -> tuple[Array, Array]:
    gamma = call.array("gamma")
    rstd = 1 / np.sqrt(mean(np.square(x), _last(gamma, x), keep=True) + scalar(x, call.number("epsilon")))
    return np.asarray(x * rstd * gamma), np.asarray(rstd)


def _add_rms_norm(call: Call) -> tuple[Array, ...]:
    x = np.asarray(call.array("x1") + call.array("x2"))
    return (*_rms(call, x), x)


def _layer_norm_backward(call: Call, rstd: Array) -> tuple[Array, Array]:
    dy, x, average, gamma = call.array("dy"), call.array("x"), call.array("mean"), call.array("gamma")
    axes = _last(gamma, x)
    normal = (x - average) * rstd
    scaled = dy * gamma
    inner = scaled - mean(scaled, axes, keep=True) - normal * mean(scaled * normal, axes, keep=True)
    return np.asarray(inner * rstd), np.asarray(normal)


def _layer_norm_backward_v2(call: Call) -> tuple[Array, Array]:
    variance = call.array("variance")
    return _layer_norm_backward(call, 1 / np.sqrt(variance + scalar(variance, LAYER_NORM_BACKWARD_EPSILON)))


LAYER_NORM_BACKWARD_EPSILON = 1e-12
"""LayerNormXBackpropV2 has no epsilon attribute: the one its forward operators are least sensitive to."""


def _gamma_beta_backward(call: Call) -> tuple[Array, Array]:
    dy, residual, shape = call.array("dy"), call.array("res_for_gamma"), call.integers("shape_gamma")
    lead = dy.ndim - len(shape)
    if -1 in shape:
        summed = tuple(i for i, size in enumerate(shape) if size == -1)
    else:
        summed = (*range(lead), *(lead + i for i, size in enumerate(shape) if size == 1 != dy.shape[lead + i]))
    kept = tuple(size for size in shape if size != -1)
    results = (total(dy * residual, summed), total(dy, summed))
    return results[0].reshape(kept), results[1].reshape(kept)


def _group_norm(call: Call) -> tuple[Array, ...]:
    x, groups = call.array("x"), call.integer("num_groups")
    last = call.text("data_format") == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    if groups < 1 or x.shape[1] % groups:
        call.fail(f"{x.shape[1]} channels are not made of {groups} groups")
    # not -1: no size in place of it would be the only one for an empty batch
    grouped = x.reshape(x.shape[0], groups, x.shape[1] // groups * math.prod(x.shape[2:]))
    y, average, _, rstd = layer_norm(grouped, None, None, (2,), call.number("eps"))
    gamma, beta = call.array("gamma"), call.array("beta")
    if gamma.size == groups != x.shape[1]:
        gamma, beta = (np.repeat(v.reshape(-1), x.shape[1] // groups) for v in (gamma, beta))
    y = y.reshape(x.shape) * per_channel(gamma, x.ndim) + per_channel(beta, x.ndim)
    return np.moveaxis(y, 1, -1) if last else y, average[..., 0], rstd[..., 0]


def _instance_norm(call: Call) -> tuple[Array, ...]:
    x = call.array("x")
    channel = x.ndim - 1 if call.text("data_format") in ("NHWC", "NDHWC") else 1
    axes = tuple(axis for axis in range(1, x.ndim) if axis != channel)
    gamma, beta = (per_channel(call.array(name), x.ndim, channel) for name in ("gamma", "beta"))
    y, average, variance, _ = layer_norm(x, gamma, beta, axes, call.number("epsilon"))
    return y, average, variance


def _rotate(x: Array, interleaved: bool) -> Array:
    if interleaved:
        return np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    first, second = np.split(x, 2, -1)
    return np.concatenate([-second, first], -1)


def _rotary_position(call: Call) -> Array:
    x = call.array("x")
    return np.asarray(x * call.array("cos") + _rotate(x, call.integer("mode") == 1) * call.array("sin"))


def _heads(call: Call, x: Array) -> Array:
    """Return [batch, sequence, heads * head size] as [batch, heads, sequence, head size]."""
    heads = call.integer("num_heads")
    if heads < 1 or x.shape[2] % heads:
        call.fail(f"{x.shape[2]} elements do not make {heads} heads", "set num_heads")
    # not -1: no size in place of it would be the only one for an empty batch
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def _rotary_embedding(call: Call) -> Array:
    x, positions = call.array("X"), call.optional("position_ids")
    cos, sin = call.array("cos_cache"), call.array("sin_cache")
    if positions is not None:
        positions = checked(call, positions, cos.shape[0], negative=False)
        cos, sin = cos[positions], sin[positions]
    # [batch, heads, sequence, head size], whatever the rank of X.
    four = x if x.ndim == 4 else _heads(call, x)
    size = call.integer("rotary_embedding_dim") or four.shape[-1]
    interleaved = bool(call.integer("interleaved"))
    turned, rest = four[..., :size], four[..., size:]
    spread = np.repeat if interleaved else (lambda v, n, axis: np.concatenate([v] * n, axis))
    cos, sin = (spread(v[:, None, :, : size // 2], 2, -1) for v in (cos, sin))
    result = np.concatenate([turned * cos + _rotate(turned, interleaved) * sin, rest], -1)
    return result if x.ndim == 4 else result.transpose(0, 2, 1, 3).reshape(x.shape)


def _lp_normalization(call: Call) -> Array:
    x, p = call.array("input"), call.integer("p")
    axes = normalised(call, (call.integer("axis"),), x.ndim)
    norm = total(np.abs(x), axes, keep=True) if p == 1 else np.sqrt(total(x * x, axes, keep=True))
    return np.where(norm == 0, x.dtype.type(0), x / np.where(norm == 0, x.dtype.type(1), norm))


def _mean_variance(call: Call) -> Array:
    x = call.array("X")
    axes = normalised(call, call.integers("axes"), x.ndim)
    average = mean(x, axes, keep=True)
    deviation = np.sqrt(mean(x * x, axes, keep=True) - average * average)
    return np.asarray((x - average) / (deviation + scalar(x, 1e-9)))


def _lrn(call: Call) -> Array:
    x, size = call.array("X"), call.integer("size")
    if size < 1:
        call.fail(f"the size is {size}", "use one of 1 or more")
    before, after = math.floor((size - 1) / 2), math.ceil((size - 1) / 2)
    squares = np.square(x)
    sums = np.zeros_like(x)
    for channel in range(x.shape[1]):
        sums[:, channel] = squares[:, max(0, channel - before) : channel + after + 1].sum(axis=1)
    alpha, beta, bias = (call.number(name) for name in ("alpha", "beta", "bias"))
    return np.asarray(x / (scalar(x, bias) + scalar(x, alpha / size) * sums) ** scalar(x, beta))


MEANINGS: tuple[Meaning, ...] = (
    Meaning("LayerNorm", _layer_norm),
    Meaning("LayerNormV3", _layer_norm_v3),
    Meaning("LayerNormV4", _layer_norm_v4),
    Meaning("AddLayerNorm", _add_layer_norm),
    Meaning("LayerNormXBackpropV2", _layer_norm_backward_v2),
    Meaning("LayerNormXBackpropV3", lambda call: _layer_norm_backward(call, call.array("rstd"))),
    Meaning("LayerNormBetaGammaBackpropV2", _gamma_beta_backward),
    Meaning("RmsNorm", lambda call: _rms(call, call.array("x"))),
    Meaning("AddRmsNorm", _add_rms_norm),
    Meaning("GroupNorm", _group_norm),
    Meaning("InstanceNorm", _instance_norm),
    Meaning("RotaryPositionEmbedding", _rotary_position),
    Meaning("RotaryEmbedding", _rotary_embedding),
    Meaning("LpNormalization", _lp_normalization),
    Meaning("MeanVarianceNormalization", _mean_variance),
    Meaning("LRN", _lrn),
)
