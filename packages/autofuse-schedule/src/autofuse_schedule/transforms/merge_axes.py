"""Merge neighbouring loop axes that every value walks together.

before   axes z0 = n, z1 = 768; every Load and Store is contiguous over (z0, z1)
after    axis z0z1 = 768*n; accesses have one data dim of that size
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, const
from autofuse_ir.strides import dense_strides


@frozen
class MergedAxes:
    """A graph over merged root axes, and every axis that led there (parents before children)."""

    graph: AscGraph
    axes: tuple[Axis, ...]


@frozen
class MergeAxes:
    """Pure: fewer, longer axes with the same meaning.

    Axes of provable size 1 disappear; two neighbours merge when each value either varies along both or along neither,
    and each Load and Store walks them as one contiguous run of its data. Expects Broadcasts to be collapsed.
    """

    def __call__(self, graph: AscGraph) -> MergedAxes:
        """Return ``graph`` over as few axes as possible; at least one remains."""
        all_axes = list(graph.axes)
        graph = _drop_unit_axes(graph)
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


def _drop_unit_axes(graph: AscGraph) -> AscGraph:
    one = const(1)
    keep = [i for i, axis in enumerate(graph.axes) if axis.size != one]
    if not keep:
        keep = [0] if graph.axes else []
    if not graph.axes:
        unit = Axis("z", AxisKind.ORIGINAL, one)
        nodes = tuple(
            evolve(n, repeats=(one,), strides=(const(0),), access=_simplify(n.access, set())) for n in graph.nodes
        )
        return evolve(graph, axes=(unit,), nodes=nodes)
    dropped = {axis.name for i, axis in enumerate(graph.axes) if i not in keep}
    nodes = tuple(
        evolve(
            n,
            repeats=tuple(n.repeats[i] for i in keep),
            strides=tuple(n.strides[i] for i in keep),
            access=_simplify(n.access, dropped),
        )
        for n in graph.nodes
    )
    return evolve(graph, axes=tuple(graph.axes[i] for i in keep), nodes=nodes)


def _simplify(access: AccessMap | None, unit_axes: set[str]) -> AccessMap | None:
    """Index 0 of a unit axis is the constant offset; data dims of size 1 at offset 0 do not matter."""
    if access is None:
        return None
    dims = tuple(AccessDim(None, const(0), d.offset) if d.axis in unit_axes else d for d in access.dims)
    kept = [
        (size, dim)
        for size, dim in zip(access.memory, dims, strict=True)
        if not (size == const(1) and dim.axis is None and dim.offset == const(0))
    ]
    return AccessMap(tuple(size for size, _ in kept), tuple(dim for _, dim in kept))


def _can_merge(graph: AscGraph, position: int) -> bool:
    outer, inner = graph.axes[position], graph.axes[position + 1]
    for node in graph.nodes:
        if node.op in ("Data", "Output"):
            continue
        if (node.repeats[position] == outer.size) != (node.repeats[position + 1] == inner.size):
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
            access = AccessMap(
                (*access.memory[:at], access.memory[at] * access.memory[at + 1], *access.memory[at + 2 :]),
                (*access.dims[:at], dim, *access.dims[at + 2 :]),
            )
    return evolve(node, repeats=repeats, strides=dense_strides(repeats), access=access)
