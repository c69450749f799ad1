"""Loads and Stores that run across rows: neighbours in their data are not neighbours along the innermost loop axis.

    y[i, j] = x[j, i] + ...        a column of x for each row of y

Columns that share cache lines are loaded together where the loop around the strips walks their neighbours, and where a
row is short enough for their lines to stay. A tile of pieces along both axes has that for any sizes.
"""

from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.dims import const
from autofuse_ir.schedule import TilingCase
from autofuse_ir.target import TargetSpec


def crossed_cases(graph: AscGraph) -> tuple[TilingCase, ...]:
    """Return a case for each axis along which a Load or Store has its neighbours across rows: split it and the rows."""
    innermost = graph.axes[-1].name if graph.axes else ""
    return tuple(TilingCase(f"{axis}_{innermost}", (axis, innermost)) for axis in crossed_axes(graph))


def crossed_axes(graph: AscGraph) -> tuple[str, ...]:
    """Return the axes along which a Load or Store has its neighbours, where rows go along another one."""
    if not graph.axes:
        return ()
    last = len(graph.axes) - 1
    return tuple(dict.fromkeys(axis for node in graph.nodes for axis in _across(node, last, graph.axes[-1].name)))


def rows_on_a_line(graph: AscGraph, axis: str, target: TargetSpec) -> int:
    """Return how many neighbours along ``axis`` to load together: a cache line of them where it is crossed, or one."""
    if axis not in crossed_axes(graph):
        return 1
    return max(1, target.cache_line_bytes // narrowest_bytes(graph))


def narrowest_bytes(graph: AscGraph) -> int:
    """Return the bytes of the narrowest element that a Load or Store moves; 1 where nothing is moved."""
    return max(1, min((node.dtype.itemsize for node in graph.nodes if node.access is not None), default=1))


def lanes_of(graph: AscGraph, target: TargetSpec) -> int:
    """Return the elements of the widest vector any value of ``graph`` needs: one vector of the narrowest type."""
    return max(1, target.vector_bytes // narrowest_bytes(graph))


def _across(node: AscNode, last: int, innermost: str) -> tuple[str, ...]:
    """The axis of the contiguous dim of ``node``'s data, where a row of the loop goes along another dim."""
    if node.access is None or node.repeats[last] == const(1):
        return ()
    walked = [(size, dim) for size, dim in zip(node.access.memory, node.access.dims, strict=True) if size != const(1)]
    if not walked or walked[-1][1].axis in (None, innermost):
        return ()
    if all(dim.axis != innermost for _, dim in walked):
        return ()
    axis = walked[-1][1].axis
    return (axis,) if axis is not None else ()
