"""Integer arithmetic: it wraps as NumPy's, and division by zero is an error."""

from collections.abc import Callable

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.errors import Status, StatusError


def _divisor(b: Array) -> Array:
    if b.size and not np.all(b):
        raise StatusError(Status.DIVISION_BY_ZERO)
    return b


def is_float(array: Array) -> bool:
    """True for floats that NumPy computes with (after widening there are no others)."""
    return array.dtype.kind == "f"


def truncate_divide(a: Array, b: Array) -> Array:
    """Return a / b rounded towards zero."""
    if is_float(a):
        return np.asarray(np.trunc(np.divide(a, b)))
    quotient = np.floor_divide(a, _divisor(b))
    if a.dtype.kind == "u":
        return np.asarray(quotient)
    inexact = np.remainder(a, b) != 0
    return np.asarray(quotient + (inexact & ((a < 0) != (b < 0))).astype(a.dtype))


def floor_divide(a: Array, b: Array) -> Array:
    """Return a / b rounded down; of floats the exact quotient (``numpy.floor_divide``): 1.0 / 0.1 gives 9.0."""
    return np.asarray(np.floor_divide(a, b if is_float(b) else _divisor(b)))


def divide(a: Array, b: Array) -> Array:
    """Return a / b; integers are rounded towards zero."""
    return np.asarray(np.divide(a, b)) if is_float(a) else truncate_divide(a, b)


def _checked(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: function(a, b if is_float(b) else _divisor(b))


floor_mod = _checked(np.remainder)
"""Remainder of division rounded down: it has the sign of the divisor."""

truncate_mod = _checked(np.fmod)
"""Remainder of division rounded towards zero: it has the sign of the dividend."""


def power(a: Array, b: Array) -> Array:
    """Return a ** b of one dtype; integers wrap, and negative integer exponents are an error as in NumPy."""
    if not is_float(b) and np.any(b < 0):
        raise StatusError(Status.NEGATIVE_EXPONENT)
    return np.asarray(np.power(a, b))
