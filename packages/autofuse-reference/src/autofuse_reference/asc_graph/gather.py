"""Loads that may leave their data, or whose index is a value: element by element instead of as a strided view."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Bounds
from autofuse_ir.dims import Dim

from autofuse_reference.arrays import Array, dtype_of, numpy_dtype
from autofuse_reference.asc_graph.scalars import constant_value
from autofuse_reference.errors import EvaluationError, Status, StatusError

FARTHEST = 2**40
"""No dim has that many elements: operands are cut here, so that index arithmetic does not wrap."""


@frozen(eq=False)
class Places:
    """Flat element of each point (0 where it is outside), and which points are inside; both broadcast."""

    element: Array
    inside: Array

    def at(self, points: Array, count: int) -> "Places":
        """Return those at ``points`` of ``count`` points."""
        element, inside = (np.broadcast_to(each, (count,))[points] for each in (self.element, self.inside))
        return Places(element, inside)

    def read(self, node: AscNode, memory: Array) -> Array:
        """Return what Load ``node`` gives: the elements of flat ``memory``, and its fill outside."""
        element, inside = np.broadcast_arrays(self.element, self.inside)
        if not inside.any():
            return np.full(inside.shape, _fill(node, memory))
        found = memory[element]
        return found if inside.all() else np.where(inside, found, _fill(node, memory))


def index_of(dim_offset: int, dim_step: int, position: Array) -> Array:
    """Return ``offset + step * position`` as int64."""
    if position.dtype == np.uint64:
        position = np.minimum(position, np.uint64(FARTHEST))
    return dim_offset + dim_step * np.clip(position.astype(np.int64), -FARTHEST, FARTHEST)


def places(
    node: AscNode,
    positions: Mapping[str, Array],
    operands: Sequence[Array],
    size: Callable[[Dim], int],
    exists: Array,
    kernel: str,
) -> Places:
    """Return which element Load ``node`` reads at each point.

    ``positions`` are the indices of the axes and ``operands`` the index operands, all broadcast; ``exists`` says which
    points there are, the others read nothing. Raises ``StatusError`` where a point is outside and bounds are ERROR, and
    ``EvaluationError`` where they are INSIDE.
    """
    assert node.access is not None
    element, inside = np.zeros((), np.int64), np.ones((), np.bool_)
    for extent, dim in zip(map(size, node.access.memory), node.access.dims, strict=True):
        index = np.asarray(size(dim.offset))
        if dim.operand is not None:
            index = index_of(size(dim.offset), size(dim.step), operands[dim.operand])
        elif dim.axis is not None:
            index = index_of(size(dim.offset), size(dim.step), positions[dim.axis])
        is_in = (index >= 0) & (index < extent)
        if node.access.bounds is not Bounds.FILL and not (is_in | ~exists).all():
            outside = np.broadcast_arrays(index, exists & ~is_in)
            raise outside_of(node, int(outside[0][outside[1]].reshape(-1)[0]), extent, kernel)
        inside = inside & is_in
        element = element * extent + np.where(is_in, index, 0)
    return Places(np.where(inside & exists, element, 0), inside & exists)


def outside_of(node: AscNode, index: int, extent: int, kernel: str) -> EvaluationError | StatusError:
    """Return the error of ``node`` that reads at ``index`` of a dim of ``extent``."""
    source = f", operator {', '.join(node.source)}" if node.source else ""
    where = f"kernel {kernel}, node {node.name}{source}"
    if node.access is not None and node.access.bounds is Bounds.ERROR:
        fix = f"index {index} is outside of a dim of size {extent}"
        return StatusError(Status.INDEX_OUT_OF_RANGE, where=where, fix=fix)
    what = f"{node.op} reaches element {index} of a dim of {extent}"
    return EvaluationError(what, where=where, fix="its access map is wrong for these sizes")


def _fill(node: AscNode, memory: Array) -> Array:
    value = node.attr("fill", 0)
    assert isinstance(value, bool | int | float), "checks.check_access finds others"
    stored = dtype_of(memory)
    return constant_value(value, stored).astype(numpy_dtype(stored)).reshape(())
