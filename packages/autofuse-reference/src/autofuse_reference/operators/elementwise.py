"""The meaning of the element-wise operators of one input."""

import math

import numpy as np
from autofuse_ir.dtypes import DType, dtype_of_ascend_code

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.operators import float_math
from autofuse_reference.operators.call import Call, Meaning, unary
from autofuse_reference.operators.error_function import erf
from autofuse_reference.operators.precision import cast, widen


def _scalar(call: Call, name: str) -> Array:
    """Return attribute ``name`` rounded to the declared dtype of x, in the dtype the operator computes in."""
    if call.precision == "float64" and call.dtypes["x"].is_float:
        return np.asarray(call.number(name), np.float64)
    return widen(cast(np.asarray(call.number(name)), call.dtypes["x"]), call.precision)


def _fills(call: Call) -> Array:
    return np.full(call.array("x").shape, _scalar(call, "value"))


def _exponent(call: Call) -> Array:
    """Return scale * x + shift; a scale of 1 and a shift of 0 change nothing, not even -0.0."""
    x = call.array("x")
    if x.dtype.kind != "f":
        x = x.astype(np.float64 if call.precision == "float64" else np.float32)
    scale, shift = call.number("scale"), call.number("shift")
    if scale != 1.0:
        x = x * x.dtype.type(scale)
    return x if shift == 0.0 else x + x.dtype.type(shift)


def _exp(call: Call) -> Array:
    x, base = _exponent(call), call.number("base")
    if base == -1.0:
        return np.asarray(np.exp(x))
    if base == 2.0:
        return np.asarray(np.exp2(x))
    return np.asarray(np.exp(x * x.dtype.type(math.log(base))))


def _log(call: Call) -> Array:
    x, base = _exponent(call), call.number("base")
    if base == -1.0:
        return np.asarray(np.log(x))
    if base == 2.0:
        return np.asarray(np.log2(x))
    if base == 10.0:
        return np.asarray(np.log10(x))
    return np.asarray(np.log(x) * x.dtype.type(1 / math.log(base)))


def _round(call: Call) -> Array:
    x, decimals = call.array("x"), call.integer("decimals")
    if decimals == 0:
        return np.asarray(np.rint(x)) if x.dtype.kind == "f" else x
    return x if x.dtype.kind != "f" and decimals > 0 else np.asarray(np.round(x, decimals))


def _cast(call: Call) -> Array:
    target = dtype_of_ascend_code(call.integer("dst_type"))
    if target is None:
        call.fail(f"dst_type {call.integer('dst_type')} is not a dtype that kernels can hold")
    if call.precision == "float64" and target.is_float:
        return call.array("x").astype(np.float64)
    return cast(call.array("x"), target)


def _bitcast(call: Call) -> Array:
    x, target, declared = call.array("x"), call.attrs["type"], call.dtypes["x"]
    if not isinstance(target, DType) or target.bits != declared.bits:
        call.fail(f"{declared} cannot be read as {target}: their widths differ")
    # In float64 the declared bits have to be made first.
    return cast(x, declared).reshape(x.shape).view(numpy_dtype(target))


MEANINGS: tuple[Meaning, ...] = (
    unary("Abs", np.abs),
    unary("Acos", np.arccos),
    unary("Acosh", np.arccosh),
    unary("Asin", np.arcsin),
    unary("Asinh", np.arcsinh),
    unary("Atan", np.arctan),
    unary("Atanh", np.arctanh),
    unary("Cos", np.cos),
    unary("Cosh", np.cosh),
    unary("Erf", erf),
    unary("Erfc", float_math.erfc),
    unary("Expm1", np.expm1),
    unary("Log1p", np.log1p),
    unary("Neg", np.negative),
    unary("Reciprocal", np.reciprocal),
    unary("Rsqrt", lambda x: np.reciprocal(np.sqrt(x))),
    unary("Sin", np.sin),
    unary("Sinh", np.sinh),
    unary("Sqrt", np.sqrt),
    unary("Square", np.square),
    unary("Tan", np.tan),
    unary("Tanh", np.tanh),
    Meaning("Identity", lambda call: call.array("x"), moves=True),
    Meaning("StopGradient", lambda call: call.array("x"), moves=True),
    Meaning("TensorMove", lambda call: call.array("x").copy(), moves=True),
    unary("ZerosLike", np.zeros_like),
    unary("OnesLike", np.ones_like),
    Meaning("Fills", _fills),
    Meaning("Muls", lambda call: call.array("x") * _scalar(call, "value")),
    Meaning("Adds", lambda call: call.array("x") + _scalar(call, "value")),
    Meaning("Exp", _exp),
    Meaning("Log", _log),
    unary("Ceil", np.ceil),
    unary("Floor", np.floor),
    unary("Rint", np.rint),
    Meaning("Round", _round),
    unary("Trunc", np.trunc),
    unary("Sign", np.sign),
    Meaning("Cast", _cast),
    Meaning("Bitcast", _bitcast, moves=True),
    unary("Erfinv", float_math.erfinv),
    unary("Lgamma", float_math.log_gamma),
    unary("Digamma", float_math.digamma),
)
