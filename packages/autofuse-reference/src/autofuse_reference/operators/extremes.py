"""Minimum and maximum as every target computes them.

A NaN operand is the result (the second one where both are), and of two equal operands the first is taken: that matters
for -0.0 and 0.0, whose order NumPy leaves to the machine. The result is one of the operands, bit for bit.
"""

import math

import numpy as np

from autofuse_reference.arrays import Array


def minimum(a: Array, b: Array) -> Array:
    """Return the smaller of ``a`` and ``b``, which have one dtype and broadcast."""
    return np.where((b < a) | np.isnan(b), b, a)


def maximum(a: Array, b: Array) -> Array:
    """Return the larger of ``a`` and ``b``, which have one dtype and broadcast."""
    return np.where((b > a) | np.isnan(b), b, a)


def lowest(dtype: "np.dtype[np.generic]") -> bool | int | float:
    """Return the least value of a NumPy dtype (-inf for floats)."""
    if dtype.kind == "b":
        return False
    return -math.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)  # type: ignore[type-var]


def highest(dtype: "np.dtype[np.generic]") -> bool | int | float:
    """Return the greatest value of a NumPy dtype (inf for floats)."""
    if dtype.kind == "b":
        return True
    return math.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)  # type: ignore[type-var]
