"""Axes: negative ones count from the end; what is joined over several axes is numbered from outer to inner."""

import numpy as np
from autofuse_ir.reduction import tree_for

from autofuse_reference.arrays import Array, dtype_of
from autofuse_reference.operators.call import Call
from autofuse_reference.operators.reduction_tree import reduce_axes


def normalised(call: Call, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return ``axes`` as distinct numbers in 0..rank-1."""
    result = tuple(axis + rank if axis < 0 else axis for axis in axes)
    if any(not 0 <= axis < rank for axis in result):
        call.fail(f"axes {list(axes)} do not fit rank {rank}")
    if len(set(result)) != len(result):
        call.fail(f"axes {list(axes)} name one axis twice")
    return result


def keep_dims(shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    """Return the shape of a reduction of ``shape`` over ``axes``."""
    if keep:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def by_tree(op: str, x: Array, axes: tuple[int, ...], keep: bool = False) -> Array:
    """Return ``x`` joined by AscIR reduction ``op`` over ``axes`` in its own dtype, in the order of kernels.

    That order depends on whether the innermost axis of more than one element is among ``axes``; the error of a sum
    grows with the logarithm of its length either way.
    """
    innermost = max((axis for axis, size in enumerate(x.shape) if size != 1), default=0)
    found = reduce_axes(op, x, tuple(sorted(axes)), tree_for(dtype_of(x), innermost in axes))
    return found.reshape(keep_dims(x.shape, axes, keep))


def total(x: Array, axes: tuple[int, ...], keep: bool = False) -> Array:
    """Return the sum of ``x`` over ``axes`` in its own dtype, in the order of kernels."""
    return by_tree("Sum", x, axes, keep)


def mean(x: Array, axes: tuple[int, ...], keep: bool = False) -> Array:
    """Return the mean of floats ``x`` over ``axes``; NaN for no elements."""
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return np.asarray(total(x, axes, keep) / x.dtype.type(count))
