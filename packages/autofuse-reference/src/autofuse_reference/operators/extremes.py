"""Minimum and maximum as every target computes them.

A NaN operand is the result (the first one where both are), and of two equal operands the second is taken: that matters
for -0.0 and 0.0, whose order NumPy leaves to the machine.
"""

import numpy as np

from autofuse_reference.arrays import Array


def minimum(a: Array, b: Array) -> Array:
    """Return the smaller of ``a`` and ``b``, which broadcast."""
    return _second_of_equals(a, b, np.asarray(np.minimum(a, b)))


def maximum(a: Array, b: Array) -> Array:
    """Return the larger of ``a`` and ``b``, which broadcast."""
    return _second_of_equals(a, b, np.asarray(np.maximum(a, b)))


def _second_of_equals(a: Array, b: Array, result: Array) -> Array:
    if result.dtype.kind == "f":
        np.copyto(result, b, where=a == b)
    return result
