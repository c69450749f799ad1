"""Quantisation, matrix products, convolutions, and what only a host backend runs."""

from autofuse_onnx.lowering import Lowering, Rule, Step
from autofuse_onnx.mappings.by_name import attrs_for, same_attrs
from autofuse_onnx.node import OnnxNode


def _einsum(n: OnnxNode) -> Lowering:
    return (Step("Einsum", n.inputs, {"equation": n.text("equation"), "N": len(n.inputs)}),)


def _resize(n: OnnxNode) -> Lowering | None:
    """Version 10 has (X, scales), samples asymmetrically and floors; later ones have (X, roi, scales, sizes)."""
    attrs = attrs_for("Resize", n)
    if attrs is None or n.opset >= 11:
        return None if attrs is None else (Step("Resize", n.inputs, attrs),)
    fixed = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return (Step("Resize", (n.input(0), None, n.input(1)), attrs | fixed),)


def _upsample(n: OnnxNode) -> Lowering | None:
    attrs = attrs_for("Upsample", n)
    return None if attrs is None or n.opset < 9 else (Step("Upsample", n.inputs, attrs),)


_QUANTISE = "DequantizeLinear DynamicQuantizeLinear QuantizeLinear"
_CUBE = "Attention Conv ConvInteger ConvTranspose DeformConv Gemm MatMul MatMulInteger QLinearConv QLinearMatMul"
_HOST = """
AffineGrid AveragePool Bernoulli BlackmanWindow Col2Im DFT Det GRU GlobalAveragePool GlobalLpPool GlobalMaxPool
GridSample HammingWindow HannWindow ImageDecoder LSTM LpPool MaxPool MaxRoiPool MaxUnpool MelWeightMatrix Multinomial
NonMaxSuppression RNN RegexFullMatch RoiAlign STFT StringConcat StringNormalizer StringSplit TfIdfVectorizer
ConcatFromSequence If Loop Optional OptionalGetElement OptionalHasElement Scan SequenceAt SequenceConstruct
SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
"""

RULES: dict[str, Rule] = {name: same_attrs() for name in f"{_QUANTISE} {_CUBE} {_HOST}".split()} | {
    "Einsum": _einsum,
    "Resize": _resize,
    "Upsample": _upsample,
}
