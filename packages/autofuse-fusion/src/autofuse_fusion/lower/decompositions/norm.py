"""Normalisations: deviations from the mean over axes, in units of their standard deviation.

The variance is taken by two passes: the mean first, then the mean of the squared deviations. MeanVarianceNormalization
alone is defined by the mean of the squares.
"""

from autofuse_ir.dims import const, floordiv
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, input_names, operator

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul, plus, sub
from autofuse_fusion.lower.decompositions.reduce import input_shape, mean, square_sum
from autofuse_fusion.lower.decompositions.softmax import along
from autofuse_fusion.lower.space import Lies, Space, as_int, axes_attr, one_each, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values

MEAN_VARIANCE_EPSILON = 1e-9
"""What ONNX adds to the deviation in MeanVarianceNormalization."""

LAYER_NORM_BACKWARD_EPSILON = 1e-12
"""LayerNormXBackpropV2 has no epsilon attribute: the one its forward operators are least sensitive to."""


def _last(node: Node, values: Values, count: int) -> Space:
    """Return the space of an operator that broadcasts to its first result and reduces the last ``count`` dims."""
    shape = values.shape(node.outputs[0])
    return space(node, values, shape, tuple(range(len(shape) - count, len(shape))))


def _from_axis(node: Node, values: Values) -> Space | None:
    rank = len(values.shape(node.outputs[0]))
    first = axes_attr(node, "begin_norm_axis", rank)
    return None if first is None else _last(node, values, rank - first[0])


def _by_shape(node: Node, values: Values) -> Space | None:
    assert node.inputs[1] is not None
    normal = values.fact(node.inputs[1]).shape
    count = None if normal is None or len(normal) != 1 else normal[0].constant_value
    return None if count is None else _last(node, values, count)


def _of_gamma(node: Node, values: Values) -> Space:
    names = input_names(operator(node.op), len(node.inputs))
    gamma = node.inputs[names.index("gamma")]
    assert gamma is not None
    return _last(node, values, len(values.shape(gamma)))


def _gamma_beta(node: Node, values: Values) -> Space:
    """Return the space of a sum over the dims where ``shape_gamma`` is -1, or where gamma broadcasts."""
    shape = input_shape(node, values)
    listed = attr_of(node, "shape_gamma")
    gamma = [as_int(size) for size in listed] if isinstance(listed, tuple) else []
    lead = len(shape) - len(gamma)
    if -1 in gamma:
        reduced = tuple(k for k, size in enumerate(gamma) if size == -1)
        lies: Lies = one_each(k for k in range(len(shape)) if k not in reduced)
    else:
        reduced = (*range(lead), *(lead + k for k, size in enumerate(gamma) if size == 1))
        lies = one_each(range(lead, len(shape)))
    return space(node, values, shape, reduced, {"-> pd_gamma": lies, "-> pd_beta": lies})


def _is_channel_last(node: Node) -> bool:
    return str(attr_of(node, "data_format")).endswith("C")


def _instance_space(node: Node, values: Values) -> Space:
    shape = input_shape(node, values)
    channel = len(shape) - 1 if _is_channel_last(node) else 1
    reduced = tuple(k for k in range(1, len(shape)) if k != channel)
    return space(node, values, shape, reduced, {"gamma": ((channel,),), "beta": ((channel,),)})


def _group_space(node: Node, values: Values) -> Space | None:
    """Return the space in which the channels are cut into groups and the channels of one group.

    None where that cut, or what gamma and beta belong to, cannot be proved.
    """
    shape, groups = input_shape(node, values), as_int(attr_of(node, "num_groups"))
    if groups is None:
        return None
    rank, sizes = len(shape), values.sizes
    channel = rank - 1 if _is_channel_last(node) else 1
    each = floordiv(shape[channel], groups)
    if not sizes.equal(each * const(groups), shape[channel]):
        return None
    cut = (*shape[:channel], const(groups), each, *shape[channel + 1 :])
    dims = [(k,) if k < channel else (k, k + 1) if k == channel else (k + 1,) for k in range(rank)]
    lies: dict[str, Lies] = {"x": tuple(dims), "-> y": tuple(dims)}
    for param, value in zip(("gamma", "beta"), node.inputs[1:3], strict=True):
        assert value is not None
        own = values.shape(value)
        if not own or sizes.equal(own[-1], shape[channel]):
            lies[param] = (*(() for _ in own[:-1]), dims[channel]) if own else ()
        elif sizes.equal(own[-1], const(groups)):
            lies[param] = (*(() for _ in own[:-1]), (channel,))
        else:
            return None
    lies |= {"-> mean": ((0,), (channel,)), "-> rstd": ((0,), (channel,))}
    return space(node, values, cut, tuple(k for k in range(1, rank + 1) if k != channel), lies)


def moments(call: Call, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the mean of ``x``, its deviations from that, and their mean square."""
    average = mean(call, x)
    deviations = sub(call, x, average)
    variance = call.apply("Div", square_sum(call, deviations), call.count(x.dtype))
    return average, deviations, variance


def reciprocal_root(call: Call, x: Tensor, epsilon: float) -> Tensor:
    """Return 1 / sqrt(x + epsilon)."""
    return call.apply("Div", call.scalar(1, x), call.apply("Sqrt", plus(call, x, epsilon)))


def _scaled(call: Call, normal: Tensor) -> Tensor:
    """Return normal * gamma + beta, as far as these are there."""
    gamma, beta = call.tensors.get("gamma"), call.tensors.get("beta")
    if isinstance(gamma, Tensor):
        normal = mul(call, normal, gamma)
    return add(call, normal, beta) if isinstance(beta, Tensor) else normal


def layer_norm(call: Call, x: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the normalised ``x``, and its mean, variance and 1 / sqrt(variance + epsilon)."""
    average, deviations, variance = moments(call, x)
    rstd = reciprocal_root(call, variance, epsilon)
    return _scaled(call, mul(call, deviations, rstd)), average, variance, rstd


def _with_variance(call: Call) -> tuple[Tensor, ...]:
    y, average, variance, _ = layer_norm(call, call.tensor("x"), call.number("epsilon"))
    return y, average, variance


def _with_rstd(call: Call) -> tuple[Tensor, ...]:
    y, average, _, rstd = layer_norm(call, call.tensor("x"), call.number("epsilon"))
    return y, average, rstd


def _group_norm(call: Call) -> tuple[Tensor, ...]:
    y, average, _, rstd = layer_norm(call, call.tensor("x"), call.number("eps"))
    return y, average, rstd


def _add_layer_norm(call: Call) -> tuple[Tensor, ...]:
    x, bias = add(call, call.tensor("x1"), call.tensor("x2")), call.optional("bias")
    x = x if bias is None else add(call, x, bias)
    y, average, _, rstd = layer_norm(call, x, call.number("epsilon"))
    return y, average, rstd, x


def _rms(call: Call, x: Tensor) -> tuple[Tensor, Tensor]:
    square = call.apply("Div", square_sum(call, x), call.count(x.dtype))
    rstd = reciprocal_root(call, square, call.number("epsilon"))
    return mul(call, mul(call, x, rstd), call.tensor("gamma")), rstd


def _add_rms_norm(call: Call) -> tuple[Tensor, ...]:
    x = add(call, call.tensor("x1"), call.tensor("x2"))
    return (*_rms(call, x), x)


def _backward(call: Call, rstd: Tensor) -> tuple[Tensor, ...]:
    normal = mul(call, sub(call, call.tensor("x"), call.tensor("mean")), rstd)
    scaled = mul(call, call.tensor("dy"), call.tensor("gamma"))
    inner = sub(call, scaled, mean(call, scaled))
    inner = sub(call, inner, mul(call, normal, mean(call, mul(call, scaled, normal))))
    return mul(call, inner, rstd), normal


def _gamma_beta_backward(call: Call) -> tuple[Tensor, ...]:
    dy, normal = call.tensor("dy"), call.tensor("res_for_gamma")
    wide = dy.dtype if dy.dtype.bits > normal.dtype.bits else normal.dtype
    gamma = call.reduce("Sum", mul(call, call.cast(dy, wide), call.cast(normal, wide)))
    return gamma, call.reduce("Sum", dy)


def _mean_variance(call: Call) -> Tensor:
    """Return the function that ONNX defines the operator by, with its epsilon."""
    x = call.tensor("X")
    average = mean(call, x)
    squares = call.apply("Div", square_sum(call, x), call.count(x.dtype))
    deviation = call.apply("Sqrt", sub(call, squares, mul(call, average, average)))
    return call.apply("Div", sub(call, x, average), plus(call, deviation, MEAN_VARIANCE_EPSILON))


def _lp_normalization(call: Call) -> Tensor:
    x = call.tensor("input")
    if call.attr("p") == 1:
        norm = call.reduce("Sum", call.apply("Abs", x))
    else:
        norm = call.apply("Sqrt", square_sum(call, x))
    zero = call.apply("Eq", norm, call.scalar(0, x))
    ratio = call.apply("Div", x, call.select(zero, call.scalar(1, x), norm))
    return call.select(zero, call.scalar(0, x), ratio)


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("LayerNorm", _with_variance, space=_from_axis),
    Lowering("LayerNormV3", _with_rstd, space=_from_axis),
    Lowering("LayerNormV4", _with_rstd, unread=("normalized_shape",), space=_by_shape),
    Lowering("AddLayerNorm", _add_layer_norm, space=_of_gamma),
    Lowering("RmsNorm", lambda call: _rms(call, call.tensor("x")), space=_of_gamma),
    Lowering("AddRmsNorm", _add_rms_norm, space=_of_gamma),
    Lowering("GroupNorm", _group_norm, space=_group_space),
    Lowering("InstanceNorm", _with_variance, space=_instance_space),
    Lowering(
        "LayerNormXBackpropV2",
        lambda call: _backward(call, reciprocal_root(call, call.tensor("variance"), LAYER_NORM_BACKWARD_EPSILON)),
        space=_of_gamma,
    ),
    Lowering("LayerNormXBackpropV3", lambda call: _backward(call, call.tensor("rstd")), space=_of_gamma),
    Lowering("LayerNormBetaGammaBackpropV2", _gamma_beta_backward, space=_gamma_beta),
    Lowering("MeanVarianceNormalization", _mean_variance, space=along("axes")),
    Lowering("LpNormalization", _lp_normalization, space=along("axis")),
)
