"""The text forms of a ScheduleResult and of one ImplGraph."""

from collections.abc import Iterator

from autofuse_ir.dims import const
from autofuse_ir.schedule import Buffer, Dropped, ImplGraph, KernelArgument, Phase, ScheduleResult, TilingGroup
from autofuse_ir.text.asc_graph import asc_node_row, axis_text, words
from autofuse_ir.text.fused_graph import indented
from autofuse_ir.text.values import aligned, tensor_type, word


def schedule_lines(schedule: ScheduleResult) -> Iterator[str]:
    """Yield the lines of ``schedule``."""
    yield f"schedule {word(schedule.name)} for {schedule.target}"
    yield from argument_lines(schedule.arguments, schedule.symbols)
    for value in schedule.internals:
        yield f"  internal {value.index} {word(value.name)}: {tensor_type(value.dtype, value.shape)}"
    yield f"  workspace {schedule.workspace_bytes} bytes"
    for alternative in schedule.alternatives:
        yield f"  alternative {word(alternative.name)} where {alternative.applies}"
        for group in alternative.groups:
            after = f" after ({words(group.after)})" if group.after else ""
            own = f" with {group.workspace_bytes} bytes of workspace" if group.workspace_bytes != const(0) else ""
            yield f"    group {word(group.name)}{after}{own}"
            for implementation in group.implementations:
                yield from indented(indented(indented(impl_graph_lines(implementation))))
    for dropped in schedule.dropped:
        yield f"  {_dropped_text(dropped)}"


def argument_lines(arguments: tuple[KernelArgument, ...], symbols: tuple[str, ...]) -> Iterator[str]:
    """Yield a kernel's arguments and the sizes its entry points take."""
    for argument in arguments:
        kind = "output" if argument.is_output else "input"
        yield f"  {kind} {argument.index} {word(argument.name)}: {tensor_type(argument.dtype, argument.shape)}"
    yield f"  symbols ({words(symbols)})"


def impl_graph_lines(graph: ImplGraph) -> Iterator[str]:
    """Yield the lines of ``graph``: its axes, nodes, loops around segments, and buffers."""
    yield f"implgraph {word(graph.name)}  case {word(graph.case.name)} splits ({words(graph.case.split)})"
    yield f"  template {word(graph.template)}  group {group_text(graph.group)}  index bits {graph.index_bits}"
    yield f"  roots ({words(graph.roots)})"
    for axis in graph.axes:
        yield f"  {axis_text(axis)}"
    for tile in graph.tile_variables:
        limits = f"in [{tile.lo}, {tile.hi}], multiple of {tile.multiple}"
        yield f"  tile {word(tile.name)} {limits}, for {word(tile.axis)} ({tile.role.value})"
    yield from aligned(asc_node_row(node) for node in graph.nodes)
    for phase in graph.phases:
        yield from indented(_phase_lines(phase))
    for buffer in graph.buffers:
        yield f"  {_buffer_text(buffer)}"
    for placement in graph.placements:
        buffer_name = "" if placement.buffer is None else f" {word(placement.buffer)}"
        yield f"  place {word(placement.node)} in {placement.location.value}{buffer_name}"
    for placement in graph.accumulators:
        buffer_name = "" if placement.buffer is None else f" {word(placement.buffer)}"
        yield f"  accumulate {word(placement.node)} in {placement.location.value}{buffer_name}"


def group_text(group: TilingGroup) -> str:
    """Return the axes by role: ``x=() y=(z0, z1) r=() n=()``."""
    return f"x=({words(group.x)}) y=({words(group.y)}) r=({words(group.r)}) n=({words(group.n)})"


def _phase_lines(phase: Phase) -> Iterator[str]:
    shared = f", inside {phase.shared} loops of the phase before" if phase.shared else ""
    yield f"phase, then sync {phase.sync.value}{shared}"
    indent = "  "
    for loop in phase.loops:
        how = " over blocks" if loop == phase.block else " backwards" if loop in phase.backwards else ""
        yield f"{indent}for {word(loop)}{how}"
        indent += "  "
    for segment in phase.segments:
        yield f"{indent}strips of ({words(segment.axes)}): {words(segment.nodes)}"


def _buffer_text(buffer: Buffer) -> str:
    place = f"{buffer.location.value} {buffer.position.value}"
    reuse = "" if buffer.reuses is None else f" in place of {word(buffer.reuses)}"
    lifetime = f" for one {word(buffer.lifetime)}" if buffer.lifetime else ""
    return f"buffer {word(buffer.name)}: {place}, {buffer.copies} x {buffer.bytes} bytes{reuse}{lifetime}"


def _dropped_text(dropped: Dropped) -> str:
    need = ""
    if dropped.bytes_needed is not None:
        need = f" ({dropped.bytes_needed} bytes of {dropped.bytes_available})"
    return f"dropped {word(dropped.template)} {word(dropped.case)}: {dropped.reason}{need}"
