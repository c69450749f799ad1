"""Walk a Graph: who makes a value, who reads it, what depends on what."""

from collections.abc import Iterable, Iterator, Mapping

from autofuse_ir.errors import IrError
from autofuse_ir.graph import Graph, Node


def values_of(graph: Graph) -> Iterator[str]:
    """Yield the name of every value in the order they come to be: inputs, constants, results of nodes."""
    yield from (value.name for value in graph.inputs)
    yield from (constant.name for constant in graph.constants)
    for node in graph.nodes:
        yield from made_by(node)


def read_by(node: Node) -> tuple[str, ...]:
    """Return the values that ``node`` reads, each once, in order."""
    return tuple(dict.fromkeys(name for name in node.inputs if name is not None))


def made_by(node: Node) -> tuple[str, ...]:
    """Return the values that ``node`` makes; missing optional results are left out."""
    return tuple(name for name in node.outputs if name)


def producers(graph: Graph) -> Mapping[str, Node]:
    """Return the node that makes each value; inputs and constants are not in it."""
    return {name: node for node in graph.nodes for name in made_by(node)}


def consumers(graph: Graph) -> Mapping[str, tuple[Node, ...]]:
    """Return the nodes that read each value, in graph order; values that no node reads map to none."""
    found: dict[str, list[Node]] = {name: [] for name in values_of(graph)}
    for node in graph.nodes:
        for name in read_by(node):
            found.setdefault(name, []).append(node)
    return {name: tuple(nodes) for name, nodes in found.items()}


def needed_nodes(graph: Graph, values: Iterable[str] | None = None) -> tuple[Node, ...]:
    """Return the nodes that ``values`` (the graph's results, unless given) depend on, in graph order."""
    needed = set(values if values is not None else (output.value for output in graph.outputs))
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if any(name in needed for name in made_by(node)):
            needed.update(read_by(node))
            kept.append(node)
    return tuple(reversed(kept))


def in_topological_order(nodes: Iterable[Node], known: Iterable[str]) -> tuple[Node, ...]:
    """Return ``nodes`` so that each stands after what it reads, otherwise in the order given.

    ``known`` are the values that exist before. Raises ``IrError`` for a cycle or a value that nothing makes.
    """
    waiting = list(nodes)
    made = {name: node for node in waiting for name in made_by(node)}
    done = set(known)
    placed: dict[int, Node] = {}
    entered: set[int] = set()  # on the stack: meeting one again closes a cycle
    for root in waiting:
        stack = [root]
        while stack:
            node = stack[-1]
            entered.add(id(node))
            if id(node) in placed:
                stack.pop()
                continue
            missing = next((name for name in read_by(node) if name not in done), None)
            if missing is None:
                placed[id(node)] = node
                done.update(made_by(node))
                stack.pop()
                continue
            maker = made.get(missing)
            if maker is None or id(maker) in entered:
                what = "that nothing makes" if maker is None else "that depends on it"
                raise IrError(f"it reads {missing!r}, {what}", where=f"node {node.name!r}", fix="correct its inputs")
            stack.append(maker)
    return tuple(placed.values())
