"""Memory that instructions read past the elements that were written: it gets contents before the first tile.

Copies from GM fill whole blocks of 32 bytes, no more, and computations write as many elements as their value has.
Comparisons and logic read whole vectors, sums of rows read the gaps between rows, broadcasts of a column eight elements
at a time.
"""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import ImplGraph

from autofuse_codegen.targets.ascendc.forms import READS_WHOLE_VECTORS
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.memory import Memory


def margins(impl: ImplGraph, layouts: Layouts, bits: frozenset[str], memory: Memory) -> tuple[str, ...]:
    """Return the buffers that need contents, in the order of the nodes that read them."""
    nodes = {node.name: node for node in impl.nodes}
    found: dict[str, None] = {}

    def note(value: str) -> None:
        where = memory.memory_of(value)
        if where is not None:
            found[where] = None

    narrowest = min((n.dtype.itemsize for n in impl.nodes if memory.memory_of(n.name) is not None), default=1)
    for node in impl.nodes:
        if node.op == "Load" and _has_gaps(node, layouts, narrowest):
            note(node.name)
        for value in _read_whole(node, nodes, layouts, bits):
            if nodes[value].op not in READS_WHOLE_VECTORS:
                note(value)
    return tuple(found)


def _has_gaps(node: AscNode, layouts: Layouts, narrowest: int) -> bool:
    """True where a row's last block of 32 bytes may end before its pitch."""
    axes = layouts.axes_of(node)
    return len(axes) > 1 and node.dtype.itemsize > narrowest and layouts.pitch(axes) != layouts.extent(axes[-1])


def _read_whole(
    node: AscNode, nodes: dict[str, AscNode], layouts: Layouts, bits: frozenset[str]
) -> tuple[str, ...]:
    if node.op in READS_WHOLE_VECTORS:
        return node.inputs
    if node.op == "BitwiseAnd" or node.op == "BitwiseOr" or node.op == "BitwiseNot":
        return node.inputs if node.dtype.itemsize == 1 else ()
    if node.op == "Select":
        return () if node.inputs[0] in bits else node.inputs[:1]
    if node.op == "Broadcast" and nodes[node.inputs[0]].inputs:
        return node.inputs if len(layouts.axes_of(nodes[node.inputs[0]])) < 2 else ()
    return ()
