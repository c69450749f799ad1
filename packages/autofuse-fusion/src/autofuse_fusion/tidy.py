"""Leaves out of a written kernel what nothing needs: values that nobody reads, axes that nothing varies along.

A widening that the next cast skips leaves such a value behind, the largest of equal elements such an axis.
"""

from attrs import evolve
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.needed import needed_nodes


def tidied(graph: AscGraph) -> AscGraph:
    """Return ``graph`` with what its outputs need; all of its inputs stay."""
    kept = needed_nodes(graph)
    used = [
        any(node.repeats[k] != 1 or _is_about(node, axis.name) for node in kept) for k, axis in enumerate(graph.axes)
    ]
    if all(used):
        return graph if kept is graph.nodes else evolve(graph, nodes=kept)
    places = [k for k, is_used in enumerate(used) if is_used]
    nodes = tuple([_on(node, places) for node in kept])
    return evolve(graph, axes=tuple([graph.axes[k] for k in places]), nodes=nodes)


def _is_about(node: AscNode, axis: str) -> bool:
    """True where an attribute or an index of ``node`` names ``axis``."""
    listed = node.attr("axes")
    in_attrs = node.attr("axis") == axis or (isinstance(listed, tuple) and axis in listed)
    return in_attrs or (node.access is not None and any(dim.axis == axis for dim in node.access.dims))


def _on(node: AscNode, places: list[int]) -> AscNode:
    """Return ``node`` on the axes at ``places`` alone."""
    repeats, strides = ([entries[k] for k in places] for entries in (node.repeats, node.strides))
    return evolve(node, repeats=tuple(repeats), strides=tuple(strides))
