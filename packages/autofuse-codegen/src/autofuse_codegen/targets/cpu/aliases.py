"""Which outputs may be the same memory as an input."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import ImplGraph, ScheduleResult


def safe_aliases(implementations: tuple[ImplGraph, ...], schedule: ScheduleResult) -> tuple[tuple[int, int], ...]:
    """Return (output index, input index) pairs that may share memory.

    Safe when every ImplGraph reads the input and writes the output through the same access map and in one segment, so
    each element is read, by the strip that overwrites it, before it is overwritten; and no other node reads the input.
    """
    inputs = [a.index for a in schedule.arguments if not a.is_output]
    outputs = [a.index for a in schedule.arguments if a.is_output]
    return tuple((o, i) for o in outputs for i in inputs if all(_is_safe(impl, o, i) for impl in implementations))


def _is_safe(impl: ImplGraph, output: int, input_: int) -> bool:
    nodes = {n.name: n for n in impl.nodes}
    loads = [n for n in impl.nodes if n.op == "Load" and _index(nodes[n.inputs[0]], "Data") == input_]
    stores = [nodes[n.inputs[0]] for n in impl.nodes if _index(n, "Output") == output]
    if len(loads) != 1 or len(stores) != 1 or loads[0].access != stores[0].access:
        return False
    if loads[0].dtype != stores[0].dtype or loads[0].repeats != stores[0].repeats:
        return False
    return any(
        {loads[0].name, stores[0].name} <= set(segment.nodes) for phase in impl.phases for segment in phase.segments
    )


def _index(node: AscNode, op: str) -> int | None:
    return node.argument_index if node.op == op else None
