"""Drop the values that no output needs.

before   a = Exp x; b = Neg x; Store b      after   b = Neg x; Store b
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.needed import needed_nodes


@frozen
class DropUnread:
    """Pure ``AscGraph -> AscGraph``; the same object when every value is read. Inputs stay: they are arguments."""

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` without values that lead to no Output."""
        nodes = needed_nodes(graph)
        return graph if nodes is graph.nodes else evolve(graph, nodes=nodes)
