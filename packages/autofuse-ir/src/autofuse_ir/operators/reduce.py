"""Reductions and scans over axes."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.REDUCE
_KEEP = "keep_dims: bool = False"
_NOOP = f"{_KEEP}, noop_with_empty_axes: bool = True"
_AXES = "axes: int[]"

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.REDUCTION),
        f"ReduceSum[T: number](x: T, axes?: index; {_NOOP}) -> y: T",
        f"ReduceMax[T: all](x: T, axes?: index; {_NOOP}) -> y: T  # NaN when any element is; nothing gives the lowest",
        f"ReduceMin[T: all](x: T, axes?: index; {_NOOP}) -> y: T  # NaN when any element is; nothing gives the highest",
        f"ReduceProd[T: number](x: T, axes?: index; {_NOOP}) -> y: T",
        f"ReduceAll[T: all](x: T, axes?: index; {_NOOP}) -> y: bool  # not equal to 0 is true",
        f"ReduceAny[T: all](x: T, axes?: index; {_NOOP}) -> y: bool  # not equal to 0 is true",
        f"ReduceSumD[T: number](x: T; {_AXES}, {_KEEP}) -> y: T",
        f"ReduceMaxD[T: all](x: T; {_AXES}, {_KEEP}) -> y: T",
        f"ReduceMinD[T: all](x: T; {_AXES}, {_KEEP}) -> y: T",
        f"ReduceProdD[T: number](x: T; {_AXES}, {_KEEP}) -> y: T",
        f"ReduceAllD[T: all](x: T; {_AXES}, {_KEEP}) -> y: bool",
        f"ReduceAnyD[T: all](x: T; {_AXES}, {_KEEP}) -> y: bool",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.REDUCTION, Flag.COMPOSITE),
        f"ReduceMean[T: number](x: T, axes?: index; {_NOOP}) -> y: T  # integers truncate towards zero",
        f"ReduceMeanD[T: number](x: T; {_AXES}, {_KEEP}, noop_with_empty_axes: bool = False) -> y: T",
        f"ReduceLogSum[T: float](x: T, axes?: index; {_NOOP}) -> y: T  # ln(sum(x))",
        f"ReduceLogSumExp[T: float](x: T, axes?: index; {_NOOP}) -> y: T  # ln(sum(exp(x))) without overflow",
        f"SquareSumV1[T: number](x: T; axis: int[], {_KEEP}, noop_with_empty_axes: bool = False) -> y: T  # sum(x * x)",
        "LpNormV2[T: number](x: T; p: float = 2.0, axes: int[] = [], keepdim: bool = False, epsilon: float = 1e-12)"
        " -> y: T  # sum(abs(x) ** p) ** (1 / p); p may be infinite; no axes means all",
        "L2Loss[T: float](x: T) -> y: T  # sum(x * x) / 2 over all axes",
        "BiasAddGrad[T: number](x: T; data_format: str = 'NHWC') -> y: T  # sum over all axes but the channel one",
        "ReduceStdV2[T: float](x: T; dim: int[] = [], unbiased: bool = True, keepdim: bool = False)"
        " -> std: T, mean: T  # no axes means all",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.REDUCTION, Flag.DISCONTINUOUS),
        f"ArgMaxWithValue[T: number](x: T; dimension: int, {_KEEP}, indice_dtype: dtype = int32)"
        " -> indice: dtype(indice_dtype), values: T  # the first maximum; NaN counts as the largest",
        f"ArgMinWithValue[T: number](x: T; dimension: int, {_KEEP}, indice_dtype: dtype = int32)"
        " -> indice: dtype(indice_dtype), values: T  # the first minimum; NaN counts as the smallest",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.REDUCTION, Flag.DISCONTINUOUS, Flag.EXTENSION),
        "ArgMax[T: number](data: T; axis: int = 0, keepdims: bool = True, select_last_index: bool = False)"
        " -> reduced: int64",
        "ArgMin[T: number](data: T; axis: int = 0, keepdims: bool = True, select_last_index: bool = False)"
        " -> reduced: int64",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR,),
        "Cumsum[T: number](x: T, axis: index; exclusive: bool = False, reverse: bool = False) -> y: T",
        "Cumprod[T: number](x: T, axis: index; exclusive: bool = False, reverse: bool = False) -> y: T",
    ),
)
