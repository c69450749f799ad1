"""The schedule stage: one backend node -> loop nests, segments and buffers for a target."""

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import TRUE, Dim
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.schedule import Alternative, Dropped, ImplGraph, KernelArgument, ScheduleGroup, ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.fits import is_superfluous, never_fits
from autofuse_schedule.groups import group_of_graph
from autofuse_schedule.legalise.graph import Legalise
from autofuse_schedule.templates.choose import templates_for
from autofuse_schedule.transforms.collapse_broadcasts import CollapseBroadcasts
from autofuse_schedule.transforms.insert_broadcasts import InsertBroadcasts
from autofuse_schedule.transforms.merge_axes import MergeAxes
from autofuse_schedule.workspace import workspace_bytes


def schedule(backend_node: AscBackend | FusedAscBackend, facts: SymbolFacts, target: TargetSpec) -> ScheduleResult:
    """Schedule ``backend_node`` for ``target``.

    Raises ``ScheduleError`` when no template fits over the declared ranges; it lists what was dropped and the bytes.
    """
    if isinstance(backend_node, FusedAscBackend):
        raise ScheduleError(
            "nodes of several AscGraphs are not scheduled jointly yet",
            where=f"kernel {backend_node.name}",
            fix="schedule its parts one by one",
        )
    ranges = {s.name: (s.lo, s.hi) for s in facts.symbols}
    implementations, dropped = _implementations(backend_node.graph, target, ranges)
    if not implementations:
        reasons = "; ".join(f"{d.template}, case {d.case}: {d.reason}" for d in dropped)
        raise ScheduleError(
            f"no schedule fits the target {target.name} ({reasons})",
            where=f"kernel {backend_node.name}",
            fix="narrow the declared ranges or fuse fewer operators",
        )
    arguments = _arguments(backend_node, facts)
    group = ScheduleGroup(backend_node.name, implementations)
    return ScheduleResult(
        name=backend_node.name,
        target=target.name,
        arguments=arguments,
        symbols=_symbols(backend_node.graph, arguments),
        alternatives=(Alternative("general", (group,), TRUE),),
        workspace_bytes=workspace_bytes(implementations),
        dropped=dropped,
    )


def _implementations(
    graph: AscGraph, target: TargetSpec, ranges: dict[str, tuple[int, int]]
) -> tuple[tuple[ImplGraph, ...], tuple[Dropped, ...]]:
    merged = MergeAxes()(CollapseBroadcasts()(graph))
    body, axes = merged.graph, merged.axes
    if target.kind is TargetKind.ASCEND:
        body = InsertBroadcasts()(Legalise(target.name)(body))
    group = group_of_graph(body)
    kept: list[ImplGraph] = []
    dropped: list[Dropped] = []
    for template, cases in templates_for(body, group, target, ranges):
        for case in cases:
            impl = template(body, group, case, axes)
            reason = is_superfluous(impl, target, ranges) or never_fits(impl, target, ranges)
            if reason is None:
                kept.append(impl)
            else:
                dropped.append(reason)
    return tuple(kept), tuple(dropped)


def _arguments(node: AscBackend, facts: SymbolFacts) -> tuple[KernelArgument, ...]:
    values = {v.name: v for v in facts.values}

    def argument(name: str, is_output: bool, index: int) -> KernelArgument:
        fact = values[name]
        if fact.shape is None:
            raise ScheduleError(
                f"the rank of {name!r} is not known", where=f"kernel {node.name}", fix="keep it in a host region"
            )
        return KernelArgument(name, is_output, index, fact.dtype, fact.shape)

    inputs = tuple(argument(name, False, i) for i, name in enumerate(node.inputs))
    return inputs + tuple(argument(name, True, i) for i, name in enumerate(node.outputs))


def _symbols(graph: AscGraph, arguments: tuple[KernelArgument, ...]) -> tuple[str, ...]:
    found: set[str] = set()
    for argument in arguments:
        for dim in argument.shape:
            found.update(free_symbols(dim))
    for axis in graph.axes:
        found.update(free_symbols(axis.size))
    for node in graph.nodes:
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
