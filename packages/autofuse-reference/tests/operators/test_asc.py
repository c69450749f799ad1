"""Every element-wise AscIR operator has a meaning in every dtype its table names."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import ASC_OPS, AscKind, AscOp, AscResult
from autofuse_reference.arrays import dtype_of, numpy_dtype
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.operators.asc import evaluate_asc

ELEMENTWISE = tuple(op for op in ASC_OPS if op.kind is AscKind.ELEMENTWISE)


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_every_operator_gives_its_declared_dtype_and_broadcasts(op: AscOp) -> None:
    for dtype in filter(op.computes_on, dt.TENSOR_DTYPES):
        inputs = [np.full(shape, 1).astype(numpy_dtype(dtype)) for shape in ((2, 1), (3,), ())[: op.arity]]
        if op.name == "Select":
            inputs[0] = inputs[0].astype(np.bool_)
        result = evaluate_asc(op.name, dtype, {}, inputs)
        assert dtype_of(result) == (dt.bool_ if op.result is AscResult.BOOL else dtype)
        assert result.shape == np.broadcast_shapes(*(x.shape for x in inputs))
        wide = evaluate_asc(op.name, dtype, {}, inputs, "float64")
        assert dtype_of(wide) == (
            dt.float64 if dtype.is_float and op.result is not AscResult.BOOL else dtype_of(result)
        )


SCALAR_MATH: dict[str, Callable[[float], float]] = {
    "Exp": math.exp,
    "Exp2": math.exp2,
    "Expm1": math.expm1,
    "Ln": math.log,
    "Log2": math.log2,
    "Log10": math.log10,
    "Log1p": math.log1p,
    "Sin": math.sin,
    "Cos": math.cos,
    "Tan": math.tan,
    "Asin": math.asin,
    "Acos": math.acos,
    "Atan": math.atan,
    "Sinh": math.sinh,
    "Cosh": math.cosh,
    "Tanh": math.tanh,
    "Asinh": math.asinh,
    "Atanh": math.atanh,
    "Erf": math.erf,
    "Erfc": math.erfc,
    "Sqrt": math.sqrt,
    "Rsqrt": lambda x: 1 / math.sqrt(x),
    "Reciprocal": lambda x: 1 / x,
    "Sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "Floor": math.floor,
    "Ceil": math.ceil,
    "Trunc": math.trunc,
    "Round": round,
}


@pytest.mark.parametrize("name", sorted(SCALAR_MATH))
def test_float_functions_are_those_of_the_mathematics_library(name: str) -> None:
    for value in (0.125, 0.5, 0.875):
        (result,) = evaluate_asc(name, dt.float64, {}, [np.asarray([value])])
        assert result == pytest.approx(SCALAR_MATH[name](value), rel=4e-16)


def test_divisions_and_remainders_of_integers_follow_their_rounding() -> None:
    a = np.asarray([7, -7, 7, -7, 6], np.int32)
    b = np.asarray([2, 2, -2, -2, -3], np.int32)
    assert evaluate_asc("TruncDiv", dt.int32, {}, [a, b]).tolist() == [3, -3, -3, 3, -2]
    assert evaluate_asc("FloorDiv", dt.int32, {}, [a, b]).tolist() == [3, -4, -4, 3, -2]
    assert evaluate_asc("Mod", dt.int32, {}, [a, b]).tolist() == [1, 1, -1, -1, 0]
    assert evaluate_asc("Fmod", dt.int32, {}, [a, b]).tolist() == [1, -1, 1, -1, 0]


@pytest.mark.parametrize("name", ["TruncDiv", "FloorDiv", "Mod", "Fmod"])
def test_integer_division_by_zero_is_an_error(name: str) -> None:
    with pytest.raises(StatusError, match="an integer was divided by zero"):
        evaluate_asc(name, dt.int8, {}, [np.asarray([1], np.int8), np.asarray([0], np.int8)])


def test_integers_wrap() -> None:
    low = np.asarray([-128], np.int8)
    assert evaluate_asc("Neg", dt.int8, {}, [low]).tolist() == [-128]
    assert evaluate_asc("Abs", dt.int8, {}, [low]).tolist() == [-128]
    assert evaluate_asc("TruncDiv", dt.int8, {}, [low, np.asarray([-1], np.int8)]).tolist() == [-128]
    assert evaluate_asc("Mul", dt.uint8, {}, [np.asarray([200], np.uint8), np.asarray([2], np.uint8)]).tolist() == [144]
    assert evaluate_asc("Pow", dt.int8, {}, [np.asarray([3], np.int8), np.asarray([5], np.int8)]).tolist() == [-13]


def test_negative_integer_exponents_are_an_error() -> None:
    with pytest.raises(StatusError, match="negative power"):
        evaluate_asc("Pow", dt.int64, {}, [np.asarray([1]), np.asarray([-1])])
    assert evaluate_asc(
        "Pow", dt.float32, {}, [np.asarray([2.0], np.float32), np.asarray([-1.0], np.float32)]
    ).tolist() == [0.5]


def test_float_quotients_are_rounded_down_from_their_exact_value() -> None:
    a, b = np.asarray([1.0, -1.0, 7.0]), np.asarray([0.1, 0.1, 0.0])
    assert evaluate_asc("FloorDiv", dt.float64, {}, [a, b]).tolist() == [9.0, -10.0, np.inf]


def test_shifts_by_the_width_or_more_leave_nothing() -> None:
    x, by = np.asarray([1, -1], np.int8), np.asarray([8, 9], np.int8)
    assert evaluate_asc("LeftShift", dt.int8, {}, [x, by]).tolist() == [0, 0]
    assert evaluate_asc("RightShift", dt.int8, {}, [x, by]).tolist() == [0, -1]


def test_special_values_follow_ieee() -> None:
    x = np.asarray([np.nan, np.inf, -np.inf, -0.0, 0.0], np.float32)
    assert evaluate_asc("IsInf", dt.bool_, {"positive": True, "negative": False}, [x]).tolist() == [
        False,
        True,
        False,
        False,
        False,
    ]
    assert evaluate_asc("IsInf", dt.bool_, {}, [x]).sum() == 2
    assert np.isnan(evaluate_asc("Maximum", dt.float32, {}, [x, np.zeros(5, np.float32)])[0])
    assert np.signbit(evaluate_asc("Neg", dt.float32, {}, [x])[4])
    assert np.signbit(evaluate_asc("Sqrt", dt.float32, {}, [x])[3])
    assert evaluate_asc("Div", dt.float32, {}, [np.ones(2, np.float32), x[3:]]).tolist() == [-np.inf, np.inf]


def test_half_additions_round_once() -> None:
    one, small = np.asarray([2048], np.float16), np.asarray([1], np.float16)
    assert evaluate_asc("Add", dt.float16, {}, [one, small]).tolist() == [2048]
    assert evaluate_asc("Add", dt.float16, {}, [one, small], "float64").tolist() == [2049]


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(EvaluationError, match="Softmax is not an element-wise operator"):
        evaluate_asc("Softmax", dt.float32, {}, [np.zeros(1)])
