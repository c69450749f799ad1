"""Comparisons, tests of floats, logic and bits."""

from autofuse_onnx.lowering import Lowering, Rule, one
from autofuse_onnx.mappings.by_name import plain, renamed
from autofuse_onnx.node import OnnxNode


def _shift(n: OnnxNode) -> Lowering:
    return one("LeftShift" if n.text("direction") == "LEFT" else "RightShift", *n.inputs)


_NAMES = {
    "And": "LogicalAnd",
    "Or": "LogicalOr",
    "Xor": "LogicalXor",
    "Not": "LogicalNot",
    "Equal": "Equal",
    "Greater": "Greater",
    "GreaterOrEqual": "GreaterEqual",
    "Less": "Less",
    "LessOrEqual": "LessEqual",
    "IsNaN": "IsNan",
    "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr",
    "BitwiseXor": "BitwiseXor",
    "BitwiseNot": "Invert",
}

RULES: dict[str, Rule] = {onnx: plain(ours) for onnx, ours in _NAMES.items()} | {
    "BitShift": _shift,
    "IsInf": renamed(
        "IsInf",
        {"detect_positive": ("detect_positive", True), "detect_negative": ("detect_negative", True)},
    ),
}
