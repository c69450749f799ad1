"""Invariants of scans in an ImplGraph: the order of their elements, and the place of their state between pieces."""

from collections.abc import Iterator

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import AscKind, asc_op
from autofuse_ir.checks.asc_nodes import anchor_of
from autofuse_ir.checks.finding import Finding
from autofuse_ir.loops import walked_roots
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import ImplGraph, Location, Phase


def check_backwards(graph: ImplGraph) -> Iterator[Finding]:
    """What runs backwards is a loop of its phase, but not that over blocks, and phases that share it agree."""
    for number, phase in enumerate(graph.phases):
        where = f"phase {number}"
        for name in phase.backwards:
            if name not in phase.loops or name == phase.block:
                what = f"{name!r} runs backwards, and is no loop that one block goes through"
                yield Finding(where, what, "name one of its loops but that over blocks", "phase")
        before = graph.phases[number - 1] if number and phase.shared else phase
        for name in phase.loops[: phase.shared]:
            if (name in phase.backwards) != (name in before.backwards):
                what = f"it shares loop {name!r} with a phase that goes through it the other way"
                yield Finding(where, what, "let it run one way in both", "phase")


def check_scans(graph: ImplGraph) -> Iterator[Finding]:
    """Loops around a scan go through its axis in its direction, in one block, and its state outlives their iterations.

    Reductions are joined from the first element on. The axes that the loops name must be axes.
    """
    nodes = {node.name: node for node in graph.nodes}
    for phase in graph.phases:
        for node in (nodes[name] for segment in phase.segments for name in segment.nodes if name in nodes):
            rule = asc_op(node.op)
            if rule is not None and rule.kind is AscKind.SCAN:
                yield from _check_scan(node, phase, graph)
            for axis in reduced_axes(node):
                for loop in _around(axis, phase, graph):
                    if loop in phase.backwards:
                        what = f"loop {loop!r} brings the elements that it joins from the last one on"
                        yield Finding(f"node {node.name!r}", what, "join them in another phase", anchor_of(node.name))


def _check_scan(node: AscNode, phase: Phase, graph: ImplGraph) -> Iterator[Finding]:
    where, anchor = f"node {node.name!r}", anchor_of(node.name)
    scanned, is_backward = node.attr("axis"), node.attr("reverse", False) is True
    around = _around(str(scanned), phase, graph)
    for loop in around:
        if loop == phase.block:
            yield Finding(where, f"blocks share its axis {scanned!r}", "give each block the whole axis", anchor)
        elif (loop in phase.backwards) != is_backward:
            way = "from the last element" if is_backward else "from the first element"
            yield Finding(where, f"it goes {way} on, loop {loop!r} the other way", "turn the loop round", anchor)
    places = {place.node: place.location for place in graph.accumulators}
    if around and places.get(node.name) is not Location.LOCAL:
        what = f"loop {around[0]!r} cuts its axis into pieces, and its state has no place from one to the next"
        yield Finding(where, what, "give it an accumulator in a local buffer", anchor)


def _around(root: str, phase: Phase, graph: ImplGraph) -> list[str]:
    """The loops of ``phase`` that walk root axis ``root``."""
    known = {axis.name for axis in graph.axes}
    return [loop for loop in phase.loops if loop in known and root in walked_roots(loop, graph.axes, graph.roots)]
