"""Drop the loop axes that provably have one iteration.

before   axes z0 = n, z1 = 1; m = Max x over z1; i = AxisIndex z1      after   axes z0 = n; x in place of m, 0 for i
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.asc_ops import AscKind, asc_op
from autofuse_ir.dims import const
from autofuse_ir.graph import Attr
from autofuse_ir.reduction import reduced_axes


@frozen
class DropUnitAxes:
    """Pure ``AscGraph -> AscGraph`` over at least one axis; the same object when all axes are longer.

    A reduction or scan of one element is that element (of none before it: 0 for a sum, 1 for a product), and the
    position along one element is 0.
    """

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` without its unit axes; where all are, one is left."""
        one, zero = const(1), const(0)
        if not graph.axes:
            axis = Axis("z", AxisKind.ORIGINAL, one)
            nodes = tuple(evolve(node, repeats=(one,), strides=(zero,)) for node in graph.nodes)
            graph = evolve(graph, axes=(axis,), nodes=nodes)
        keep = [i for i, axis in enumerate(graph.axes) if axis.size != one] or [0]
        dropped = {axis.name for i, axis in enumerate(graph.axes) if i not in keep}
        single = {axis.name for axis in graph.axes if axis.size == one}
        changed = [_joining_nothing(_without(node, keep, dropped), single) for node in graph.nodes]
        aliases: dict[str, str] = {}
        kept: list[AscNode] = []
        for node in changed:
            inputs = tuple(aliases.get(name, name) for name in node.inputs)
            if _passes_through(node):
                aliases[node.name] = inputs[0]
            else:
                kept.append(evolve(node, inputs=inputs) if inputs != node.inputs else node)
        axes = tuple(graph.axes[i] for i in keep)
        if axes == graph.axes and tuple(kept) == graph.nodes:
            return graph
        return evolve(graph, axes=axes, nodes=tuple(kept))


def _without(node: AscNode, keep: list[int], dropped: set[str]) -> AscNode:
    return evolve(
        node,
        repeats=tuple(node.repeats[i] for i in keep),
        strides=tuple(node.strides[i] for i in keep),
        access=_simplify(node.access, dropped),
    )


def _joining_nothing(node: AscNode, single: set[str]) -> AscNode:
    """Return ``node`` without what it would do along axes of one iteration, also the one that is left."""
    rule = asc_op(node.op)
    if rule is None or not single:
        return node
    match rule.kind:
        case AscKind.REDUCE:
            left = tuple(axis for axis in reduced_axes(node) if axis not in single)
            return evolve(node, attrs=tuple(Attr("axes", left) if a.name == "axes" else a for a in node.attrs))
        case AscKind.INDEX if node.attr("axis") in single:
            return evolve(node, op="Scalar", attrs=(Attr("value", 0),))
        case AscKind.SCAN if node.attr("axis") in single and node.attr("exclusive", False):
            nothing = int(node.op == "CumProd")
            value: int | float = float(nothing) if node.dtype.is_float else nothing
            return evolve(node, op="Scalar", inputs=(), attrs=(Attr("value", value),))
        case AscKind.SCAN if node.attr("axis") in single:
            return evolve(node, attrs=(Attr("axis", ""),))
        case _:
            return node


def _passes_through(node: AscNode) -> bool:
    rule = asc_op(node.op)
    if rule is None:
        return False
    if rule.kind is AscKind.REDUCE:
        return not reduced_axes(node)
    return rule.kind is AscKind.SCAN and node.attr("axis") == ""


def _simplify(access: AccessMap | None, unit_axes: set[str]) -> AccessMap | None:
    """Index 0 of a unit axis is the constant offset; data dims of size 1 at offset 0 do not matter."""
    if access is None:
        return None
    zero = const(0)
    dims = tuple(AccessDim(None, zero, d.offset) if d.axis in unit_axes else d for d in access.dims)
    kept = [
        (size, dim)
        for size, dim in zip(access.memory, dims, strict=True)
        if not (size == const(1) and dim.axis is None and dim.operand is None and dim.offset == zero)
    ]
    return evolve(access, memory=tuple(size for size, _ in kept), dims=tuple(dim for _, dim in kept))
