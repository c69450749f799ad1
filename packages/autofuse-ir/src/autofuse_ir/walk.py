"""Walk a Graph: what a node reads and makes, and who makes a value."""

from collections.abc import Mapping

from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import Flag, has_operator, operator


def read_by(node: Node) -> tuple[str, ...]:
    """Return the values that ``node`` reads, each once, in order."""
    return tuple(dict.fromkeys(name for name in node.inputs if name is not None))


def made_by(node: Node) -> tuple[str, ...]:
    """Return the values that ``node`` makes; missing optional results are left out."""
    return tuple(name for name in node.outputs if name)


def producers(graph: Graph) -> Mapping[str, Node]:
    """Return the node that makes each value; inputs and constants are not in it."""
    return {name: node for node in graph.nodes for name in made_by(node)}


def live(graph: Graph) -> tuple[Node, ...]:
    """Return the nodes that results of ``graph`` depend on, and host operators that update their inputs in place."""
    needed = {output.value for output in graph.outputs}
    found: list[Node] = []
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(made_by(node)) or _acts(node):
            found.append(node)
            needed.update(read_by(node))
    return tuple(reversed(found))


def _acts(node: Node) -> bool:
    if not has_operator(node.op):
        return False
    op = operator(node.op)
    return op.has(Flag.HOST) and op.has(Flag.IN_PLACE)
