"""The meaning of the operators of AscIR, the loop-level language, on NumPy.

Each node computes in its declared dtype: 16-bit floats in float32, rounded once to the dtype of the result.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import AscResult, asc_op
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import AttrValue

from autofuse_reference.arrays import Array
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators import float_math, integer_math
from autofuse_reference.operators.compare_logic import is_infinite
from autofuse_reference.operators.error_function import erf
from autofuse_reference.operators.extremes import maximum, minimum
from autofuse_reference.operators.precision import Precision, cast, internal_dtype, widen

_UNARY: dict[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Sign": np.sign,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
    "Reciprocal": np.reciprocal,
    "Exp": np.exp,
    "Exp2": np.exp2,
    "Expm1": np.expm1,
    "Ln": np.log,
    "Log2": np.log2,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Erf": erf,
    "Erfc": float_math.erfc,
    "Sigmoid": float_math.sigmoid,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Trunc": np.trunc,
    "Round": np.rint,
    "IsNan": np.isnan,
    "IsFinite": np.isfinite,
    "LogicalNot": np.logical_not,
    "BitwiseNot": np.invert,
}

_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "TruncDiv": integer_math.truncate_divide,
    "FloorDiv": integer_math.floor_divide,
    "Mod": integer_math.floor_mod,
    "Fmod": integer_math.truncate_mod,
    "Pow": integer_math.power,
    "Minimum": minimum,
    "Maximum": maximum,
    "Atan2": np.arctan2,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "LeftShift": np.left_shift,
    "RightShift": np.right_shift,
    "Eq": np.equal,
    "Ne": np.not_equal,
    "Lt": np.less,
    "Le": np.less_equal,
    "Gt": np.greater,
    "Ge": np.greater_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "LogicalXor": np.logical_xor,
}


def evaluate_asc(
    op_name: str,
    dtype: DType,
    attrs: Mapping[str, AttrValue],
    inputs: Sequence[Array],
    precision: Precision = "declared",
) -> Array:
    """Return the element-wise AscIR operator ``op_name`` of ``inputs``, which broadcast as NumPy's.

    ``dtype`` is the dtype of the node's result. ``Cast`` follows ``precision.cast`` (truncates, saturates, NaN gives
    0); integer divisions and remainders by zero
    and negative integer exponents raise ``EvaluationError``; ``IsInf`` asks
    for the signs of its attributes ``positive`` and ``negative`` (both unless said). In precision "float64" float
    results are float64.
    """
    used = [widen(np.asarray(x), precision) for x in inputs]
    with np.errstate(all="ignore"):
        result = np.asarray(_apply(op_name, dtype, attrs, used, precision))
    op = asc_op(op_name)
    declared = dt.bool_ if op is not None and op.result is AscResult.BOOL else dtype
    return cast(result, internal_dtype(declared, precision) if precision == "float64" else declared)


def _apply(
    name: str, dtype: DType, attrs: Mapping[str, AttrValue], inputs: Sequence[Array], precision: Precision
) -> Array:
    if name == "Cast":
        return inputs[0] if precision == "float64" and dtype.is_float else cast(inputs[0], dtype)
    if name == "Select":
        return np.where(inputs[0], inputs[1], inputs[2])
    if name == "IsInf":
        return is_infinite(inputs[0], bool(attrs.get("positive", True)), bool(attrs.get("negative", True)))
    if name in _UNARY:
        return _UNARY[name](inputs[0])
    if name in _BINARY:
        return _BINARY[name](inputs[0], inputs[1])
    raise EvaluationError(
        f"{name} is not an element-wise operator of AscIR", where="autofuse_reference", fix="see autofuse_ir.asc_ops"
    )
