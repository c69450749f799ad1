"""Loads and Stores that run across rows: neighbours in their data are not neighbours along the innermost loop axis.

    y[i, j] = x[j, i] + ...        a column of x for each row of y

Columns that share cache lines are loaded together where the loop around the strips walks their neighbours, and where a
row is short enough for their lines to stay. A tile of pieces along both axes has that for any sizes.
"""

from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.dims import const
from autofuse_ir.schedule import TilingCase


def crossed_cases(graph: AscGraph) -> tuple[TilingCase, ...]:
    """Return a case for each axis along which a Load or Store has its neighbours across rows: split it and the rows."""
    if not graph.axes:
        return ()
    innermost = graph.axes[-1].name
    across = dict.fromkeys(axis for node in graph.nodes for axis in _across(node, len(graph.axes) - 1, innermost))
    return tuple(TilingCase(f"{axis}_{innermost}", (axis, innermost)) for axis in across)


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
