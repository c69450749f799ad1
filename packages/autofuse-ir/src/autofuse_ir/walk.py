"""Walk a Graph: what a node reads and makes, and who makes a value."""

from collections.abc import Mapping

from autofuse_ir.graph import Graph, Node


def read_by(node: Node) -> tuple[str, ...]:
    """Return the values that ``node`` reads, each once, in order."""
    return tuple(dict.fromkeys(name for name in node.inputs if name is not None))


def made_by(node: Node) -> tuple[str, ...]:
    """Return the values that ``node`` makes; missing optional results are left out."""
    return tuple(name for name in node.outputs if name)


def producers(graph: Graph) -> Mapping[str, Node]:
    """Return the node that makes each value; inputs and constants are not in it."""
    return {name: node for node in graph.nodes for name in made_by(node)}
