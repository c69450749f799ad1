"""Operators of one element at a position: inputs of one shape, or of shapes that broadcast."""

from collections.abc import Mapping
from typing import Any

from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.operators import Family, ParamKind

from autofuse_testkit.operator_matrix.call import (
    Call,
    Content,
    Size,
    above_one,
    around_zero,
    inside_one,
    positive,
    up_to_seven,
)

ATTRS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "Cast": tuple({"dst_type": d.ascend_code} for d in dt.TENSOR_DTYPES),
    "Exp": ({}, {"base": 2.0}, {"base": 10.0, "scale": 0.5, "shift": 0.25}),
    "Log": ({}, {"base": 2.0}, {"base": 10.0}, {"base": 3.0, "scale": 2.0, "shift": 1.0}),
    "Round": ({}, {"decimals": 1}),
    "Fills": ({"value": 2.75},),
    "Muls": ({"value": 1.7},),
    "Adds": ({"value": -1.3},),
    "Axpy": ({"alpha": 1.6},),
    "LeakyRelu": ({"negative_slope": 0.1},),
    "LeakyReluGrad": ({"negative_slope": 0.1},),
    "Elu": ({}, {"alpha": 0.7, "scale": 1.3, "input_scale": 0.9}),
    "CeluV2": ({"alpha": 0.6},),
    "Swish": ({}, {"scale": 1.7}),
    "Shrink": ({"lambd": 1.5, "bias": 0.75},),
    "GeluV2": ({"approximate": "none"}, {"approximate": "tanh"}),
    "GeluGradV2": ({"approximate": "none"}, {"approximate": "tanh"}),
    "IsInf": ({}, {"detect_positive": False}),
    "ApplyAdagradD": ({}, {"update_slots": False}),
    "ApplyAdamD": ({}, {"use_nesterov": True}),
    "AddN": ({"N": 3},),
    "AscendQuant": (
        {"scale": 1.5, "offset": 2.0},
        {"scale": 0.7, "offset": -3.0, "sqrt_mode": True, "round_mode": "Floor"},
        {"scale": 3.0, "offset": 0.25, "round_mode": "Trunc", "dst_type": dt.int16.ascend_code},
    ),
}

_POSITIVE = ("Log", "Sqrt", "Rsqrt", "Pow", "SqrtGrad", "RsqrtGrad", "ApplyAdagradD", "ApplyAdamD")
_INSIDE_ONE = ("Acos", "Asin", "Atanh")
_DIVISORS = ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod", "Addcdiv", "RealDiv")
_BROADCAST = (Family.BINARY, Family.COMPARE_LOGIC)
_SCALARS = {
    "ApplyAdamD": ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"),
    "ApplyAdagradD": ("lr",),
    "ApplyGradientDescent": ("alpha",),
    "ClipByValue": ("clip_value_min", "clip_value_max"),
    "MaskedFill": ("value",),
    "Addcmul": ("value",),
    "Addcdiv": ("value",),
}


def elementwise(b: Call) -> tuple[str, ...]:
    """Every input, those after the first broadcast in turns; optional ones are given every other turn."""
    op, variants = b.operator, ATTRS.get(b.operator.name, ({},))
    inputs: list[str | None] = []
    for position, param in enumerate(op.inputs):
        if param.kind is ParamKind.OPTIONAL and (b.turn + position) % 2:
            inputs.append(None)
            continue
        shape = shape_of(b, position, param.name)
        for _ in range(3 if param.kind is ParamKind.DYNAMIC else 1):
            inputs.append(b.x(*shape, dtype=type_of(b, position), content=content_of(b, position)))
    while inputs and inputs[-1] is None:
        inputs.pop()
    return b.call(*inputs, outputs=len(op.outputs), **variants[b.turn % len(variants)])


def type_of(b: Call, position: int) -> DType:
    """The type of the case where the input takes it."""
    types = b.operator.inputs[position].types
    return b.dtype if b.dtype in types else types[0]


def shape_of(b: Call, position: int, name: str) -> tuple[Size, ...]:
    """The shape of an input: all dims for the first, in turns the last dims or every other one for others."""
    if name in _SCALARS.get(b.operator.name, ()):
        return ()
    if name == "x3" and b.operator.name == "FusedMulAddN":
        return (1,)
    if b.operator.family not in _BROADCAST and b.operator.name not in ("PRelu", "ThresholdV2"):
        return b.dims
    match (b.turn + position - 1) % 3 if position else 0:
        case 0:
            return b.dims
        case 1:
            return b.dims[1:]
        case _:
            return tuple(1 if axis % 2 else dim for axis, dim in enumerate(b.dims))


def content_of(b: Call, position: int) -> Content:
    """Numbers that the operator has a result for."""
    name = b.operator.name
    if name in _POSITIVE or (name in _DIVISORS and position):
        return positive
    if name in ("LeftShift", "RightShift") and position:
        return up_to_seven
    if name == "Acosh":
        return above_one
    return inside_one if name in _INSIDE_ONE else around_zero
