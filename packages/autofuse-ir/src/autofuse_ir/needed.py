"""What the outputs of a kernel need: the rest may go."""

from autofuse_ir.asc_graph import AscGraph, AscNode


def needed_nodes(graph: AscGraph) -> tuple[AscNode, ...]:
    """Return the nodes that lead to an Output, in order; every Data is among them, since inputs are arguments.

    These are ``graph.nodes``, the same object, where nothing is left over.
    """
    needed: set[str] = set()
    kept: list[AscNode] = []
    for node in reversed(graph.nodes):
        if node.op in ("Data", "Output") or node.name in needed:
            kept.append(node)
            needed.update(node.inputs)
    return graph.nodes if len(kept) == len(graph.nodes) else tuple(reversed(kept))
