"""Invariants of a ScheduleResult's groups: their order, and the values that pass between them."""

from collections.abc import Iterator, Mapping, Sequence

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.errors import IrError
from autofuse_ir.group_order import predecessors
from autofuse_ir.kernel_memory import Memory, Source, source_of
from autofuse_ir.schedule import Alternative, ImplGraph, KernelArgument, ScheduleGroup, ScheduleResult
from autofuse_ir.text.asc_graph import node_name
from autofuse_ir.text.values import word


def check_groups(schedule: ScheduleResult) -> Iterator[Finding]:
    """Groups have an order; each output and internal value is made by one group, and read by groups after it.

    An alternative may do without internal values that it does not read.
    """
    for alternative in schedule.alternatives:
        for name in duplicates(group.name for group in alternative.groups):
            yield Finding(f"group {name!r}", "there are two of them", "give each its own name", f"group {word(name)}")
        try:
            before = predecessors(alternative.groups)
        except IrError as error:
            yield Finding(error.where or "groups", error.what, error.fix or "", "group ")
            continue
        yield from _check_makers(schedule, alternative, before)


def check_sources(nodes: Sequence[AscNode]) -> Iterator[Finding]:
    """Every Data and Output node of an ImplGraph says what it stands for, and no two are the same."""
    for op in ("Data", "Output"):
        seen: set[Source] = set()
        for node in nodes:
            if node.op != op:
                continue
            where, anchor = f"node {node.name!r}, {op}", f"{node_name(node.name)}: "
            source = source_of(node)
            if source is None:
                what = "it does not say which argument or internal value it stands for"
                yield Finding(where, what, "set index, output (of a Data) or internal", anchor)
            elif source in seen:
                what = f"there are two with {source.memory.value} {source.index}"
                yield Finding(f"{op} nodes", what, "number them apart", anchor)
            else:
                seen.add(source)


def check_node_sources(
    impl: ImplGraph, arguments: Sequence[KernelArgument], internals: Sequence[KernelArgument]
) -> Iterator[Finding]:
    """Data and Output nodes have the dtypes of the arguments and internal values they stand for."""
    for node in impl.nodes:
        source = source_of(node) if node.op in ("Data", "Output") else None
        if source is None:
            continue
        if source.memory is Memory.INTERNAL:
            wanted, what = internals, f"internal value {source.index}"
        else:
            is_output = node.op == "Output" or source.memory is Memory.OUTPUT
            wanted = [argument for argument in arguments if argument.is_output is is_output]
            what = f"{'Output' if is_output else 'Data'} {source.index}"
        dtypes = {argument.index: argument.dtype for argument in wanted}
        where = f"{impl.name}, node {node.name!r}"
        if source.index not in dtypes:
            yield Finding(where, f"the kernel has no {what}", "")
        elif dtypes[source.index] != node.dtype:
            kind = "value" if source.memory is Memory.INTERNAL else "argument"
            yield Finding(where, f"it is {node.dtype}, but the {kind} is {dtypes[source.index]}", "correct either")


def _check_makers(
    schedule: ScheduleResult, alternative: Alternative, before: Mapping[str, frozenset[str]]
) -> Iterator[Finding]:
    made: dict[Source, str] = {}
    for group in alternative.groups:
        for source in _sources(group, "Output"):
            if source in made:
                what = f"groups {made[source]!r} and {group.name!r} both make {_text(source)}"
                yield Finding(f"alternative {alternative.name!r}", what, "let one group make it", "alternative ")
            made[source] = group.name
    outputs = [Source(Memory.ARGUMENT, a.index) for a in schedule.arguments if a.is_output]
    read = {source for group in alternative.groups for source in _sources(group, "Data")}
    internals = [Source(Memory.INTERNAL, value.index) for value in schedule.internals]
    for source in (*outputs, *(internal for internal in internals if internal in read)):
        if source not in made:
            what = f"no group makes {_text(source)}"
            yield Finding(f"alternative {alternative.name!r}", what, "let one group store it", "alternative ")
    for group in alternative.groups:
        for source in _sources(group, "Data"):
            if source.memory is Memory.ARGUMENT:
                continue
            wanted = source if source.memory is Memory.INTERNAL else Source(Memory.ARGUMENT, source.index)
            maker = made.get(wanted)
            if maker is not None and maker not in before[group.name]:
                what = f"it reads {_text(wanted)}, but does not wait for {maker!r}, which makes it"
                yield Finding(f"group {group.name!r}", what, f"put it after {maker!r}", f"group {word(group.name)}")


def _sources(group: ScheduleGroup, op: str) -> tuple[Source, ...]:
    nodes = (node for impl in group.implementations for node in impl.nodes if node.op == op)
    return tuple(dict.fromkeys(source for node in nodes if (source := source_of(node)) is not None))


def _text(source: Source) -> str:
    return f"{'internal value' if source.memory is Memory.INTERNAL else 'output'} {source.index}"
