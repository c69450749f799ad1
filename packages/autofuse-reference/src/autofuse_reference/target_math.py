"""How exact the math of a target is: per operator and dtype, in units in the last place (ULP).

Everything not listed is correctly rounded: arithmetic, roots, comparisons, casts, roundings to integers. 16-bit floats
are computed in float32 and rounded once more.

* ``cpu``: the promises of the vector headers of autofuse-codegen (``math_bounds.toml``), which its tests hold them to.
* ``ascend-*``: the table of autofuse-ascend-sim (its README, column ULP) for what has an instruction there; what is
  composed of those has their errors added up. It bounds the emulator; no chip was measured.
* ``interpreter``: NumPy. Its vector functions are within 4 ULP (NumPy's own tests, NEP 38); the C library's, which it
  calls for other types and machines, are within 2 (glibc manual, "Errors in Math Functions"). Compositions add up.
"""

from math import floor

from attrs import frozen
from autofuse_ir.dtypes import DType, DTypeKind, float16, float32

from autofuse_reference.errors import EvaluationError

CORRECTLY_ROUNDED = 0.5
NUMPY_FUNCTION = 4.0
"""Bounds in ULP: of what is rounded once, and of functions that NumPy computes."""


@frozen
class MathBound:
    """Largest distance of ``operator`` (of AscIR) from the exact value in ULP of the result, by dtype."""

    operator: str
    float32: float
    float64: float


@frozen
class TargetMath:
    """The bounds of one target."""

    target: str
    bounds: tuple[MathBound, ...]

    def max_ulp(self, operator: str, dtype: DType) -> float:
        """Return the largest distance from the exact value; 0.5 is correct rounding, integers and bools have 0."""
        if dtype.kind is not DTypeKind.FLOAT:
            return 0.0
        bound = next((b for b in self.bounds if b.operator == operator), None)
        if bound is None:
            return CORRECTLY_ROUNDED
        if dtype.bits == 16:
            # One ULP of float32 is 2^-13 of float16's and 2^-16 of bfloat16's.
            return CORRECTLY_ROUNDED + bound.float32 * 2.0 ** (-13 if dtype == float16 else -16)
        return bound.float32 if dtype == float32 else bound.float64

    def ulp_from_rounded(self, operator: str, dtype: DType) -> int:
        """Return how many ULP the result may be from the correctly rounded one; 0 for exact operators."""
        largest = self.max_ulp(operator, dtype)
        return 0 if largest <= CORRECTLY_ROUNDED else floor(largest + CORRECTLY_ROUNDED)


CPU = TargetMath(
    "cpu",
    (
        MathBound("Exp", 1.0, 1.0),
        MathBound("Exp2", 1.25, 1.25),
        MathBound("Expm1", 1.5, 2.0),
        MathBound("Ln", 1.0, 1.0),
        MathBound("Log2", 1.0, 1.0),
        MathBound("Log10", 1.0, 1.0),
        MathBound("Log1p", 1.0, 1.0),
        MathBound("Tanh", 1.75, 1.75),
        MathBound("Sigmoid", 1.5, 1.5),
        MathBound("Erf", 1.25, 1.5),
        MathBound("Erfc", 0.51, 4.0),
        MathBound("Sin", 0.51, 1.0),
        MathBound("Cos", 0.51, 1.0),
        MathBound("Tan", 0.51, 2.5),
        MathBound("Asin", 0.51, 2.0),
        MathBound("Acos", 0.51, 1.5),
        MathBound("Atan", 0.51, 2.0),
        MathBound("Sinh", 0.51, 2.5),
        MathBound("Cosh", 0.51, 2.0),
        MathBound("Asinh", 0.51, 2.0),
        MathBound("Acosh", 0.51, 2.5),
        MathBound("Atanh", 0.51, 2.0),
        MathBound("Sqrt", 0.5, 0.5),
        MathBound("Rsqrt", 1.5, 1.5),
        MathBound("Pow", 0.6, 1.75),
        MathBound("Atan2", 0.51, 2.0),
    ),
)

_COMPOSED = {"Rsqrt": 1.5, "Sigmoid": 8.0, "Sqrt": CORRECTLY_ROUNDED}
"""Sigmoid is 1 / (1 + e) or e / (1 + e) with e = exp(-|x|): the error of e twice, and two roundings."""

INTERPRETER = TargetMath(
    "interpreter",
    tuple(
        MathBound(b.operator, bound, bound)
        for b in CPU.bounds
        for bound in (_COMPOSED.get(b.operator, NUMPY_FUNCTION),)
    ),
)

_EMULATED = {
    **dict.fromkeys(("Exp", "Ln"), 2.0),
    **dict.fromkeys(("Erf", "Erfc", "Tanh", "Sigmoid", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"), 1.0),
    **dict.fromkeys(("Sinh", "Cosh", "Asinh", "Acosh", "Log2", "Log10", "Pow", "Exp2", "Fmod"), 1.0),
    "Reciprocal": CORRECTLY_ROUNDED,
    "Rsqrt": 1.5,
    "Log1p": 5.0,
    "Expm1": 6.0,
    "Atanh": 8.0,
    "Atan2": 3.0,
    "Mod": 1.0,
}

ASCEND: tuple[TargetMath, ...] = tuple(
    TargetMath(target, tuple(MathBound(op, bound, bound) for op, bound in _EMULATED.items()))
    for target in ("ascend-a2", "ascend-a3", "ascend-350")
)

TARGET_MATH: tuple[TargetMath, ...] = (CPU, INTERPRETER, *ASCEND)


def target_math(target: str) -> TargetMath:
    """Return the bounds of ``target``; raises ``EvaluationError`` where none are stated."""
    for math in TARGET_MATH:
        if math.target == target:
            return math
    raise EvaluationError(
        f"no bounds are stated for the math of target {target!r}",
        where="autofuse_reference.target_math",
        fix=f"known are {', '.join(m.target for m in TARGET_MATH)}",
    )
