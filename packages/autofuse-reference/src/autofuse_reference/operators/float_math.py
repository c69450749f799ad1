"""Functions of floats that NumPy lacks, or that need care near limits. All keep the dtype of their input."""

import math
from collections.abc import Callable

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.extremes import maximum


def _by_libm(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """Return ``function`` of the C library, computed in float64 and rounded once to the dtype of the input."""

    def apply(x: Array) -> Array:
        values = map(function, x.astype(np.float64).reshape(-1).tolist())
        return np.fromiter(values, np.float64, x.size).reshape(x.shape).astype(x.dtype)

    return apply


def _log_gamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


erfc = _by_libm(math.erfc)
log_gamma = _by_libm(_log_gamma)


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) without overflow: exp is only taken of negative numbers."""
    small = np.exp(-np.abs(x))
    one = x.dtype.type(1)
    return np.asarray(np.where(x < 0, small, one) / (one + small))


def softplus(x: Array) -> Array:
    """Return ln(1 + exp(x)) without overflow."""
    return np.asarray(maximum(x, np.asarray(0, x.dtype)) + np.log1p(np.exp(-np.abs(x))))


def erfinv(x: Array) -> Array:
    """Return the inverse of erf: Winitzki's approximation, then Newton steps in float64 until they no longer help."""
    y = x.astype(np.float64)
    inside = np.where(np.abs(y) < 1, y, 0.0)
    log = np.log1p(-inside * inside)
    half = 2 / (np.pi * 0.147) + log / 2
    root = np.sign(inside) * np.sqrt(np.sqrt(half * half - log / 0.147) - half)
    for _ in range(4):
        # 1 - |erf| by erfc keeps the residual exact where erf is close to 1.
        residual = np.where(inside >= 0, (1 - inside) - erfc(root), erfc(-root) - (1 + inside))
        step = residual * np.sqrt(np.pi) / 2 * np.exp(root * root)
        root = root - np.where(np.isfinite(step), step, 0.0)
    edge = np.where(y == 1, np.inf, np.where(y == -1, -np.inf, np.nan))
    return np.asarray(np.where(np.abs(y) < 1, root, edge)).astype(x.dtype)


_BERNOULLI_OVER_2N = (1 / 12, 1 / 120, 1 / 252, 1 / 240, 1 / 132, 691 / 32760, 1 / 12)
"""|B(2n)| / 2n for n = 1, 2, ...; their signs alternate (Abramowitz and Stegun, 6.3.18)."""


def digamma(x: Array) -> Array:
    """Return the derivative of ln(gamma): recurrence up to 10, then the asymptotic series; reflection below 0."""
    y = x.astype(np.float64)
    pole = (y <= 0) & (y == np.floor(y))
    reflected = y < 0
    z = np.where(reflected, 1 - y, np.where(pole, 1.0, y))
    total = np.zeros_like(z)
    for _ in range(10):
        low = z < 10
        total = np.where(low, total - 1 / z, total)
        z = np.where(low, z + 1, z)
    inverse = 1 / (z * z)
    series = np.zeros_like(z)
    for coefficient in reversed(_BERNOULLI_OVER_2N):
        series = inverse * (coefficient - series)
    result = total + np.log(z) - 0.5 / z - series
    fraction = y - np.round(y)
    result = np.where(reflected, result - np.pi / np.tan(np.pi * np.where(reflected, fraction, 0.25)), result)
    result = np.where(pole, np.where(y == 0, -np.copysign(np.inf, y), np.nan), result)
    return np.asarray(np.where(np.isposinf(y), np.inf, result)).astype(x.dtype)
