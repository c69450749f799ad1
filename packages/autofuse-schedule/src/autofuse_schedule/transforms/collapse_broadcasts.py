"""Drop explicit Broadcast nodes: a reader then takes the value with the repeats it has.

before                                          after
  l1 = Load b      repeats [1, 768]               l1 = Load b      repeats [1, 768]
  b1 = Broadcast l1 over z0                       a  = Add l0, l1  repeats [batch, 768]
  a  = Add l0, b1  repeats [batch, 768]
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph


@frozen
class CollapseBroadcasts:
    """Pure ``AscGraph -> AscGraph``; the same object when there is no Broadcast.

    Repeats of 1 along an axis mean "the same value all along it", so an element-wise operator may read a narrower
    value than the one it makes. Machines that cannot do that get their Broadcasts back (``InsertBroadcasts``).
    """

    def __call__(self, graph: AscGraph) -> AscGraph:
        """Return ``graph`` without Broadcast nodes."""
        origin: dict[str, str] = {}
        kept = []
        for node in graph.nodes:
            inputs = tuple(origin.get(name, name) for name in node.inputs)
            if node.op == "Broadcast":
                origin[node.name] = inputs[0]
                continue
            kept.append(node if inputs == node.inputs else evolve(node, inputs=inputs))
        return graph if not origin else evolve(graph, nodes=tuple(kept))
