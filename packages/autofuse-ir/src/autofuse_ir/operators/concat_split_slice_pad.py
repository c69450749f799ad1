"""Concatenation, splits, slices and padding."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.CONCAT_SPLIT_SLICE_PAD
_MASKS = (
    "begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0"
)

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR,),
        "Concat[T: all](concat_dim: index, x*: T; N: int = 1) -> y: T",
        "ConcatD[T: all](x*: T; concat_dim: int, N: int = 1) -> y: T",
        "ConcatV2[T: all](x*: T, concat_dim: index; N: int = 1) -> y: T",
        "ConcatV2D[T: all](x*: T; concat_dim: int, N: int = 1) -> y: T",
        "MultisliceConcat[T: all](x: T; concat_size: int[], slice_begin: int[], silce_size: int[], concat_num: int,"
        " max_concat_size: int) -> y*: T  # output i joins concat_size[i] slices of the last axis",
        "Pack[T: all](x*: T; axis: int = 0, N: int = 1) -> y: T  # joins along a new axis",
        "Unpack[T: all](x: T; num: int, axis: int = 0) -> y*: T  # the inverse of Pack",
        "Split[T: all](split_dim: index, x: T; num_split: int) -> y*: T  # equal pieces",
        "SplitD[T: all](x: T; split_dim: int, num_split: int) -> y*: T  # equal pieces",
        "SplitV[T: all](x: T, size_splits: index, split_dim: index; num_split: int) -> y*: T"
        "  # pieces of the given sizes; one may be -1",
        "SplitVD[T: all](x: T; size_splits: int[], split_dim: int, num_split: int) -> y*: T",
        "Slice[T: all](x: T, offsets: index, size: index) -> y: T  # size -1 reaches to the end",
        "SliceD[T: all](x: T; offsets: int[], size: int[]) -> y: T",
        f"StridedSlice[T: all](x: T, begin: index, end: index, strides: index; {_MASKS}) -> y: T",
        f"StridedSliceD[T: all](x: T; begin: int[], end: int[], strides: int[], {_MASKS}) -> y: T",
        f"StridedSliceV2[T: all](x: T, begin: index, end: index, axes?: index, strides?: index; {_MASKS}) -> y: T"
        "  # ONNX Slice: ends beyond the tensor are clamped",
        "StridedSliceV3[T: all](x: T, begin: index, end: index, axes?: index, strides?: index) -> y: T"
        "  # ONNX Slice: ends beyond the tensor are clamped",
        "Pad[T: all](x: T, paddings: index) -> y: T  # zeros; paddings rows (before, after)",
        "PadD[T: all](x: T; paddings: int[][]) -> y: T",
        "PadV3[T: all](x: T, paddings: index, constant_values?: T; mode: str = 'constant',"
        " paddings_contiguous: bool = True) -> y: T"
        "  # constant, reflect, edge, symmetric or circular; not contiguous: all befores, then all afters",
    ),
)
