"""Skip a widening between two casts.

before   a = Cast(x: f16 -> f32); y = Cast(a -> i32)
after    y = Cast(x -> i32)                           and f16 -> f32 -> f16 is x itself (see DropIdentities)

Only a first cast that loses nothing is skipped, and only where the second gives the same from either type.
"""

from attrs import evolve, frozen
from autofuse_ir.dtypes import DType, DTypeKind
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Graph, Node


@frozen
class SkipWideningCasts:
    """``Cast(Cast(x))`` reads x where the inner cast is an embedding of the same kind of number."""

    facts: SymbolFacts

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` with casts reading what stands before widening casts."""
        dtypes = {fact.name: fact.dtype for fact in self.facts.values}
        inner: dict[str, str] = {}
        nodes: list[Node] = []
        for node in graph.nodes:
            source = node.inputs[0] if node.op == "Cast" else None
            if source is None:
                nodes.append(node)
                continue
            before = inner.get(source)
            nodes.append(node if before is None else evolve(node, inputs=(before,)))
            source = before or source
            own, result = dtypes.get(source), dtypes.get(node.outputs[0])
            if own is not None and result is not None and is_embedding(own, result):
                inner[node.outputs[0]] = source
        return graph if tuple(nodes) == graph.nodes else evolve(graph, nodes=tuple(nodes))


def is_embedding(narrow: DType, wide: DType) -> bool:
    """True when every value of ``narrow`` is one of ``wide``, and casts onwards give the same from either.

    Integers and floats do not mix: an integer wraps where a float saturates. Bool is an integer of 0 and 1.
    """
    if narrow.is_opaque or wide.is_opaque:
        return False
    if narrow.kind is DTypeKind.BOOL:
        return wide.kind is not DTypeKind.BOOL
    if narrow.is_float:
        return wide.is_float and wide.bits > narrow.bits
    if narrow.kind is wide.kind:
        return wide.bits > narrow.bits
    return narrow.kind is DTypeKind.UNSIGNED and wide.kind is DTypeKind.SIGNED and wide.bits > narrow.bits
