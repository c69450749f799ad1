"""Along which axes a value really changes: what was broadcast is wide, but the same all along.

    b = Load bias over z1; w = Broadcast b over z0; y = Add x, w

``w`` has the repeats of ``x``, and depends on z1 alone: one tile of it serves all of z0.
"""

from collections.abc import Iterable

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import AscKind, asc_op
from autofuse_ir.reduction import reduced_axes


def dependences(nodes: Iterable[AscNode]) -> dict[str, frozenset[str]]:
    """Return by node name the root axes that decide about the elements of its value; of a Store, about its places too.

    ``nodes`` are in topological order. Data and sizes depend on nothing: they are there before any loop.
    """
    found: dict[str, frozenset[str]] = {}
    for node in nodes:
        rule = asc_op(node.op)
        axes = {axis for name in node.inputs for axis in found.get(name, ())}
        if node.access is not None:
            axes |= {dim.axis for dim in node.access.dims if dim.axis is not None}
        if rule is not None and rule.kind in (AscKind.INDEX, AscKind.SCAN):
            axes.add(str(node.attr("axis")))
        if rule is not None and rule.kind is AscKind.DATA:
            axes = set()
        found[node.name] = frozenset(axes - set(reduced_axes(node)))
    return found
