"""erf on arrays is the mathematics library's, to two ULP."""

import math

import ml_dtypes
import numpy as np
from autofuse_reference.compare import ulp_error
from autofuse_reference.operators.error_function import erf
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(derandomize=True, database=None, deadline=None, max_examples=300)


def test_a_dense_sweep_stays_within_two_ulp() -> None:
    x = np.concatenate([np.linspace(-7, 7, 40_001), np.geomspace(1e-300, 6, 5_000)])
    exact = np.asarray([math.erf(v) for v in x])
    assert ulp_error(erf(x), exact).max() <= 2


@LAW
@given(st.floats(width=64, allow_nan=False))
def test_erf_is_odd_and_close_everywhere(x: float) -> None:
    plus, minus = erf(np.asarray([x, -x]))
    assert plus == -minus
    assert math.copysign(1, plus) == math.copysign(1, x)
    assert abs(plus - math.erf(x)) <= 2 * np.spacing(abs(math.erf(x)))


def test_special_values_and_shapes() -> None:
    values = erf(np.asarray([[np.nan, np.inf], [-np.inf, -0.0]], np.float32))
    assert np.isnan(values[0, 0])
    assert values[0, 1] == 1
    assert values[1, 0] == -1
    assert np.signbit(values[1, 1])
    assert values.dtype == np.float32
    assert erf(np.zeros((0, 3))).shape == (0, 3)
    assert erf(np.asarray(1.0, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    assert erf(np.full((3, 40_000), 0.5).T).shape == (40_000, 3)
