"""Minimum and maximum as every target computes them.

A NaN operand is the result (the first one where both are), and of two equal operands the second is taken: that matters
for -0.0 and 0.0, whose order NumPy leaves open.
"""

import numpy as np

from autofuse_reference.arrays import Array


def minimum(a: Array, b: Array) -> Array:
    """Return the smaller of ``a`` and ``b``, which broadcast."""
    return np.minimum(a, b) if a.dtype.kind != "f" else np.where(a == b, b, np.minimum(a, b))


def maximum(a: Array, b: Array) -> Array:
    """Return the larger of ``a`` and ``b``, which broadcast."""
    return np.maximum(a, b) if a.dtype.kind != "f" else np.where(a == b, b, np.maximum(a, b))
