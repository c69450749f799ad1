"""Element-wise operators of one input."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.ELEMENTWISE
_PLAIN = (Flag.VECTOR, Flag.ELEMENTWISE)

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        _PLAIN,
        "Abs[T: number](x: T) -> y: T  # magnitude",
        "Acos[T: float](x: T) -> y: T",
        "Acosh[T: float](x: T) -> y: T",
        "Asin[T: float](x: T) -> y: T",
        "Asinh[T: float](x: T) -> y: T",
        "Atan[T: float](x: T) -> y: T",
        "Atanh[T: float](x: T) -> y: T",
        "Cos[T: float](x: T) -> y: T  # radians",
        "Cosh[T: float](x: T) -> y: T",
        "Erf[T: float](x: T) -> y: T",
        "Erfc[T: float](x: T) -> y: T  # 1 - erf(x), exact for large x",
        "Expm1[T: float](x: T) -> y: T  # exp(x) - 1, exact near 0",
        "Log1p[T: float](x: T) -> y: T  # ln(1 + x), exact near 0",
        "Neg[T: number](x: T) -> y: T",
        "Reciprocal[T: float](x: T) -> y: T",
        "Rsqrt[T: float](x: T) -> y: T  # 1 / sqrt(x)",
        "Sin[T: float](x: T) -> y: T  # radians",
        "Sinh[T: float](x: T) -> y: T",
        "Sqrt[T: float](x: T) -> y: T",
        "Square[T: number](x: T) -> y: T",
        "Tan[T: float](x: T) -> y: T  # radians",
        "Tanh[T: float](x: T) -> y: T",
        "Identity[T: any](x: T) -> y: T",
        "StopGradient[T: any](x: T) -> y: T  # the input; it matters to differentiation only",
        "TensorMove[T: all](x: T) -> y: T  # a copy in a buffer of its own",
        "ZerosLike[T: all](x: T) -> y: T",
        "OnesLike[T: all](x: T) -> y: T",
        "Fills[T: all](x: T; value: float) -> y: T  # value in the shape of x",
        "Muls[T: number](x: T; value: float) -> y: T  # x * value, value rounded to T first",
        "Adds[T: number](x: T; value: float) -> y: T  # x + value, value rounded to T first",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMPOSITE),
        "Exp[T: float](x: T; base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> y: T"
        "  # base ** (scale * x + shift); base -1 means e",
        "Log[T: number](x: T; base: float = -1.0, scale: float = 1.0, shift: float = 0.0) -> y: floating(x)"
        "  # logarithm of scale * x + shift; base -1 means e",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.DISCONTINUOUS),
        "Ceil[T: float](x: T) -> y: T",
        "Floor[T: float](x: T) -> y: T",
        "Rint[T: float](x: T) -> y: T  # nearest integer, halves to even",
        "Round[T: number](x: T; decimals: int = 0) -> y: T  # halves to even; integers pass through for decimals >= 0",
        "Trunc[T: float](x: T) -> y: T  # towards zero",
        "Sign[T: number](x: T) -> y: T  # -1, 0 or 1; NaN stays",
        "Cast(x: all; dst_type: int) -> y: ascend(dst_type)"
        "  # floats to integers truncate and saturate, NaN gives 0; to bool: not equal to 0",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.ELEMENTWISE, Flag.SHAPE_ONLY),
        "Bitcast(x: all; type: dtype) -> y: dtype(type)  # the same bits read as another dtype of the same width",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.ELEMENTWISE),
        "Erfinv[T: float](x: T) -> y: T",
        "Lgamma[T: float](x: T) -> y: T  # ln(abs(gamma(x)))",
        "Digamma[T: float](x: T) -> y: T",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST,),
        "HcomAllReduce[T: number](x: T; reduction: str, group: str, fusion: int = 1, fusion_id: int = -1) -> y: T"
        "  # sum, prod, max or min over the devices of a group",
    ),
)
