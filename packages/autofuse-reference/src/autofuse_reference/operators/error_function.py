"""The error function on arrays, within two ULP of float64: Taylor series around the nearest of evenly spaced points."""

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from autofuse_reference.arrays import Array

_PER_UNIT = 64
"""Points per unit: arguments are at most 1/128 from one, so eight terms reach 1e-18 of the largest slope."""
_TERMS = 9
_END = 6.0
"""From here on erf rounds to 1 in float64."""
_CHUNK = 1 << 14
"""Elements computed at a time, so that intermediate arrays stay in cache."""


@cache
def _coefficients() -> npt.NDArray[np.float64]:
    """Return the Taylor coefficients at every point, one row per power.

    The derivatives of erf satisfy f'' = -2 t f', hence for the coefficients c[n+2] = (-2 t c[n+1] - 2 n c[n] / (n+1)) /
    (n+2).
    """
    points = np.arange(int(_END) * _PER_UNIT + 1) / _PER_UNIT
    rows = [np.asarray([math.erf(t) for t in points]), 2 / math.sqrt(math.pi) * np.exp(-points * points)]
    for n in range(_TERMS - 2):
        # The constant term takes no part in the recurrence: n is 0 there.
        rows.append((-2 * points * rows[n + 1] - 2 * n / (n + 1) * rows[n]) / (n + 2))
    return np.asarray(rows)


def erf(x: Array) -> Array:
    """Return erf(x) in the dtype of ``x``, computed in float64; odd, so -0.0 stays, and NaN stays."""
    result = np.empty(x.size, x.dtype)
    flat = np.ascontiguousarray(x).reshape(-1)
    for start in range(0, x.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        result[part] = _erf(flat[part].astype(np.float64))
    return result.reshape(x.shape)


def _erf(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    magnitude = np.minimum(np.abs(x), _END)  # NaN passes through
    index = np.rint(np.where(np.isnan(magnitude), 0.0, magnitude) * _PER_UNIT).astype(np.intp)
    offset = magnitude - index / _PER_UNIT
    rows = _coefficients()
    total: npt.NDArray[np.float64] = np.take(rows[-1], index)
    for row in rows[-2::-1]:
        total *= offset
        total += np.take(row, index)
    return np.asarray(np.copysign(total, x), np.float64)
