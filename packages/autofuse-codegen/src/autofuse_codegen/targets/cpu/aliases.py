"""Which outputs may be the same memory as an input."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import ImplGraph, ScheduleResult, Sync


def safe_aliases(implementations: tuple[ImplGraph, ...], schedule: ScheduleResult) -> tuple[tuple[int, int], ...]:
    """Return (output index, input index) pairs that may share memory.

    Safe when every ImplGraph reads the input only through the access map by which it writes the output, and never after
    writing: in the same segment (each element is read by the strip that overwrites it), in an earlier segment of the
    tile, or before all blocks waited for each other.
    """
    inputs = [a.index for a in schedule.arguments if not a.is_output]
    outputs = [a.index for a in schedule.arguments if a.is_output]
    return tuple((o, i) for o in outputs for i in inputs if all(_is_safe(impl, o, i) for impl in implementations))


def _is_safe(impl: ImplGraph, output: int, input_: int) -> bool:
    nodes = {n.name: n for n in impl.nodes}
    loads = [n for n in impl.nodes if n.op == "Load" and _index(nodes[n.inputs[0]], "Data") == input_]
    stores = [nodes[n.inputs[0]] for n in impl.nodes if _index(n, "Output") == output]
    if not loads or len(stores) != 1:
        return False
    store = stores[0]
    alike = (
        load.access == store.access and load.dtype == store.dtype and load.repeats == store.repeats for load in loads
    )
    return all(alike) and all(_is_read_first(impl, load.name, store.name) for load in loads)


def _is_read_first(impl: ImplGraph, load: str, store: str) -> bool:
    """True when no element is loaded after any was stored over it."""
    at = {
        node: (number, position)
        for number, phase in enumerate(impl.phases)
        for position, segment in enumerate(phase.segments)
        for node in segment.nodes
    }
    if load not in at or store not in at:
        return False
    (read, segment), (written, last) = at[load], at[store]
    if read == written:
        return segment <= last
    return read < written and any(phase.sync is Sync.ALL for phase in impl.phases[read:written])


def _index(node: AscNode, op: str) -> int | None:
    return node.argument_index if node.op == op else None
