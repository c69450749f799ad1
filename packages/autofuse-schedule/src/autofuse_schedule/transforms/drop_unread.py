"""Drop the values that no output needs.

before   a = Exp x; b = Neg x; Store b      after   b = Neg x; Store b
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph, AscNode


@frozen
class DropUnread:
    """Pure ``AscGraph -> AscGraph``; the same object when every value is read. Inputs stay: they are arguments."""

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` without values that lead to no Output."""
        needed: set[str] = set()
        kept: list[AscNode] = []
        for node in reversed(graph.nodes):
            if node.op in ("Data", "Output") or node.name in needed:
                kept.append(node)
                needed.update(node.inputs)
        return graph if len(kept) == len(graph.nodes) else evolve(graph, nodes=tuple(reversed(kept)))
