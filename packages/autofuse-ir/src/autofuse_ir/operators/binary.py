"""Arithmetic of two or more inputs, which broadcast to one shape."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.BINARY
_PLAIN = (Flag.VECTOR, Flag.ELEMENTWISE)

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMMUTATIVE),
        "Add[T: number](x1: T, x2: T) -> y: T",
        "AddV2[T: number](x1: T, x2: T) -> y: T",
        "Mul[T: number, U: number](x1: T, x2: U) -> y: promote(x1, x2)",
        "Maximum[T: all](x1: T, x2: T) -> y: T  # NaN when either is NaN",
        "Minimum[T: all](x1: T, x2: T) -> y: T  # NaN when either is NaN",
    ),
    *declare(
        _FAMILY,
        _PLAIN,
        "Sub[T: number](x1: T, x2: T) -> y: T",
        "Div[T: number](x1: T, x2: T) -> y: T  # integers truncate towards zero",
        "RealDiv[T: float](x1: T, x2: T) -> y: T",
        "Atan2[T: float](x1: T, x2: T) -> y: T  # angle of the point (x2, x1)",
        "Pow[T: number, U: number](x1: T, x2: U) -> y: promote(x1, x2)"
        "  # integers wrap; a negative integer exponent is an error",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.DISCONTINUOUS),
        "FloorDiv[T: number](x1: T, x2: T) -> y: T  # floor of the exact quotient, as numpy.floor_divide",
        "TruncateDiv[T: number](x1: T, x2: T) -> y: T  # trunc(x1 / x2)",
        "FloorMod[T: number](x1: T, x2: T) -> y: T  # remainder with the sign of x2 (ONNX Mod with fmod=0)",
        "Mod[T: number](x1: T, x2: T) -> y: T  # remainder with the sign of x1 (ONNX Mod with fmod=1)",
        "TruncateMod[T: number](x1: T, x2: T) -> y: T  # the same as Mod",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMPOSITE, Flag.COMMUTATIVE),
        "SquaredDifference[T: number](x1: T, x2: T) -> y: T  # (x1 - x2) ** 2",
        "Hypot[T: float](x1: T, x2: T) -> y: T  # sqrt(x1**2 + x2**2) without overflow",
        "LogAddExp[T: float](x1: T, x2: T) -> y: T  # ln(exp(x1) + exp(x2)) without overflow",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMPOSITE),
        "DivNoNan[T: number](x1: T, x2: T) -> y: T  # 0 where x2 == 0",
        "Axpy[T: number](x1: T, x2: T; alpha: float) -> y: T  # x1 + alpha * x2",
        "AddN[T: number](x*: T; N: int) -> y: T  # sum from left to right, broadcast",
        "FusedMulAddN[T: number](x1: T, x2: T, x3: T) -> y: T  # x1 * x3 + x2, x3 one element",
        "Addcmul[T: number](input_data: T, x1: T, x2: T, value: T) -> y: T  # input_data + value * x1 * x2",
        "Addcdiv[T: float](input_data: T, x1: T, x2: T, value: T) -> y: T  # input_data + value * x1 / x2",
        "Lerp[T: float](start: T, end: T, weight: T) -> y: T  # start + weight * (end - start)",
        "ClipByValue[T: all](x: T, clip_value_min: T, clip_value_max: T) -> y: T  # max(min(x, hi), lo)",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMPOSITE, Flag.EXTENSION),
        "Clip[T: all](x: T, min?: T, max?: T) -> y: T"
        "  # min(max(x, lo), hi) as in ONNX: hi wins where lo > hi; a missing bound does not limit",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR,),
        "BiasAdd[T: number](x: T, bias: T; data_format: str = 'NHWC') -> y: T"
        "  # bias along the channel axis: the last for NHWC and NDHWC, axis 1 for NCHW and NCDHW",
        "Select[T: all](condition: bool, x1: T, x2: T) -> y: T"
        "  # condition ? x1 : x2; a condition of rank 1 chooses rows of axis 0",
    ),
    *declare(
        _FAMILY,
        _PLAIN,
        "SelectV2[T: all](condition: bool, then: T, else: T) -> result: T  # condition ? then : else, broadcast",
        "MaskedFill[T: all](x: T, mask: bool, value: T) -> y: T  # mask ? value : x",
    ),
)
