"""Segments: which nodes are evaluated together, strip by strip, with their values in registers."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.schedule import Segment
from autofuse_ir.target import Limits


def partition(nodes: tuple[AscNode, ...], axes: tuple[str, ...], limits: Limits) -> tuple[Segment, ...]:
    """Cut ``nodes`` (topological order) into segments within ``limits``.

    A segment closes before the node that would make it longer than ``segment_nodes``, or that would keep more than
    ``segment_values`` values alive at once. Scalars cost nothing: they are operands.
    """
    evaluated = tuple(n for n in nodes if n.op not in NOT_EVALUATED)
    free = {n.name for n in nodes if n.op in NOT_EVALUATED}
    last_use = {name: i for i, node in enumerate(evaluated) for name in node.inputs}
    segments: list[Segment] = []
    current: list[AscNode] = []
    alive: set[str] = set()
    for position, node in enumerate(evaluated):
        vector_inputs = {name for name in node.inputs if name not in free}
        would_live = alive | vector_inputs | {node.name}
        if current and (len(current) >= limits.segment_nodes or len(would_live) > limits.segment_values):
            segments.append(Segment(tuple(n.name for n in current), axes))
            current, alive = [], set()
            would_live = vector_inputs | {node.name}
        current.append(node)
        alive = {name for name in would_live if last_use.get(name, -1) > position}
    if current:
        segments.append(Segment(tuple(n.name for n in current), axes))
    return tuple(segments)
