"""Let other values stand for values that are no longer made."""

from collections.abc import Mapping

from attrs import evolve
from autofuse_ir.graph import Graph, GraphOutput, Node


def renamed(graph: Graph, nodes: tuple[Node, ...], names: Mapping[str, str]) -> Graph:
    """Return ``graph`` with ``nodes`` and every use of a key of ``names`` replaced by its value, transitively."""
    if not names:
        return graph if nodes == graph.nodes else evolve(graph, nodes=nodes)

    def final(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    def rewired(node: Node) -> Node:
        inputs = tuple(None if name is None else final(name) for name in node.inputs)
        return node if inputs == node.inputs else evolve(node, inputs=inputs)

    outputs = tuple(GraphOutput(output.name, final(output.value)) for output in graph.outputs)
    return evolve(graph, nodes=tuple(rewired(node) for node in nodes), outputs=outputs)
