"""Invariants of a ScheduleResult."""

from collections.abc import Iterator, Sequence

from attrs import evolve

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.groups import check_groups, check_node_sources
from autofuse_ir.checks.impl_graph import impl_graph_findings
from autofuse_ir.checks.symbols import unknown_symbols
from autofuse_ir.dims import TRUE, Dim
from autofuse_ir.schedule import ImplGraph, KernelArgument, ScheduleResult
from autofuse_ir.text.values import word


def schedule_findings(schedule: ScheduleResult) -> Iterator[Finding]:
    """Yield every broken invariant of ``schedule`` and of the ImplGraphs inside."""
    yield from check_arguments(schedule.arguments)
    yield from check_internals(schedule.internals)
    yield from check_alternatives(schedule)
    yield from check_groups(schedule)
    yield from check_symbols(schedule)
    for graph in implementations(schedule):
        for finding in impl_graph_findings(graph):
            yield evolve(finding, where=f"{graph.name}, {finding.where}")
        yield from check_node_sources(graph, schedule.arguments, schedule.internals)


def implementations(schedule: ScheduleResult) -> tuple[ImplGraph, ...]:
    """Return all ImplGraphs, in order."""
    return tuple(
        graph
        for alternative in schedule.alternatives
        for group in alternative.groups
        for graph in group.implementations
    )


def check_arguments(arguments: Sequence[KernelArgument]) -> Iterator[Finding]:
    """Inputs and outputs are numbered in order, without holes."""
    for is_output in (False, True):
        indices = [argument.index for argument in arguments if argument.is_output is is_output]
        if indices != list(range(len(indices))):
            what = "outputs" if is_output else "inputs"
            yield Finding(f"{what}", f"their indices are {indices}", "number them 0, 1, 2, ... in order")


def check_internals(internals: Sequence[KernelArgument]) -> Iterator[Finding]:
    """Internal values are numbered in order, without holes, and are no outputs."""
    if [value.index for value in internals] != list(range(len(internals))):
        shown = [value.index for value in internals]
        yield Finding("internal values", f"their indices are {shown}", "number them 0, 1, 2, ... in order", "internal ")
    for value in internals:
        if value.is_output:
            yield Finding(f"internal value {value.name!r}", "it is an output", "list it as an argument", "internal ")


def check_alternatives(schedule: ScheduleResult) -> Iterator[Finding]:
    """There is something to run for all sizes, and names tell the parts apart."""
    if not any(alternative.applies is TRUE for alternative in schedule.alternatives):
        yield Finding("alternatives", "none applies to all sizes", "keep a general one", "alternative ")
    for name in duplicates(alternative.name for alternative in schedule.alternatives):
        yield Finding(f"alternative {name!r}", "there are two of them", "", f"alternative {word(name)} ")
    for alternative in schedule.alternatives:
        for group in alternative.groups:
            if not group.implementations:
                yield Finding(f"group {group.name!r}", "it has no implementation", "", f"group {word(group.name)}")
    for name in duplicates(graph.name for graph in implementations(schedule)):
        yield Finding(f"implementation {name!r}", "there are two of them", "", f"implgraph {word(name)} ")


def check_symbols(schedule: ScheduleResult) -> Iterator[Finding]:
    """Sizes use the kernel's symbols and, inside an ImplGraph, its tile variables."""
    known = set(schedule.symbols)
    for argument in schedule.arguments:
        yield from unknown_symbols(argument.shape, known, f"argument {argument.name!r}")
    for value in schedule.internals:
        yield from unknown_symbols(value.shape, known, f"internal value {value.name!r}", "internal ")
    yield from unknown_symbols((schedule.workspace_bytes,), known, "workspace", "workspace ")
    for alternative in schedule.alternatives:
        yield from unknown_symbols((alternative.applies,), known, f"alternative {alternative.name!r}", "alternative ")
        for group in alternative.groups:
            yield from unknown_symbols((group.workspace_bytes,), known, f"group {group.name!r}", "group ")
    for graph in implementations(schedule):
        local = known | {variable.name for variable in graph.tile_variables}
        sizes: list[Dim] = [axis.size for axis in graph.axes]
        sizes += [buffer.bytes for buffer in graph.buffers] + [variable.hi for variable in graph.tile_variables]
        for node in graph.nodes:
            sizes += node.repeats
            if node.access is not None:
                sizes += [*node.access.memory, *(part for dim in node.access.dims for part in (dim.step, dim.offset))]
        yield from unknown_symbols(sizes, local, graph.name, f"implgraph {word(graph.name)} ")
