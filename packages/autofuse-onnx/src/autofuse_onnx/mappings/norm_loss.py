"""Normalisations and losses."""

import numpy as np
from autofuse_ir.dtypes import float32

from autofuse_onnx.lowering import Lowering, Native, Operand, Rule, Step, one
from autofuse_onnx.mappings.by_name import same_attrs
from autofuse_onnx.node import OnnxNode

_FLOAT = 1
"""ONNX's number of float32, the dtype in which the first stage of a normalisation is computed."""


def _batch_norm(n: OnnxNode) -> Lowering | None:
    """Inference only: training has an attribute since version 14, before that more than one output."""
    others = any(n.has_output(i) for i in range(1, len(n.outputs)))
    if others or n.attrs.get("training_mode", 0) or not n.attrs.get("spatial", 1):
        return None
    rank = n.rank(0)
    if rank is None or rank < 2:
        return None
    return one("BNInfer", *n.inputs, epsilon=float(n.attrs.get("epsilon", 1e-5)))


def _epsilon(n: OnnxNode) -> float:
    return float(n.attrs.get("epsilon", 1e-5))


def _padded(n: OnnxNode, count: int) -> tuple[str, ...]:
    """Return ``count`` outputs: those of the node, then fresh ones that nobody reads."""
    names = [*n.outputs, *[""] * (count - len(n.outputs))]
    return tuple(name or f"{n.name}.unused{i}" for i, name in enumerate(names))


def _layer_norm(n: OnnxNode) -> Lowering | None:
    """The normalised dims are those from ``axis`` on; statistics are float32, the operator's are of the input."""
    axis, dtype, shape = int(n.attrs.get("axis", -1)), n.dtype(0), n.shape(0)
    statistics = n.has_output(1) or n.has_output(2)
    if shape is None or n.attrs.get("stash_type", _FLOAT) != _FLOAT or (statistics and dtype != float32):
        return None
    axis = axis % len(shape) if shape else 0
    inner = shape[axis:]
    alike = n.shape(1) == inner and None not in inner and (n.input(2) is None or n.shape(2) == inner)
    native = Native(
        "LayerNormalization",
        (0, 2) if n.input(2) is None else (0, 2, 3),
        {"axis": axis, "epsilon": _epsilon(n)},
    )
    sizes, steps = _sizes_from(n, axis)
    outputs = _padded(n, 3)
    if alike:
        inputs = (n.input(0), sizes, *n.inputs[1:])
        return (*steps, Step("LayerNormV4", inputs, {"epsilon": _epsilon(n)}, outputs, native))
    return (*steps, *_scaled_after(n, sizes, outputs))


def _sizes_from(n: OnnxNode, axis: int) -> tuple[Operand, tuple[Step, ...]]:
    """Return the sizes of the first input from dim ``axis`` on, and the steps that make them, if any."""
    inner = (n.shape(0) or ())[axis:]
    if all(isinstance(size, int) for size in inner):
        return np.asarray(inner, np.int64), ()
    name = f"{n.outputs[0]}.normalized_shape"
    attrs = {"start": axis}
    return name, (Step("Shape", (n.input(0),), {"dtype": 9, **attrs}, (name,), Native("Shape", (0,), attrs)),)


def _scaled_after(n: OnnxNode, sizes: Operand, outputs: tuple[str, ...]) -> Lowering:
    """Scale and bias broadcast: they are operators of their own, as in the function that defines the operator.

    They are stretched to the normalised dims first: an operator on two shapes would allow a scale larger than the data.
    """
    plain, scaled = f"{n.outputs[0]}.normalized", f"{n.outputs[0]}.scaled"
    last = n.outputs[:1]
    norm = Step("LayerNormV4", (n.input(0), sizes), {"epsilon": _epsilon(n)}, (plain, *outputs[1:]))
    scale, stretch_scale = _stretched(n, 1, sizes)
    if n.input(2) is None:
        return (norm, stretch_scale, Step("Mul", (plain, scale), {}, last))
    bias, stretch_bias = _stretched(n, 2, sizes)
    product = Step("Mul", (plain, scale), {}, (scaled,))
    return (norm, stretch_scale, product, stretch_bias, Step("Add", (scaled, bias), {}, last))


def _stretched(n: OnnxNode, index: int, sizes: Operand) -> tuple[str, Step]:
    """Return input ``index`` broadcast to ``sizes``: its new name, and the step that makes it."""
    name = f"{n.outputs[0]}.stretched{index}"
    return name, Step("BroadcastTo", (n.input(index), sizes), {}, (name,), Native("Expand", (0, 1)))


def _rms_norm(n: OnnxNode) -> Lowering | None:
    """The operator normalises over the dims of its scale: one that may broadcast is stretched to them first."""
    shape, scale = n.shape(0), n.shape(1)
    if not shape or scale is None or n.attrs.get("stash_type", _FLOAT) != _FLOAT:
        return None
    axis = int(n.attrs.get("axis", -1)) % len(shape)
    attrs = {"epsilon": _epsilon(n)}
    if scale == shape[axis:] and None not in scale:
        return (Step("RmsNorm", n.inputs, attrs, _padded(n, 2)),)
    if n.dtype(0) is None or n.dtype(0) != n.dtype(1):
        return None
    sizes, sized = _sizes_from(n, axis)
    stretched, stretch = _stretched(n, 1, sizes)
    native = Native("RMSNormalization", (0, 1), {"axis": axis, **attrs}, outputs=1)
    return (*sized, stretch, Step("RmsNorm", (n.input(0), stretched), attrs, _padded(n, 2), native))


def _instance_norm(n: OnnxNode) -> Lowering:
    return (Step("InstanceNorm", n.inputs, {"epsilon": _epsilon(n)}, _padded(n, 3)),)


def _group_norm(n: OnnxNode) -> Lowering | None:
    if n.attrs.get("stash_type", _FLOAT) != _FLOAT:
        return None
    attrs = {"num_groups": int(n.attrs["num_groups"]), "eps": _epsilon(n)}
    return (Step("GroupNorm", n.inputs, attrs, _padded(n, 3)),)


RULES: dict[str, Rule] = {
    "BatchNormalization": _batch_norm,
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _instance_norm,
    "LRN": same_attrs(),
    "LayerNormalization": _layer_norm,
    "LpNormalization": same_attrs(),
    "MeanVarianceNormalization": same_attrs(),
    "NegativeLogLikelihoodLoss": same_attrs(),
    "RMSNormalization": _rms_norm,
    "RotaryEmbedding": same_attrs(),
    "SoftmaxCrossEntropyLoss": same_attrs(),
}
