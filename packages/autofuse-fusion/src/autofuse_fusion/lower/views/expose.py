"""Rewrites a graph so that operators that move elements are index maps and primitives."""

from collections.abc import Mapping, Sequence

from attrs import evolve
from autofuse_ir.dtypes import int64
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph, Node
from autofuse_ir.target import TargetSpec
from autofuse_ir.walk import made_by, producers, read_by

from autofuse_fusion.benefit import cost_model
from autofuse_fusion.classify import Kind, classify, is_sizes
from autofuse_fusion.lifting import lifted
from autofuse_fusion.lower.views import softmaxes
from autofuse_fusion.lower.views.builder import ViewBuilder
from autofuse_fusion.lower.views.call import NotLoweredError, call_of
from autofuse_fusion.lower.views.table import VIEW_LOWERINGS
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.values import Values


def expose_views(graph: Graph, values: Values, target: TargetSpec, options: FusionOptions) -> tuple[Graph, Values]:
    """Return ``graph`` with every operator of ``VIEW_LOWERINGS`` lowered that can be, and what is known of its values.

    ``values`` learns the leaves and the facts of what is new.
    """
    if not any(node.op in VIEW_LOWERINGS for node in graph.nodes):
        return graph, values
    readers = _readers(graph, values)
    counts = {name: len(listed) for name, listed in readers.items()}
    stored = _stored(graph, values, target)
    builder = ViewBuilder(values, stored, counts, is_narrow(target), target, options, cost_model(target))
    left = lifted(graph, values, target) if options.enable else frozenset()
    for node in graph.nodes:
        lowering = VIEW_LOWERINGS.get(node.op)
        if options.allows(node.name, node.op) and _is_picked(node, readers, stored, values):
            lowering = softmaxes.LOWERINGS[node.op]
        if node.name in left:
            values.unlowered[node.outputs[0]] = Reason.NO_BENEFIT
        if lowering is None or node.name in left or _is_left(node, values):
            builder.add(node)
            continue
        mark = builder.mark()
        try:
            lowering(call_of(node, builder))
        except NotLoweredError as refused:
            values.unlowered[node.outputs[0]] = refused.reason
        else:
            reason = _first_reason(builder.nodes[mark[0] :], values, target)
            if reason is None:
                continue
            values.unlowered[node.outputs[0]] = reason
        builder.undo(mark)
        builder.add(node)
    lowered = evolve(graph, nodes=tuple(builder.nodes))
    return lowered, evolve(values, makers=producers(lowered))


def _readers(graph: Graph, values: Values) -> dict[str, list[Node]]:
    """Return the nodes that read each value, the last one first; those of which only sizes are needed read nothing."""
    needed = {output.value for output in graph.outputs}
    readers: dict[str, list[Node]] = {}
    for node in reversed(graph.nodes):
        made = made_by(node)
        if needed.isdisjoint(made) or all(is_sizes(name, values) for name in made):
            continue
        for name in read_by(node):
            needed.add(name)
            readers.setdefault(name, []).append(node)
    return readers


def is_narrow(target: TargetSpec) -> bool:
    """True where kernels of ``target`` have no 64-bit positions along axes."""
    return any(row.op == "AxisIndex" and int64 not in row.dtypes for row in target.support)


def _stored(graph: Graph, values: Values, target: TargetSpec) -> set[str]:
    """Return the values that are made in memory whatever fusion does: results, and what the host reads."""
    stored = {output.value for output in graph.outputs}
    for node in graph.nodes:
        if node.op not in VIEW_LOWERINGS and classify(node, values, target).kind is Kind.HOST:
            stored.update(read_by(node))
    return stored


def _is_picked(node: Node, readers: Mapping[str, Sequence[Node]], stored: set[str], values: Values) -> bool:
    """True for a softmax of which some elements are taken, and nobody needs a whole row."""
    if node.op not in softmaxes.LOWERINGS or node.outputs[0] in stored:
        return False
    return softmaxes.is_picked(node, readers.get(node.outputs[0], ()), values)


def _is_left(node: Node, values: Values) -> bool:
    """True for nodes that need no kernel, and for those that cannot have one, with the reason in ``unlowered``."""
    made = made_by(node)
    facts = [values.fact(name) for name in (*read_by(node), *made)]
    if all(is_sizes(name, values) for name in made) or any(fact.dtype.is_opaque for fact in facts):
        return True
    if any(values.fact(name).shape is None for name in read_by(node)):
        values.unlowered[node.outputs[0]] = Reason.RANK_UNKNOWN
        return True
    # A kernel needs its sizes before it runs, not from its own results.
    shapes = [values.fact(name).shape for name in made]
    known = all(shape is not None and not any(values.binds_any(n, shape) for n in made) for shape in shapes)
    if not known:
        values.unlowered[node.outputs[0]] = Reason.STRUCTURAL_OPERAND_UNKNOWN
    return not known


def _first_reason(nodes: list[Node], values: Values, target: TargetSpec) -> Reason | None:
    """Return why one of ``nodes`` is nothing for a kernel; None where all are."""
    for node in nodes:
        place = classify(node, values, target)
        if place.kind is Kind.HOST:
            return place.reason
    return None
