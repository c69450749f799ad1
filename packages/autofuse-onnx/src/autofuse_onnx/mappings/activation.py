"""Activations."""

import math

from autofuse_onnx.lowering import Lowering, Native, Operand, Rule, Step, one
from autofuse_onnx.mappings.by_name import plain, renamed
from autofuse_onnx.node import OnnxNode

_SELU_ALPHA = 1.67326319217681884765625
_SELU_GAMMA = 1.05070102214813232421875


def _clip(n: OnnxNode) -> Lowering | None:
    """Bounds are attributes before version 11; a missing one does not limit."""
    if n.opset >= 11:
        return one("Clip", *n.inputs)
    dtype = n.dtype(0)
    if dtype is None or not dtype.is_float:
        return None
    bounds: list[Operand] = []
    for name in ("min", "max"):
        value = n.attrs.get(name)
        if value is None or (name == "max" and math.isinf(value) and value > 0):
            bounds.append(None)
        else:
            bounds.append(n.scalar(value, dtype))
    return one("Clip", n.input(0), *bounds)


def _flattened_axes(n: OnnxNode) -> tuple[int, ...] | None:
    """Return the axes of a softmax: one since version 13, before that all from ``axis`` on; None if unknown."""
    if n.opset >= 13:
        return (int(n.attrs.get("axis", -1)),)
    rank = n.rank(0)
    axis = int(n.attrs.get("axis", 1))
    if rank is None or rank == 0:
        return None
    return tuple(range(axis % rank if axis < rank else rank, rank)) or None


def _softmax(op: str) -> Rule:
    def rule(n: OnnxNode) -> Lowering | None:
        axes = _flattened_axes(n)
        return None if axes is None else one(op, n.input(0), axes=axes)

    return rule


def _hardmax(n: OnnxNode) -> Lowering | None:
    axes = _flattened_axes(n)
    if axes is None:
        return None
    if len(axes) == 1:
        return one("HardMax", n.input(0), axis=axes[0])
    # Before version 13 the axes count as one: flatten, mark the first maximum of each row, restore the shape.
    flat, marked, shape = (f"{n.outputs[0]}.{part}" for part in ("flat", "marked", "shape"))
    return (
        Step("Flatten", (n.input(0),), {"axis": axes[0]}, (flat,), Native("Flatten", (0,), {"axis": axes[0]})),
        Step("HardMax", (flat,), {"axis": 1}, (marked,), Native("Hardmax", (0,), {"axis": 1})),
        Step("Shape", (n.input(0),), {"dtype": 9}, (shape,), Native("Shape", (0,))),
        Step("Reshape", (marked, shape), native=Native("Reshape", (0, 1))),
    )


def _selu(n: OnnxNode) -> Lowering:
    alpha, gamma = float(n.attrs.get("alpha", _SELU_ALPHA)), float(n.attrs.get("gamma", _SELU_GAMMA))
    return one("Elu", n.input(0), alpha=alpha, scale=gamma)


RULES: dict[str, Rule] = {
    name: plain(name) for name in ["Relu", "HardSwish", "Mish", "PRelu", "Sigmoid", "Softplus", "Softsign"]
} | {
    "Clip": _clip,
    "Celu": renamed("CeluV2", {"alpha": ("alpha", 1.0)}),
    "Elu": renamed("Elu", {"alpha": ("alpha", 1.0)}),
    "Gelu": renamed("GeluV2", {"approximate": ("approximate", "none")}),
    "HardSigmoid": renamed("HardSigmoid", {"alpha": ("alpha", 0.2), "beta": ("beta", 0.5)}),
    "Hardmax": _hardmax,
    "LeakyRelu": renamed("LeakyRelu", {"negative_slope": ("alpha", 0.01)}),
    "LogSoftmax": _softmax("LogSoftmaxV2"),
    "Selu": _selu,
    "Shrink": renamed("Shrink", {"lambd": ("lambd", 0.5), "bias": ("bias", 0.0)}),
    "Softmax": _softmax("SoftmaxV2"),
    "Swish": renamed("Swish", {"scale": ("alpha", 1.0)}),
    "ThresholdedRelu": renamed("ThresholdedRelu", {"alpha": ("alpha", 1.0)}),
}
