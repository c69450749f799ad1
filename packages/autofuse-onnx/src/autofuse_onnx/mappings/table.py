"""All mappings by ONNX operator name."""

from autofuse_onnx.lowering import Rule
from autofuse_onnx.mappings import (
    activation,
    binary,
    compare_logic,
    concat_split_slice_pad,
    elementwise,
    gather_scatter,
    norm_loss,
    others,
    reduce,
    shape_view,
)

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **activation.RULES,
    **binary.RULES,
    **compare_logic.RULES,
    **reduce.RULES,
    **shape_view.RULES,
    **concat_split_slice_pad.RULES,
    **gather_scatter.RULES,
    **norm_loss.RULES,
    **others.RULES,
}
"""The rule of every standard operator that Ascend IR can express; all others are host operators."""

INLINED = (
    "BlackmanWindow",
    "CausalConvWithState",
    "CenterCropPad",
    "HammingWindow",
    "HannWindow",
    "SwiGLU",
)
"""Operators that stand for a function of simpler ones, which fuse; their body replaces them."""
