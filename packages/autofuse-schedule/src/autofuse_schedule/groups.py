"""The TilingGroup of each node, and of the nest that holds all of them."""

from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import TilingGroup
from autofuse_ir.tiling_group import merge

from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.roles import is_reduction, is_scan


def group_of_node(node: AscNode, axes: tuple[str, ...]) -> TilingGroup:
    """Return the roles of ``axes`` in ``node``.

    A reduction's own axes are ``r``; the axis of a scan goes in one piece, ``n``; all others run in parallel.
    """
    if is_reduction(node):
        reduced = reduced_axes(node)
        return TilingGroup(y=tuple(axis for axis in axes if axis not in reduced), r=reduced)
    if is_scan(node):
        scanned = node.attr("axis")
        return TilingGroup(y=tuple(axis for axis in axes if axis != scanned), n=tuple(a for a in axes if a == scanned))
    return TilingGroup(y=axes)


def group_of_graph(graph: AscGraph) -> TilingGroup:
    """Return the merged group of all computing nodes.

    Raises ``ScheduleError`` when two nodes cannot share a nest; fusion must not have put them together.
    """
    axes = tuple(axis.name for axis in graph.axes)
    merged: TilingGroup | None = None
    for node in graph.nodes:
        if node.op in NOT_EVALUATED:
            continue
        group = group_of_node(node, axes)
        joined = group if merged is None else merge(merged, group)
        if joined is None:
            raise ScheduleError(
                f"the axes of {node.op} cannot be tiled together with those of the nodes before it",
                where=f"kernel {graph.name}, node {node.name}",
                fix="report this: fusion made a kernel that no schedule exists for",
            )
        merged = joined
    return merged if merged is not None else TilingGroup(y=axes)
