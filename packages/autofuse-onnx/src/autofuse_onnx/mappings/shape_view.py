"""Shapes, views, and tensors made from a shape."""

import numpy as np
from autofuse_ir.graph import AttrValue

from autofuse_onnx.lowering import Lowering, Rule, Step, one
from autofuse_onnx.mappings.by_name import plain, renamed
from autofuse_onnx.node import OnnxNode
from autofuse_onnx.tensors import tensor_data, to_array

INT64 = 9
"""Ascend IR's number of int64."""


def _shape(n: OnnxNode) -> Lowering:
    attrs: dict[str, AttrValue] = {"dtype": INT64, "start": int(n.attrs.get("start", 0))}
    if "end" in n.attrs:
        attrs["end"] = int(n.attrs["end"])
    return (Step("Shape", n.inputs, attrs),)


def _squeeze(n: OnnxNode) -> Lowering:
    """Axes are an attribute before version 13, an input since; none means every dim of size 1."""
    if n.opset >= 13:
        return one("SqueezeV3", *n.inputs)
    return one("Squeeze", n.input(0), axis=n.ints("axes") or ())


def _unsqueeze(n: OnnxNode) -> Lowering:
    if n.opset >= 13:
        return one("UnsqueezeV3", *n.inputs)
    return one("Unsqueeze", n.input(0), axes=n.ints("axes") or ())


def _transpose(n: OnnxNode) -> Lowering | None:
    perm, rank = n.ints("perm"), n.rank(0)
    if perm is None:
        if rank is None:
            return None
        perm = tuple(range(rank - 1, -1, -1))
    return one("TransposeD", n.input(0), perm=perm)


def _constant_of_shape(n: OnnxNode) -> Lowering | None:
    value = n.attrs.get("value")
    if value is None:
        return one("Fill", n.input(0), np.asarray(0.0, np.float32))
    data = tensor_data(value, None)
    return None if data is None else one("Fill", n.input(0), to_array(data).reshape(()))


def _space(n: OnnxNode) -> Lowering:
    attrs: dict[str, AttrValue] = {"block_size": int(n.attrs["blocksize"]), "data_format": "NCHW"}
    return (Step(n.op_type, n.inputs, attrs | {"mode": n.text("mode", "DCR")}),)


def _eye_like(n: OnnxNode) -> Lowering:
    attrs: dict[str, AttrValue] = {"k": int(n.attrs.get("k", 0))}
    return (Step("EyeLike", n.inputs, attrs | ({"dtype": int(n.attrs["dtype"])} if "dtype" in n.attrs else {})),)


RULES: dict[str, Rule] = {
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _space,
    "Expand": plain("Expand"),
    "EyeLike": _eye_like,
    "Flatten": renamed("Flatten", {"axis": ("axis", 1)}),
    "Range": plain("Range"),
    "Reshape": renamed("Reshape", {"allowzero": ("allowzero", False)}),
    "ReverseSequence": renamed("ReverseSequence", {"seq_dim": ("time_axis", 0), "batch_dim": ("batch_axis", 1)}),
    "Shape": _shape,
    "Size": renamed("Size", {}, dtype=INT64),
    "SpaceToDepth": _space,
    "Squeeze": _squeeze,
    "Tile": plain("Tile"),
    "Transpose": _transpose,
    "Trilu": renamed("Trilu", {"upper": ("upper", True)}),
    "Unsqueeze": _unsqueeze,
}
