"""Element-wise operators of one input, and casts."""

import numpy as np
from autofuse_ir.dtypes import dtype_of_onnx_code

from autofuse_onnx.lowering import Lowering, Native, Rule, Step, one
from autofuse_onnx.mappings.by_name import plain
from autofuse_onnx.node import OnnxNode

_SAME = """
Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Round Sign Sin Sinh Sqrt Tan Tanh
"""


def _identity(n: OnnxNode) -> Lowering | None:
    dtype = n.dtype(0)
    # A sequence, an optional value or a string stays inside one host region.
    return None if dtype is None or dtype.is_opaque else one("Identity", *n.inputs)


def _cast(n: OnnxNode) -> Lowering | None:
    target = dtype_of_onnx_code(int(n.attrs["to"]))
    return None if target is None else one("Cast", *n.inputs, dst_type=target.ascend_code)


def _cast_like(n: OnnxNode) -> Lowering | None:
    target = n.dtype(1)
    if target is None or target.is_opaque:
        return None
    native = Native("Cast", (0,), {"to": target.onnx_code})
    return (Step("Cast", n.inputs[:1], {"dst_type": target.ascend_code}, native=native),)


def _bit_cast(n: OnnxNode) -> Lowering | None:
    target = dtype_of_onnx_code(int(n.attrs["to"]))
    return None if target is None else one("Bitcast", *n.inputs, type=target)


def _dropout(n: OnnxNode) -> Lowering | None:
    """Inference keeps the input, and the mask keeps everything (its meaning varied before version 12)."""
    if n.input(2) is not None:
        training = n.content(2)
        if training is None or bool(training):
            return None
    if not n.has_output(1):
        return (Step("Identity", (n.input(0),), outputs=n.outputs[:1], native=Native("Identity", (0,))),)
    if n.opset < 12:
        return None
    sizes = f"{n.outputs[1]}.shape"
    steps = (
        Step("Shape", (n.input(0),), {"dtype": 9}, (sizes,), Native("Shape", (0,))),
        Step("Fill", (sizes, np.asarray(True)), outputs=(n.outputs[1],), native=Native("Expand", (1, 0))),
    )
    if not n.has_output(0):
        return steps
    identity = Step("Identity", (n.input(0),), outputs=n.outputs[:1], native=Native("Identity", (0,)))
    return (identity, *steps)


RULES: dict[str, Rule] = {name: plain(name) for name in _SAME.split()} | {
    "Identity": _identity,
    "Cast": _cast,
    "CastLike": _cast_like,
    "BitCast": _bit_cast,
    "Dropout": _dropout,
}
