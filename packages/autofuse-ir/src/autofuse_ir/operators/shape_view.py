"""Shapes, views, and tensors made from a shape."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.SHAPE_VIEW

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.SHAPE_ONLY),
        "Reshape[T: any](x: T, shape: index; axis: int = 0, num_axes: int = -1, allowzero: bool = False) -> y: T"
        "  # 0 copies the input's dim (unless allowzero), -1 is inferred; axis and num_axes choose the dims replaced",
        "Squeeze[T: any](x: T; axis: int[] = []) -> y: T  # no axis means every dim of size 1",
        "SqueezeV3[T: any](x: T, axes?: index) -> y: T  # no axes means every dim of size 1",
        "Unsqueeze[T: any](x: T; axes: int[] = []) -> y: T  # positions in the result",
        "UnsqueezeV3[T: any](x: T, axes: index) -> y: T  # positions in the result",
        "ExpandDims[T: any](x: T, axis: index) -> y: T  # one new dim at position axis of the result",
        "Flatten[T: any](x: T; axis: int = 1) -> y: T  # rank 2: the dims before axis, and the others",
        "FlattenV2[T: any](x: T; axis: int = 1, end_axis: int = -1) -> y: T  # the dims axis..end_axis become one",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR,),
        "Shape(x: any; dtype: int = 3, start: int = 0, end?: int) -> y: ascend(dtype)  # dims start..end as a vector",
        "Size(x: any; dtype: int = 3) -> y: ascend(dtype)  # number of elements, rank 0",
        "GatherShapes(x*: any; axes: int[][], dtype: int = 3) -> shape: ascend(dtype)"
        "  # the dims named by (input, dim) pairs",
        "Expand[T: all](x: T, shape: index) -> y: T  # x and shape broadcast to each other, as in ONNX",
        "BroadcastTo[T: all](x: T, shape: index) -> y: T",
        "Fill[T: any](dims: index, value: T) -> y: T  # value in the shape dims",
        "Tile[T: all](x: T, multiples: index) -> y: T",
        "TileD[T: all](x: T; multiples: int[]) -> y: T",
        "Transpose[T: all](x: T, perm: index) -> y: T",
        "TransposeD[T: all](x: T; perm: int[]) -> y: T",
        "DepthToSpace[T: all](x: T; block_size: int, mode: str = 'DCR', data_format: str = 'NHWC') -> y: T",
        "SpaceToDepth[T: all](x: T; block_size: int, mode: str = 'DCR', data_format: str = 'NHWC') -> y: T",
        "Trilu[T: all](x: T, k?: int64; upper: bool = True) -> y: T  # the triangle right of diagonal k, or left of it",
        "Tril[T: all](x: T; diagonal: int = 0) -> y: T",
        "Triu[T: all](x: T; diagonal: int = 0) -> y: T",
        "Eye(; num_rows: int, num_columns: int = 0, batch_shape: int[] = [], dtype: int = 0) -> y: ascend(dtype)"
        "  # num_columns 0 means num_rows",
        "ReverseV2[T: all](x: T, axis: index) -> y: T",
        "Roll[T: all](x: T; shifts: int[], dims: int[] = []) -> y: T  # no dims means the flattened tensor",
        "AsStrided[T: all](x: T, size: index, stride: index, storage_offset?: index) -> y: T"
        "  # strides count elements of the row-major x",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.EXTENSION),
        "EyeLike[T: all](x: T; dtype?: int, k: int = 0) -> y: onnx(dtype) | T  # ones on diagonal k",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.DATA_DEPENDENT),
        "Range[T: number](start: T, limit: T, delta: T; is_closed: bool = False) -> y: T"
        "  # start + i * delta before limit (or up to it)",
        "LinSpace[T: float](start: T, stop: T, num: index) -> y: T  # num points from start to stop",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.DATA_DEPENDENT),
        "Repeat[T: all](x: T, repeat_times: index) -> y: T  # row i of x repeat_times[i] times",
        "RepeatInterleave[T: all](x: T, repeats: index; axis: int = 0) -> y: T",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR,),
        "ReverseSequence[T: all](x: T, seq_lengths: index; seq_dim: int, batch_dim: int = 0) -> y: T"
        "  # for each batch the first seq_lengths elements in reverse",
    ),
)
