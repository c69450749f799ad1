"""Leaves to a host backend what only moves elements between steps of that backend.

A kernel there saves nothing: what it reads lies in memory, and so has what it makes. It costs a launch, and cuts one
call of the backend in two. The backend's own operator moves the same bytes, inside of the call::

    Conv (host) -> Pad (kernel) -> Conv (host)        becomes        Conv -> Pad -> Conv (host)
"""

from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import Family, Flag, operator
from autofuse_ir.target import TargetSpec
from autofuse_ir.walk import made_by, producers, read_by
from autofuse_reference.operators.table import has_meaning, meaning

from autofuse_fusion.classify import Kind, classify, is_sizes
from autofuse_fusion.lower.table import VIEWS
from autofuse_fusion.lower.views.table import VIEW_LOWERINGS
from autofuse_fusion.values import Values


def lifted(graph: Graph, values: Values, target: TargetSpec) -> frozenset[str]:
    """Return the names of nodes that only move elements from and to operators of ONNX Runtime, or what they moved.

    Gathers are not among them: an index out of range is an error of ours.
    """
    hosts = {node.name for node in graph.nodes if _is_host(node, values, target)}
    if not hosts:
        return frozenset()
    between = {node.name: node for node in graph.nodes if node.name not in hosts and _only_moves(node, values)}
    makers = producers(graph)
    readers: dict[str, list[Node]] = {}
    for node in graph.nodes:
        for name in read_by(node):
            readers.setdefault(name, []).append(node)
    results = {output.value for output in graph.outputs}

    def stays(node: Node) -> bool:
        """True where all that ``node`` is given and makes stays with the backend."""
        inside = hosts | between.keys()
        sources = [makers[name] for name in read_by(node) if name in makers and not is_sizes(name, values)]
        if not all(source.name in inside for source in sources):
            return False
        return all(
            name not in results and name in readers and all(reader.name in inside for reader in readers[name])
            for name in made_by(node)
        )

    while True:
        gone = [name for name, node in between.items() if not stays(node)]
        if not gone:
            break
        for name in gone:
            del between[name]
    return frozenset(name for name, node in between.items() if node.op in VIEW_LOWERINGS)


def _is_host(node: Node, values: Values, target: TargetSpec) -> bool:
    return (
        node.payload is not None and node.op not in VIEW_LOWERINGS and classify(node, values, target).kind is Kind.HOST
    )


def _only_moves(node: Node, values: Values) -> bool:
    if node.payload is None or not (node.op in VIEWS or node.op in VIEW_LOWERINGS):
        return False
    op = operator(node.op)
    if op.family is Family.GATHER_SCATTER or op.has(Flag.COMPOSITE) or not has_meaning(node.op):
        return False
    return meaning(node.op).moves and not any(is_sizes(name, values) for name in made_by(node))
