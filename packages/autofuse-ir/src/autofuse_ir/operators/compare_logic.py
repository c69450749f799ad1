"""Comparisons, tests of floats, logic and bits."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.COMPARE_LOGIC
_PLAIN = (Flag.VECTOR, Flag.ELEMENTWISE)

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMMUTATIVE, Flag.DISCONTINUOUS),
        "Equal[T: all](x1: T, x2: T) -> y: bool",
        "NotEqual[T: all](x1: T, x2: T) -> y: bool",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.DISCONTINUOUS),
        "Greater[T: all](x1: T, x2: T) -> y: bool",
        "GreaterEqual[T: all](x1: T, x2: T) -> y: bool",
        "Less[T: all](x1: T, x2: T) -> y: bool",
        "LessEqual[T: all](x1: T, x2: T) -> y: bool",
        "IsFinite[T: all](x: T) -> y: bool  # always true for integers and bool",
        "IsInf[T: float](x: T; detect_positive: bool = True, detect_negative: bool = True) -> y: bool",
        "IsNan[T: float](x: T) -> y: bool",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMMUTATIVE),
        "BitwiseAnd[T: bits](x1: T, x2: T) -> y: T",
        "BitwiseOr[T: bits](x1: T, x2: T) -> y: T",
        "BitwiseXor[T: bits](x1: T, x2: T) -> y: T",
        "LogicalAnd[T: all](x1: T, x2: T) -> y: bool  # not equal to 0 is true",
        "LogicalOr[T: all](x1: T, x2: T) -> y: bool  # not equal to 0 is true",
    ),
    *declare(
        _FAMILY,
        (*_PLAIN, Flag.COMMUTATIVE, Flag.EXTENSION),
        "LogicalXor[T: all](x1: T, x2: T) -> y: bool  # ONNX Xor; not equal to 0 is true",
    ),
    *declare(
        _FAMILY,
        _PLAIN,
        "Invert[T: bits](x: T) -> y: T  # all bits flipped",
        "LogicalNot[T: all](x: T) -> y: bool  # equal to 0",
        "LeftShift[T: integer](x: T, y: T) -> z: T  # shifts of at least the width give 0",
        "RightShift[T: integer](x: T, y: T) -> z: T  # arithmetic for signed types",
    ),
)
