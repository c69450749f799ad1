"""Minimum and maximum decide what NumPy leaves open: the sign of zeros."""

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.evaluate import evaluate_operator

VALUES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("op", ["Minimum", "Maximum"])
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32, dt.float64], ids=str)
def test_nan_wins_and_of_equal_operands_the_second_is_taken(op: str, dtype: dt.DType) -> None:
    a, b = (np.array(v).astype(numpy_dtype(dtype)) for v in zip(*((x, y) for x in VALUES for y in VALUES), strict=True))
    for length in (1, 7, 49):  # vector loops and tails of NumPy may differ
        for start in range(0, 49 - length + 1, length):
            x, y = a[start : start + length], b[start : start + length]
            for result in (evaluate_asc(op, dtype, {}, [x, y]), evaluate_operator(op, {}, [x, y])[0]):
                for first, second, got in zip(*(v.astype(np.float64).tolist() for v in (x, y, result)), strict=True):
                    if np.isnan(first) or np.isnan(second):
                        assert np.isnan(got)
                        continue
                    wanted = second if first == second else (min if op == "Minimum" else max)(first, second)
                    assert (got, np.signbit(got)) == (wanted, np.signbit(wanted))
