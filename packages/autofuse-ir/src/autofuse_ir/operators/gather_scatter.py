"""Gathers, scatters, segments, sorting, and matrices from diagonals."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.GATHER_SCATTER

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.DISCONTINUOUS),
        "Gather[T: all](x: T, indices: index; validate_indices: bool = True, batch_dims: int = 0,"
        " is_preprocessed: bool = False, negative_index_support: bool = False) -> y: T"
        "  # rows of the axis after batch_dims",
        "GatherV2[T: all](x: T, indices: index, axis: index; batch_dims: int = 0, is_preprocessed: bool = False,"
        " negative_index_support: bool = False) -> y: T  # an index out of range is an error",
        "GatherNd[T: all](x: T, indices: index; batch_dims: int = 0, negative_index_support: bool = False) -> y: T"
        "  # the last dim of indices selects the dims after batch_dims",
        "GatherElements[T: all](x: T, index: index; dim: int = 0, negative_index_support: bool = False) -> y: T",
        "OneHot[T: all, I: number](x: I, depth: number, on_value: T, off_value: T; axis: int = -1) -> y: T"
        "  # an index outside -depth..depth-1 gives a row of off_value",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.DISCONTINUOUS),
        "IndexFill[T: all](x: T, indices: index, value: T; dim: int) -> y: T"
        "  # value at every index along dim: a scatter; negative indices count from the end",
        "Index[T: all](x: T, indexed_sizes: int64, indexed_strides: int64, indices*: index) -> y: T"
        "  # NumPy's advanced indexing on the dims with a 1 in indexed_sizes",
        "ScatterElements[T: all](data: T, indices: index, updates: T; axis: int = 0, reduction: str = 'none') -> y: T"
        "  # none, add, mul, max or min; negative indices count from the end",
        "TensorScatterUpdate[T: all](x: T, indices: index, updates: T) -> y: T",
        "TopKV2[T: number](x: T, k: index; sorted: bool = True, dim: int = -1, largest: bool = True,"
        " indices_dtype: int = 3) -> values: T, indices: ascend(indices_dtype)  # of equal elements the first",
        "Sort[T: number](x: T; axis: int = -1, descending: bool = False, stable: bool = True) -> y1: T, y2: int32",
        "SearchSorted[T: number](sorted_sequence: T, values: T; dtype: int = 9, right: bool = False)"
        " -> out: ascend(dtype)",
        "Bucketize[T: number](x: T; boundaries: float[], dtype: int = 3, right: bool = True) -> y: ascend(dtype)",
        "MatrixDiagV2[T: all](diagonal: T, k: index, num_rows: index, num_cols: index, padding_value: T) -> output: T"
        "  # batches of diagonals k[0]..k[1]; -1 rows or columns: as few as fit",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.DISCONTINUOUS, Flag.EXTENSION),
        "TopK[T: number](X: T, K: int64; axis: int = -1, largest: bool = True, sorted: bool = True)"
        " -> Values: T, Indices: int64",
        "ScatterND[T: all](data: T, indices: int64, updates: T; reduction: str = 'none') -> output: T",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.DISCONTINUOUS, Flag.DATA_DEPENDENT),
        "DynamicStitch[T: all](indices*: int32, x*: T; N: int = 1) -> y: T  # y[indices[n]] = x[n]; later n win",
        "UnsortedSegmentSum[T: number](x: T, segment_ids: index, num_segments: index; is_preprocessed: bool = False,"
        " check_ids: bool = False) -> y: T  # negative ids are dropped",
        "UnsortedSegmentMax[T: number](x: T, segment_ids: index, num_segments: index) -> y: T"
        "  # an empty segment gives the lowest value",
        "UnsortedSegmentMin[T: number](x: T, segment_ids: index, num_segments: index) -> y: T"
        "  # an empty segment gives the highest value",
        "SparseToDense[T: all](indices: index, output_shape: index, values: T, default_value: T;"
        " validate_indices: bool = True) -> y: T",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.DISCONTINUOUS, Flag.DATA_DEPENDENT, Flag.EXTENSION),
        "NonZero(X: all) -> Y: int64  # [rank, count] positions in row-major order",
        "Compress[T: all](input: T, condition: bool; axis?: int) -> output: T",
        "Unique[T: all](X: T; axis?: int, sorted: bool = True)"
        " -> Y: T, indices?: int64, inverse_indices?: int64, counts?: int64",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.DISCONTINUOUS, Flag.IN_PLACE),
        "ScatterAdd[T: number](var: T, indices: index, updates: T; use_locking: bool = False) -> var: T",
        "ScatterNdAdd[T: all](var: T, indices: index, updates: T; use_locking: bool = False) -> var: T",
        "ScatterNdUpdate[T: all](var: T, indices: index, updates: T; use_locking: bool = False) -> var: T",
        "ScatterNdMax[T: all](var: T, indices: index, updates: T; use_locking: bool = False) -> var: T",
        "ScatterNdMin[T: all](var: T, indices: index, updates: T; use_locking: bool = False) -> var: T",
        "InplaceIndexAdd[T: all](var: T, indices: index, updates: T, alpha?: T; axis: int) -> var: T",
        "ViewCopy[T: all](dst: T, dst_size: index, dst_stride: index, dst_storage_offset: index, src: T,"
        " src_size: index, src_stride: index, src_storage_offset: index) -> dst: T  # strides count elements",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST,),
        "DiagPartD[T: number](x: T, assist: T) -> y: T  # the diagonal of a tensor of even rank",
    ),
)
