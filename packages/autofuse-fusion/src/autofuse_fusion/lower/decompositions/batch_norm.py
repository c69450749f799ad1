"""Batch normalisation, forward and backward; channels are axis 1."""

from autofuse_ir.dims import product
from autofuse_ir.graph import Node
from autofuse_ir.operators import promote

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul
from autofuse_fusion.lower.decompositions.norm import reciprocal_root
from autofuse_fusion.lower.decompositions.reduce import input_shape, square_sum
from autofuse_fusion.lower.space import Lies, Space, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values

_CHANNEL: Lies = ((1,),)
_PER_CHANNEL = (
    *("sum", "square_sum", "scale", "offset", "mean", "variance", "b"),
    *("batch_mean", "batch_variance", "diff_scale", "diff_offset"),
)
_LIES = dict.fromkeys((*_PER_CHANNEL, *(f"-> {name}" for name in _PER_CHANNEL)), _CHANNEL)


def _whole(node: Node, values: Values) -> Space:
    return space(node, values, input_shape(node, values), (), _LIES)


def _per_channel(node: Node, values: Values) -> Space:
    shape = input_shape(node, values)
    return space(node, values, shape, tuple(k for k in range(len(shape)) if k != 1), _LIES)


def _reduce(call: Call) -> tuple[Tensor, ...]:
    x = call.tensor("x")
    return call.reduce("Sum", x), square_sum(call, x)


def joined(call: Call, op: str, x: Tensor, y: Tensor) -> Tensor:
    """Return ``op`` of two floats in the dtype that they promote to: statistics are fp32 whatever x is."""
    dtype = promote(x.dtype, y.dtype)
    return call.apply(op, call.cast(x, dtype), call.cast(y, dtype))


def _normal(call: Call) -> tuple[Tensor, Tensor]:
    """Return the normalised x and 1 / sqrt(variance + epsilon)."""
    rstd = reciprocal_root(call, call.tensor("batch_variance"), call.number("epsilon"))
    return joined(call, "Mul", joined(call, "Sub", call.tensor("x"), call.tensor("batch_mean")), rstd), rstd


def _update_grad(call: Call) -> tuple[Tensor, ...]:
    grads, (normal, _) = call.tensor("grads"), _normal(call)
    return call.reduce("Sum", joined(call, "Mul", grads, normal)), call.reduce("Sum", grads)


def _reduce_grad(call: Call) -> Tensor:
    normal, rstd = _normal(call)
    offset, slope = call.tensor("diff_offset"), joined(call, "Mul", normal, call.tensor("diff_scale"))
    others = product(size for k, size in enumerate(call.frame.shape) if k != 1)
    offset = call.apply("Div", offset, call.size(others, offset.dtype))
    slope = call.apply("Div", slope, call.size(others, slope.dtype))
    inner = joined(call, "Sub", joined(call, "Sub", call.tensor("grads"), offset), slope)
    return joined(call, "Mul", joined(call, "Mul", call.tensor("scale"), rstd), inner)


def _inference(call: Call) -> Tensor:
    y = mul(call, add(call, call.tensor("x"), call.tensor("mean")), call.tensor("variance"))
    scale, shift = call.optional("scale"), call.optional("b")
    y = y if scale is None else mul(call, y, scale)
    return y if shift is None else add(call, y, shift)


def _infer(call: Call) -> Tensor:
    """Return scale * (x - mean) / sqrt(variance + epsilon) + offset; the factor is taken per channel first."""
    variance = call.tensor("variance")
    root = call.apply("Sqrt", add(call, variance, call.scalar(call.number("epsilon"), variance)))
    factor = call.apply("Div", call.tensor("scale"), root)
    shifted = joined(call, "Sub", call.tensor("x"), call.tensor("mean"))
    return joined(call, "Add", joined(call, "Mul", shifted, factor), call.tensor("offset"))


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("BNTrainingReduce", _reduce, space=_per_channel),
    Lowering("BNTrainingUpdateGrad", _update_grad, space=_per_channel),
    Lowering("BNTrainingReduceGrad", _reduce_grad, space=_whole),
    Lowering("BNInferenceD", _inference, space=_whole),
    Lowering("BNInfer", _infer, space=_whole),
)
