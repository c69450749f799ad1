"""Which outputs may be the same memory as an input."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.group_order import predecessors
from autofuse_ir.kernel_memory import Memory, source_of
from autofuse_ir.schedule import ImplGraph, ScheduleGroup, ScheduleResult, Sync


def safe_aliases(schedule: ScheduleResult) -> tuple[tuple[int, int], ...]:
    """Return (output index, input index) pairs that may share memory.

    Safe when the groups that read the input are complete before the one that writes the output, that one itself apart:
    every ImplGraph of it reads the input, if at all, only through the access map by which it writes the output, and
    never after writing: in the same segment (each element is read by the strip that overwrites it), in an earlier
    segment of the tile, or before all blocks waited for each other.
    """
    inputs = [a.index for a in schedule.arguments if not a.is_output]
    outputs = [a.index for a in schedule.arguments if a.is_output]
    return tuple(
        (o, i)
        for o in outputs
        for i in inputs
        if all(_is_safe_in(alternative.groups, o, i) for alternative in schedule.alternatives)
    )


def _is_safe_in(groups: tuple[ScheduleGroup, ...], output: int, input_: int) -> bool:
    before = predecessors(groups)
    readers = [g for g in groups if _any(g, "Data", input_)]
    writer = next((g for g in groups if _any(g, "Output", output)), None)
    if writer is None or not readers or any(g is not writer and g.name not in before[writer.name] for g in readers):
        return False
    return writer not in readers or all(_is_safe(impl, output, input_) for impl in writer.implementations)


def _any(group: ScheduleGroup, op: str, index: int) -> bool:
    return any(_index(node, op) == index for impl in group.implementations for node in impl.nodes)


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
    source = source_of(node) if node.op == op else None
    return source.index if source is not None and source.memory is Memory.ARGUMENT else None
