"""Which values' contents shapes depend on: found backwards from the operands that are sizes."""

from autofuse_ir.errors import IrError
from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import bind

SIZE_OPERANDS: dict[str, tuple[str, ...]] = {
    "Reshape": ("shape",),
    "Expand": ("shape",),
    "BroadcastTo": ("shape",),
    "Fill": ("dims",),
    "Tile": ("multiples",),
    "AsStrided": ("size", "stride", "storage_offset"),
    "Range": ("start", "limit", "delta"),
    "LinSpace": ("num",),
    "Repeat": ("repeat_times",),
    "RepeatInterleave": ("repeats",),
    "Slice": ("offsets", "size"),
    "StridedSlice": ("begin", "end", "strides"),
    "StridedSliceV2": ("begin", "end", "strides"),
    "StridedSliceV3": ("begin", "end", "strides"),
    "SplitV": ("size_splits",),
    "Pad": ("paddings",),
    "PadV3": ("paddings",),
    "OneHot": ("depth",),
    "TopKV2": ("k",),
    "TopK": ("K",),
    "MatrixDiagV2": ("k", "num_rows", "num_cols"),
    "UnsortedSegmentSum": ("num_segments",),
    "UnsortedSegmentMax": ("num_segments",),
    "UnsortedSegmentMin": ("num_segments",),
    "SparseToDense": ("output_shape",),
    "LayerNormV4": ("normalized_shape",),
    "Resize": ("scales", "sizes"),
    "Upsample": ("scales",),
    "AffineGrid": ("size",),
    "Col2Im": ("image_shape", "block_shape"),
    "MaxUnpool": ("output_shape",),
    "CenterCropPad": ("shape",),
    "DFT": ("dft_length",),
    "STFT": ("frame_step", "frame_length"),
    "BlackmanWindow": ("size",),
    "HammingWindow": ("size",),
    "HannWindow": ("size",),
    "MelWeightMatrix": ("num_mel_bins", "dft_length"),
    **dict.fromkeys(
        ("RandomUniform", "RandomUniformV2", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal"), ("shape",)
    ),
}
"""Inputs whose elements are sizes or positions that shapes are made of."""

_SHAPE_ALONE = ("Shape", "Size", "GatherShapes", "ZerosLike", "OnesLike")
"""Operators whose content depends on no content."""


def size_operands(node: Node) -> tuple[str, ...]:
    """The values that ``node`` reads as sizes."""
    names = SIZE_OPERANDS.get(node.op)
    if names is None:
        return ()
    try:
        bound = bind(node)
    except IrError:  # reported when the node is inferred
        return ()
    values = [bound.get(name) for name in names]
    return tuple([value for value in values if isinstance(value, str)])


def wanted(graph: Graph, followed: frozenset[str]) -> frozenset[str]:
    """The values whose content some shape depends on, through operators whose content is followed."""
    needed: set[str] = set()
    for node in reversed(graph.nodes):
        needed.update(size_operands(node))
        if node.op in followed and node.op not in _SHAPE_ALONE and any(name in needed for name in node.outputs):
            needed.update([value for value in node.inputs if value is not None])
    return frozenset(needed)
