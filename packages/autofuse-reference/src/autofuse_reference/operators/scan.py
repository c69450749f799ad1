"""Scans: each element joined with those before it, one after the other."""

import numpy as np

from autofuse_reference.arrays import Array

SCANS: dict[str, tuple["np.ufunc", int]] = {"CumSum": (np.add, 0), "CumProd": (np.multiply, 1)}


def scan(op: str, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    """Return CumSum or CumProd of ``x`` along ``axis`` in the dtype of ``x``, from the end where ``reverse``.

    The first element is itself, so that a leading -0.0 stays. ``exclusive`` moves the results one place on, after a
    first one of 0 (1 for a product).
    """
    function, identity = SCANS[op]
    ordered = np.flip(x, axis) if reverse else x
    with np.errstate(all="ignore"):
        result = np.asarray(function.accumulate(ordered, axis=axis, dtype=x.dtype))
    if exclusive and x.shape[axis]:
        shape = tuple(1 if number == axis else size for number, size in enumerate(x.shape))
        before = np.take(result, range(x.shape[axis] - 1), axis)
        result = np.concatenate([np.full(shape, identity, x.dtype), before], axis)
    return np.flip(result, axis) if reverse else result
