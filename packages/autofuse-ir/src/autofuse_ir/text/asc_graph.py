"""The text form of an AscGraph::

ascgraph scale
  axis z0 = n
  axis z1 = 4
  x: f32 = Data() {index = 0}   repeats [n, 4]  strides [4, 1]
  l: f32 = Load(x)              repeats [n, 4]  strides [4, 1]  access [n, 4] at [z0, z1]
"""

from collections.abc import Iterable, Iterator

from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind, Bounds
from autofuse_ir.text.values import MISSING, aligned, attributes, dims, quoted, word

_LINE_WORDS = ("axis", "access", "from")


def asc_graph_lines(graph: AscGraph) -> Iterator[str]:
    """Yield the lines of ``graph``; `autofuse_ir.parse` reads them back."""
    yield f"ascgraph {word(graph.name)}"
    for axis in graph.axes:
        yield f"  {axis_text(axis)}"
    yield from aligned(asc_node_row(node) for node in graph.nodes)


def axis_text(axis: Axis) -> str:
    """Return ``axis z0 = batch``, with its kind and parents where it was made of others."""
    if axis.kind is AxisKind.ORIGINAL and not axis.parents:
        return f"axis {word(axis.name)} = {axis.size}"
    parents = f" of ({words(axis.parents)})" if axis.parents else ""
    return f"axis {word(axis.name)} = {axis.size} : {axis.kind.value}{parents}"


def asc_node_row(node: AscNode) -> tuple[str, str, str, str]:
    """Return a node as columns: what it computes, repeats, strides, and the rest."""
    notes = []
    if node.access is not None:
        notes.append(access_text(node.access))
    if node.source:
        notes.append(f"from [{', '.join(map(quoted, node.source))}]")
    what = f"{node_name(node.name)}: {node.dtype.text} = {word(node.op)}({words(node.inputs)}){attributes(node.attrs)}"
    return what, f"repeats {dims(node.repeats)}", f"strides {dims(node.strides)}", "  ".join(notes)


def node_name(name: str) -> str:
    """Return a node's name where its line starts; words that may stand there with another meaning are quoted."""
    return quoted(name) if name in _LINE_WORDS else word(name)


def access_text(access: AccessMap) -> str:
    """Return ``access [n, 4] at [z0, (z1, 2, 1)]``: memory shape, and per dim an axis or (axis, step, offset).

    The operand of a gather reads ``(operand 0, 1, 0)``; ``outside fill`` or ``outside error`` says that it may leave.
    """
    outside = "" if access.bounds is Bounds.INSIDE else f" outside {access.bounds.value}"
    return f"access {dims(access.memory)} at [{', '.join(map(_access_dim, access.dims))}]{outside}"


def words(names: Iterable[str]) -> str:
    """Return names separated by commas."""
    return ", ".join(map(word, names))


def _access_dim(dim: AccessDim) -> str:
    if dim.operand is not None:
        return f"(operand {dim.operand}, {dim.step}, {dim.offset})"
    axis = MISSING if dim.axis is None else quoted(dim.axis) if dim.axis == "operand" else word(dim.axis)
    plain = dim.axis is not None and dim.step == 1 and dim.offset == 0
    return axis if plain else f"({axis}, {dim.step}, {dim.offset})"
