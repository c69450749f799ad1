"""What is stated of the interpreter's math holds for NumPy on this machine."""

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.compare import ulp_error
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.target_math import CPU, target_math

ARGUMENTS = {"Atan2": 2, "Pow": 2}


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32], ids=str)
@pytest.mark.parametrize("operator", [b.operator for b in CPU.bounds])
def test_the_interpreter_keeps_its_bounds(operator: str, dtype: dt.DType) -> None:
    rng = np.random.default_rng(0)
    shape = (ARGUMENTS.get(operator, 1), 4096)
    drawn = rng.normal(size=shape) * rng.choice([1e-4, 0.1, 1.0, 10.0, 60.0], shape)
    inputs = list((np.abs(drawn) if operator == "Pow" else drawn).astype(numpy_dtype(dtype)))
    exact = evaluate_asc(operator, dtype, {}, inputs, "float64")
    got = evaluate_asc(operator, dtype, {}, inputs)
    largest = np.nanmax(ulp_error(got, exact))
    assert largest <= target_math("interpreter").max_ulp(operator, dtype), largest


def test_exact_operators_have_no_room_and_inexact_ones_have() -> None:
    cpu = target_math("cpu")
    assert cpu.ulp_from_rounded("Add", dt.float32) == 0
    assert cpu.ulp_from_rounded("Sqrt", dt.float64) == 0
    assert cpu.ulp_from_rounded("Exp", dt.float32) == 1
    assert cpu.ulp_from_rounded("Erfc", dt.float64) == 4
    assert cpu.max_ulp("Mul", dt.int32) == 0
    assert cpu.max_ulp("Exp", dt.float16) == 0.5 + 2**-13
    assert cpu.max_ulp("Exp", dt.bfloat16) == 0.5 + 2**-16


def test_a_target_without_bounds_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no bounds are stated for the math of target 'abacus'"):
        target_math("abacus")
