"""The schedule stage: one backend node -> loop nests, segments and buffers for a target."""

from collections.abc import Iterable

from attrs import evolve
from autofuse_ir.asc_graph import AscGraph, Axis
from autofuse_ir.dims import TRUE, Dim, const, dim_max
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.given import check_kinds
from autofuse_ir.kernel_memory import workspace_plan
from autofuse_ir.schedule import Alternative, Dropped, ImplGraph, KernelArgument, ScheduleGroup, ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.asserted import asserted_ranges
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.fits import is_beaten, is_superfluous, never_fits
from autofuse_schedule.groups import group_of_graph
from autofuse_schedule.in_phases import group_of_phases, in_phases
from autofuse_schedule.joint import Wiring
from autofuse_schedule.legalise.graph import Legalise
from autofuse_schedule.templates.choose import templates_for, templates_for_phases
from autofuse_schedule.transforms.collapse_broadcasts import CollapseBroadcasts
from autofuse_schedule.transforms.drop_unread import DropUnread
from autofuse_schedule.transforms.insert_broadcasts import InsertBroadcasts
from autofuse_schedule.transforms.merge_axes import MergeAxes
from autofuse_schedule.transforms.stage_loads import StageLoads, check_stores
from autofuse_schedule.workspace import workspace_bytes

PHASES = "phases"
"""The alternative in which parts of a kernel go on with the rows of others: nothing passes through global memory."""


def schedule(
    backend_node: AscBackend | FusedAscBackend, facts: SymbolFacts, target: TargetSpec, *, holds: bool = True
) -> ScheduleResult:
    """Schedule ``backend_node`` for ``target``; of several AscGraphs, each by itself, in the order of their data.

    Where one of them can be a phase of another (`autofuse_schedule.in_phases`), that is an alternative for rows that
    local memory holds.

    With ``holds`` a unified buffer keeps what many tiles share, in phases of its own (`autofuse_schedule.held`).
    Raises ``ScheduleError`` when no template fits over the declared ranges; it lists what was dropped and the bytes. So
    it does where a launch cannot pass all inputs and outputs.
    """
    check_kinds(
        "schedule",
        backend_node=(backend_node, (AscBackend, FusedAscBackend)),
        facts=(facts, SymbolFacts),
        target=(target, TargetSpec),
    )
    _check_arguments(backend_node, target)
    ranges = asserted_ranges(facts)
    alternatives: list[Alternative] = []
    if isinstance(backend_node, FusedAscBackend):
        parts, internal = backend_node.parts, backend_node.internal
        groups, dropped = _groups(backend_node, target, ranges, holds)
        joined = in_phases(backend_node)
        if joined is not None:
            inside, gone = _groups(joined.node, target, ranges, holds, joined.phased)
            dropped += gone
            if inside:
                alternatives.append(Alternative(PHASES, inside, TRUE))
    else:
        parts, internal = (backend_node,), ()
        kept, dropped = _implementations(backend_node, target, ranges, holds)
        groups = (ScheduleGroup(backend_node.name, kept, workspace_bytes=workspace_bytes(kept)),)
    alternatives.append(Alternative("general", groups, TRUE))
    arguments = _arguments(backend_node, facts)
    internals = _described(internal, False, backend_node, facts)
    return ScheduleResult(
        name=backend_node.name,
        target=target.name,
        arguments=arguments,
        symbols=_symbols(tuple(part.graph for part in parts), (*arguments, *internals)),
        alternatives=tuple(alternatives),
        workspace_bytes=_most(workspace_plan(internals, alternative).bytes for alternative in alternatives),
        dropped=dropped,
        internals=internals,
    )


def _groups(
    node: FusedAscBackend,
    target: TargetSpec,
    ranges: dict[str, tuple[int, int]],
    holds: bool,
    phased: frozenset[str] = frozenset(),
) -> tuple[tuple[ScheduleGroup, ...], tuple[Dropped, ...]]:
    """Return a group for each part of ``node``, and what was dropped; no groups where one of ``phased`` never fits.

    Implementations of parts beside ``phased`` ones have names of their own: the parts are scheduled as they are, too.
    """
    wiring = Wiring(node)
    groups: list[ScheduleGroup] = []
    dropped: tuple[Dropped, ...] = ()
    for part in node.parts:
        if part.name in phased:
            kept, gone = _in_phases(part, target, ranges)
        else:
            kept, gone = _implementations(part, target, ranges, holds)
            if phased:
                kept = tuple(evolve(impl, name=f"{impl.name}_beside") for impl in kept)
        dropped += gone
        if not kept:
            return (), dropped
        wired = tuple(wiring(impl, part) for impl in kept)
        groups.append(ScheduleGroup(part.name, wired, wiring.after(part), workspace_bytes(kept)))
    return tuple(groups), dropped


def _most(sizes: Iterable[Dim]) -> Dim:
    found = [size for size in sizes if size != const(0)]
    return dim_max(*found) if found else const(0)


def _implementations(
    part: AscBackend, target: TargetSpec, ranges: dict[str, tuple[int, int]], holds: bool
) -> tuple[tuple[ImplGraph, ...], tuple[Dropped, ...]]:
    body, axes = _body(part, target, ranges)
    group = group_of_graph(body)
    kept: list[ImplGraph] = []
    dropped: list[Dropped] = []
    for template, cases in templates_for(body, group, target, ranges, holds):
        for case in cases:
            impl = template(body, group, case, axes)
            reason = is_superfluous(impl, target, ranges) or never_fits(impl, target, ranges)
            if reason is None:
                kept.append(impl)
            else:
                dropped.append(reason)
    if not kept:
        reasons = "; ".join(f"{d.template}, case {d.case}: {d.reason}" for d in dropped)
        raise ScheduleError(
            f"no schedule fits the target {target.name} ({reasons})",
            where=f"kernel {part.name}",
            fix="narrow the declared ranges or fuse fewer operators",
        )
    beaten = {impl.name: reason for impl in kept if (reason := is_beaten(impl, kept, ranges)) is not None}
    return tuple(impl for impl in kept if impl.name not in beaten), (*dropped, *beaten.values())


def _in_phases(
    part: AscBackend, target: TargetSpec, ranges: dict[str, tuple[int, int]]
) -> tuple[tuple[ImplGraph, ...], tuple[Dropped, ...]]:
    """Return the implementations of a part whose rows stay in local memory between its phases; none may fit."""
    body, axes = _body(part, target, ranges)
    group = group_of_phases(body)
    if group is None:  # of size 1, say
        return (), (Dropped("all-load", "", "there is no axis that blocks can share"),)
    made = [
        template(body, group, case, axes)
        for template, cases in templates_for_phases(body, group, target, ranges)
        for case in cases
    ]
    gone = {impl.name: reason for impl in made if (reason := never_fits(impl, target, ranges)) is not None}
    return tuple(impl for impl in made if impl.name not in gone), tuple(gone.values())


def _body(
    part: AscBackend, target: TargetSpec, ranges: dict[str, tuple[int, int]]
) -> tuple[AscGraph, tuple[Axis, ...]]:
    """Return what of ``part`` is computed on ``target``, over merged axes, and all axes that led to those."""
    merged = MergeAxes()(CollapseBroadcasts()(DropUnread()(part.graph)))
    if target.kind is not TargetKind.ASCEND:
        return merged.graph, merged.axes
    check_stores(merged.graph, target.name)
    return InsertBroadcasts()(StageLoads()(Legalise(target.name, ranges)(merged.graph))), merged.axes


def _check_arguments(node: AscBackend | FusedAscBackend, target: TargetSpec) -> None:
    count, most = len(node.inputs) + len(node.outputs), target.limits.arguments
    if count > most:
        raise ScheduleError(
            f"it has {count} inputs and outputs, {most} are the most on {target.name}",
            where=f"kernel {node.name}",
            fix="fuse fewer operators (FusionOptions.max_inputs, max_outputs), or join fewer inputs at once",
        )


def _arguments(node: AscBackend | FusedAscBackend, facts: SymbolFacts) -> tuple[KernelArgument, ...]:
    return _described(node.inputs, False, node, facts) + _described(node.outputs, True, node, facts)


def _described(
    names: tuple[str, ...], is_output: bool, node: AscBackend | FusedAscBackend, facts: SymbolFacts
) -> tuple[KernelArgument, ...]:
    values = {v.name: v for v in facts.values}

    def argument(name: str, index: int) -> KernelArgument:
        fact = values.get(name)
        if fact is None:
            raise ScheduleError(
                f"the facts say nothing of value {name!r}",
                where=f"kernel {node.name}",
                fix="give the facts of the FusedGraph that the kernel is of",
            )
        if fact.shape is None:
            raise ScheduleError(
                f"the rank of {name!r} is not known", where=f"kernel {node.name}", fix="keep it in a host region"
            )
        return KernelArgument(name, is_output, index, fact.dtype, fact.shape)

    return tuple(argument(name, index) for index, name in enumerate(names))


def _symbols(graphs: tuple[AscGraph, ...], arguments: tuple[KernelArgument, ...]) -> tuple[str, ...]:
    found: set[str] = set()
    for argument in arguments:
        for dim in argument.shape:
            found.update(free_symbols(dim))
    for axis in (axis for graph in graphs for axis in graph.axes):
        found.update(free_symbols(axis.size))
    for node in (node for graph in graphs for node in graph.nodes):
        if node.access is not None:
            for dim in node.access.memory:
                found.update(free_symbols(dim))
            for access in node.access.dims:
                found.update(free_symbols(access.step))
                found.update(free_symbols(access.offset))
        expression = node.attr("expression")
        if node.op == "IndexExpr" and isinstance(expression, Dim):
            found.update(free_symbols(expression))
    return tuple(sorted(found))
