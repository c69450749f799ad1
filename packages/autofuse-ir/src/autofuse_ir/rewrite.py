"""Rewrite a Graph without changing it: new objects where something differs, the same object where nothing does.

Passes can thus tell by ``is`` whether they did anything, and equal parts stay shared.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from attrs import AttrsInstance, evolve

from autofuse_ir.graph import Graph, Node

T = TypeVar("T", bound=AttrsInstance)


def replaced(instance: T, **fields: Any) -> T:
    """Return ``instance`` with ``fields`` changed; itself where each is the very object it holds, or equal to it."""
    changes = {
        name: value
        for name, value in fields.items()
        if getattr(instance, name) is not value and getattr(instance, name) != value
    }
    if not changes:
        return instance
    changed: T = evolve(instance, **changes)  # type: ignore[misc] # mypy knows attrs classes, not variables of them
    return changed


def map_nodes(graph: Graph, rewrite: Callable[[Node], Node | tuple[Node, ...]]) -> Graph:
    """Return ``graph`` with each node put through ``rewrite``, which may return it, another, several or none."""
    nodes: list[Node] = []
    for node in graph.nodes:
        new = rewrite(node)
        nodes.extend(new if isinstance(new, tuple) else (new,))
    is_same = len(nodes) == len(graph.nodes) and all(a is b for a, b in zip(nodes, graph.nodes, strict=True))
    return graph if is_same else replaced(graph, nodes=tuple(nodes))


def replace_values(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Return ``graph`` with every read of a key of ``names`` turned into a read of its value, chains followed.

    Results keep their names. The nodes that made the old values stay.
    """

    def now(name: str) -> str:
        seen = {name}
        while name in names and names[name] not in seen:
            name = names[name]
            seen.add(name)
        return name

    def rewrite(node: Node) -> Node:
        return replaced(node, inputs=tuple([None if name is None else now(name) for name in node.inputs]))

    outputs = tuple([replaced(output, value=now(output.value)) for output in graph.outputs])
    return replaced(map_nodes(graph, rewrite), outputs=outputs)
