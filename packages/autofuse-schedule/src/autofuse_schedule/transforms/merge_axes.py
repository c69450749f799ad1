"""Merge neighbouring loop axes that every value walks together.

before   axes z0 = n, z1 = 768; every Load and Store is contiguous over (z0, z1)
after    axis z0z1 = 768*n; accesses have one data dim of that size
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, const
from autofuse_ir.graph import Attr
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.strides import dense_strides

from autofuse_schedule.transforms.drop_unit_axes import DropUnitAxes


@frozen
class MergedAxes:
    """A graph over merged root axes, and every axis that led there (parents before children)."""

    graph: AscGraph
    axes: tuple[Axis, ...]


@frozen
class MergeAxes:
    """Pure: fewer, longer axes with the same meaning.

    Axes of provable size 1 disappear (`DropUnitAxes`); two neighbours merge when each value either varies along both or
    along neither, each Load and Store walks them as one contiguous run of its data, each reduction joins both or
    neither, and no operator counts or scans along one of them. Expects Broadcasts to be collapsed.
    """

    def __call__(self, graph: AscGraph) -> MergedAxes:
        """Return ``graph`` over as few axes as possible; at least one remains."""
        all_axes = list(graph.axes)
        graph = DropUnitAxes()(graph)
        position = 0
        while position + 1 < len(graph.axes):
            if not _can_merge(graph, position):
                position += 1
                continue
            graph = _merge(graph, position)
            all_axes.append(graph.axes[position])
        known = {axis.name for axis in all_axes}
        all_axes += [axis for axis in graph.axes if axis.name not in known]
        return MergedAxes(graph, tuple(all_axes))


def _can_merge(graph: AscGraph, position: int) -> bool:
    outer, inner = graph.axes[position], graph.axes[position + 1]
    for node in graph.nodes:
        if node.op in ("Data", "Output"):
            continue
        if (node.repeats[position] == outer.size) != (node.repeats[position + 1] == inner.size):
            return False
        reduced = reduced_axes(node)
        if (outer.name in reduced) != (inner.name in reduced):
            return False
        if node.op != "Broadcast" and node.attr("axis") in (outer.name, inner.name):
            return False
        if node.access is not None and not _walks_as_one(node.access, outer, inner):
            return False
    return True


def _walks_as_one(access: AccessMap, outer: Axis, inner: Axis) -> bool:
    places = {d.axis: i for i, d in enumerate(access.dims) if d.axis is not None}
    used_twice = len(places) != sum(d.axis is not None for d in access.dims)
    if used_twice:
        return False
    if outer.name not in places and inner.name not in places:
        return True
    if outer.name not in places or inner.name not in places:
        return False
    at = places[outer.name]
    if places[inner.name] != at + 1 or access.memory[at + 1] != inner.size:
        return False
    first, second = access.dims[at], access.dims[at + 1]
    return first.step == const(1) and second.step == const(1) and second.offset == const(0)


def _merge(graph: AscGraph, position: int) -> AscGraph:
    outer, inner = graph.axes[position], graph.axes[position + 1]
    merged = Axis(outer.name + inner.name, AxisKind.MERGED, outer.size * inner.size, (outer.name, inner.name))
    nodes = tuple(_merge_node(n, position, outer, inner, merged) for n in graph.nodes)
    return evolve(graph, axes=(*graph.axes[:position], merged, *graph.axes[position + 2 :]), nodes=nodes)


def _merge_node(node: AscNode, position: int, outer: Axis, inner: Axis, merged: Axis) -> AscNode:
    varies = node.repeats[position] == outer.size
    repeat: Dim = merged.size if varies else const(1)
    repeats = (*node.repeats[:position], repeat, *node.repeats[position + 2 :])
    access = node.access
    if access is not None:
        places = {d.axis: i for i, d in enumerate(access.dims)}
        if outer.name in places:
            at = places[outer.name]
            first = access.dims[at]
            dim = AccessDim(merged.name, const(1), first.offset * access.memory[at + 1])
            access = evolve(
                access,
                memory=(*access.memory[:at], access.memory[at] * access.memory[at + 1], *access.memory[at + 2 :]),
                dims=(*access.dims[:at], dim, *access.dims[at + 2 :]),
            )
    attrs = node.attrs
    if outer.name in reduced_axes(node):
        names = tuple(merged.name if a == outer.name else a for a in reduced_axes(node) if a != inner.name)
        attrs = tuple(Attr("axes", names) if attr.name == "axes" else attr for attr in attrs)
    return evolve(node, repeats=repeats, strides=dense_strides(repeats), access=access, attrs=attrs)
