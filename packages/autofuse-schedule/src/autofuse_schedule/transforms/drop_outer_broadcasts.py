"""Remove Broadcasts along axes that no tile has: within one tile they repeat nothing."""

from attrs import evolve
from autofuse_ir.asc_graph import AscNode


def drop_outer_broadcasts(nodes: tuple[AscNode, ...], outside: frozenset[str]) -> tuple[AscNode, ...]:
    """Return ``nodes`` with readers of Broadcasts along axes ``outside`` reading what was to be repeated."""
    stands_for: dict[str, str] = {}
    kept = []
    for node in nodes:
        inputs = tuple(stands_for.get(name, name) for name in node.inputs)
        if node.op == "Broadcast" and node.attr("axis") in outside:
            stands_for[node.name] = inputs[0]
            continue
        kept.append(node if inputs == node.inputs else evolve(node, inputs=inputs))
    return tuple(kept)
