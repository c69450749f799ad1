"""Drop operators whose results nobody reads.

before   a = Exp(x); b = Abs(x); return b
after    b = Abs(x); return b
"""

from attrs import evolve, frozen
from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import Flag, operator


@frozen
class DropDeadCode:
    """Keeps what graph outputs need, and host operators that update their inputs in place."""

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` without dead operators and constants."""
        needed = {output.value for output in graph.outputs}
        kept: list[Node] = []
        for node in reversed(graph.nodes):
            if any(name in needed for name in node.outputs if name) or _acts(node):
                kept.append(node)
                needed.update(name for name in node.inputs if name)
        constants = tuple(constant for constant in graph.constants if constant.name in needed)
        if len(kept) == len(graph.nodes) and len(constants) == len(graph.constants):
            return graph
        return evolve(graph, nodes=tuple(reversed(kept)), constants=constants)


def _acts(node: Node) -> bool:
    op = operator(node.op)
    return op.has(Flag.HOST) and op.has(Flag.IN_PLACE)
