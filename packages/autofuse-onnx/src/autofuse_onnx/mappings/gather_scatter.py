"""Gathers, scatters, one-hot tensors."""

import numpy as np

from autofuse_onnx.lowering import Lowering, Native, Operand, Rule, Step, one
from autofuse_onnx.mappings.by_name import renamed, same_attrs
from autofuse_onnx.node import OnnxNode


def _gather(n: OnnxNode) -> Lowering:
    axis = np.asarray(int(n.attrs.get("axis", 0)), np.int64)
    return one("GatherV2", *n.inputs, axis, negative_index_support=True)


def _one_hot(n: OnnxNode) -> Lowering:
    """ONNX passes [off, on] as one tensor."""
    axis = int(n.attrs.get("axis", -1))
    values = n.content(2)
    if values is not None and values.shape == (2,):
        on, off = np.asarray(values[1]), np.asarray(values[0])
        return one("OneHot", n.input(0), n.input(1), on, off, axis=axis)
    names = [f"{n.outputs[0]}.{part}" for part in ("off", "on")]
    steps = []
    for i, name in enumerate(names):
        inputs: tuple[Operand, ...] = (n.input(2), np.asarray(i, np.int64), np.asarray(0, np.int64))
        attrs = {"negative_index_support": True}
        steps.append(Step("GatherV2", inputs, attrs, (name,), Native("Gather", (0, 1), {"axis": 0})))
    off_name, on_name = names
    return (*steps, Step("OneHot", (n.input(0), n.input(1), on_name, off_name), {"axis": axis}))


RULES: dict[str, Rule] = {
    "Compress": same_attrs(),
    "Gather": _gather,
    "GatherElements": renamed("GatherElements", {"dim": ("axis", 0)}, negative_index_support=True),
    "GatherND": renamed("GatherNd", {"batch_dims": ("batch_dims", 0)}, negative_index_support=True),
    "NonZero": same_attrs(),
    "OneHot": _one_hot,
    "Scatter": renamed("ScatterElements", {"axis": ("axis", 0)}),
    "ScatterElements": renamed("ScatterElements", {"axis": ("axis", 0), "reduction": ("reduction", "none")}),
    "ScatterND": renamed("ScatterND", {"reduction": ("reduction", "none")}),
    "Unique": same_attrs(),
}
