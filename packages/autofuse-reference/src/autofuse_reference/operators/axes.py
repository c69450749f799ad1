"""Axes: negative ones count from the end; sums over several axes are pairwise."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.call import Call


def normalised(call: Call, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return ``axes`` as distinct numbers in 0..rank-1."""
    result = tuple(axis + rank if axis < 0 else axis for axis in axes)
    if any(not 0 <= axis < rank for axis in result):
        call.fail(f"axes {list(axes)} do not fit rank {rank}")
    if len(set(result)) != len(result):
        call.fail(f"axes {list(axes)} name one axis twice")
    return result


def rows(x: Array, axes: tuple[int, ...]) -> Array:
    """Return ``x`` with ``axes`` moved to the end and flattened to one contiguous axis."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = np.transpose(x, (*kept, *axes))
    length = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return np.ascontiguousarray(moved).reshape(*(x.shape[axis] for axis in kept), length)


def keep_dims(shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    """Return the shape of a reduction of ``shape`` over ``axes``."""
    if keep:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def total(x: Array, axes: tuple[int, ...], keep: bool = False) -> Array:
    """Return the sum of ``x`` over ``axes`` in its own dtype.

    The axes are brought together innermost, because NumPy sums pairwise there and one by one elsewhere: the error grows
    with the logarithm of the length.
    """
    summed = np.add.reduce(rows(x, axes), axis=-1, dtype=x.dtype)
    return np.asarray(summed).reshape(keep_dims(x.shape, axes, keep))


def mean(x: Array, axes: tuple[int, ...], keep: bool = False) -> Array:
    """Return the mean of floats ``x`` over ``axes``; NaN for no elements."""
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return np.asarray(total(x, axes, keep) / x.dtype.type(count))
