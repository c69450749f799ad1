"""Reductions by the tree of ``autofuse_ir.reduction``: the same bits as every kernel, whatever its schedule.

Arrays have the elements that are joined on their last axis, in the order of their numbers.
"""

from collections.abc import Callable

import numpy as np
from autofuse_ir.reduction import Tree

from autofuse_reference.arrays import Array
from autofuse_reference.operators.extremes import highest, lowest, maximum, minimum
from autofuse_reference.operators.precision import Precision

_JOIN: dict[str, Callable[[Array, Array], Array]] = {
    "Sum": np.add,
    "Prod": np.multiply,
    "Max": maximum,
    "Min": minimum,
    "Any": np.logical_or,
    "All": np.logical_and,
}


def identity(op: str, dtype: "np.dtype[np.generic]") -> Array:
    """Return what reduction ``op`` in ``dtype`` starts from: it changes no element that it is joined with."""
    value = {"Sum": -0.0 if dtype.kind == "f" else 0, "Prod": 1, "Any": False, "All": True}.get(op)
    if value is None:
        value = lowest(dtype) if op == "Max" else highest(dtype)
    return np.asarray(value, dtype)


def reduce_axes(op: str, x: Array, axes: tuple[int, ...], tree: Tree, precision: Precision = "declared") -> Array:
    """Join ``x`` along ``axes`` (numbers, outer to inner), which stay with size 1, in the dtype of ``x``.

    In precision "float64" sums and products of floats are NumPy's, pairwise.
    """
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    if precision == "float64" and x.dtype.kind == "f" and op in ("Sum", "Prod"):
        join = np.add if op == "Sum" else np.multiply
        return np.asarray(join.reduce(_rows(x, axes), axis=-1)).reshape(shape)
    with np.errstate(all="ignore"):
        return join_leaves(op, leaves(op, _rows(x, axes), tree)).reshape(shape)


def leaves(op: str, x: Array, tree: Tree) -> Array:
    """Return the results of the leaves of ``x``, on its last axis: ``ceil(n / leaf)`` of them."""
    whole = x.shape[-1] // tree.leaf * tree.leaf
    kept = x.shape[:-1]
    found = [_join_leaf(op, x[..., :whole].reshape(*kept, whole // tree.leaf, tree.leaf), tree)]
    if whole < x.shape[-1]:
        found.append(_join_leaf(op, x[..., None, whole:], tree))
    return np.concatenate(found, axis=-1)


def join_leaves(op: str, x: Array) -> Array:
    """Join the results of leaves level by level, each even one with its right neighbour; the last axis goes.

    No leaves at all give the identity, and +0.0 for a sum.
    """
    if x.shape[-1] == 0:
        return np.full(x.shape[:-1], 0 if op == "Sum" else identity(op, x.dtype), x.dtype)
    while x.shape[-1] > 1:
        pairs = x.shape[-1] // 2 * 2
        joined = _JOIN[op](x[..., 0:pairs:2], x[..., 1:pairs:2])
        x = np.concatenate([joined, x[..., pairs:]], axis=-1)
    return x[..., 0]


def _join_leaf(op: str, x: Array, tree: Tree) -> Array:
    """Join the last axis, of 1 to ``leaf`` elements: each partial its elements in order, then halves of partials."""
    start = identity(op, x.dtype)
    partials = np.full((*x.shape[:-1], tree.partials), start)
    for first in range(0, x.shape[-1], tree.partials):
        chunk = x[..., first : first + tree.partials]
        partials[..., : chunk.shape[-1]] = _JOIN[op](partials[..., : chunk.shape[-1]], chunk)
    while partials.shape[-1] > 1:
        half = partials.shape[-1] // 2
        partials = _JOIN[op](partials[..., :half], partials[..., half:])
    return partials[..., 0]


def _rows(x: Array, axes: tuple[int, ...]) -> Array:
    """Return ``x`` with ``axes`` moved to the end and flattened to one contiguous axis."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    moved = np.transpose(x, (*kept, *axes))
    length = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return np.ascontiguousarray(moved).reshape(*(x.shape[axis] for axis in kept), length)
