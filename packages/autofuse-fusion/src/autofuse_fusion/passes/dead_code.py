"""Drop operators whose results nobody reads.

before   a = Exp(x); b = Abs(x); return b
after    b = Abs(x); return b
"""

from attrs import evolve, frozen
from autofuse_ir.graph import Graph
from autofuse_ir.walk import live, read_by


@frozen
class DropDeadCode:
    """Keeps what graph outputs need, and host operators that update their inputs in place."""

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` without dead operators and constants."""
        nodes = live(graph)
        needed = {output.value for output in graph.outputs}.union(*map(read_by, nodes))
        constants = tuple(constant for constant in graph.constants if constant.name in needed)
        if len(nodes) == len(graph.nodes) and len(constants) == len(graph.constants):
            return graph
        return evolve(graph, nodes=nodes, constants=constants)
