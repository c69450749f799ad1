"""Why pairs of nodes that share a tensor were not fused, and what a fused graph holds, in words."""

from collections.abc import Iterator, Sequence

from autofuse_ir.dims import const
from autofuse_ir.fused_graph import (
    AscBackend,
    FusedAscBackend,
    FusedGraph,
    HostRegion,
    Reason,
    Refusal,
    SizesNode,
    ViewNode,
)

from autofuse_fusion.batches import Batch
from autofuse_fusion.hosts import Region
from autofuse_fusion.items import Thing
from autofuse_fusion.legality import Refused
from autofuse_fusion.network import HostOperator, Sizes, View
from autofuse_fusion.solve import Pair, Solver
from autofuse_fusion.values import Values, bytes_of


def refusals_of(solver: Solver, values: Values, batches: Sequence[Batch]) -> tuple[Refusal, ...]:
    """Return one refusal per pair of unfused nodes that touch a tensor; parts of one launch are no such pair.

    A maker is paired with each of its readers, readers with the next one (all pairs of readers would be quadratically
    many, and say nothing more). Views and sizes move nothing, so there is nothing to save on them.
    """
    things = solver.items.things
    launch = {id(group): number for number, batch in enumerate(batches) for group in batch.parts}
    found: list[Refusal] = []
    for pair in solver.pairs():
        together = [launch.get(id(solver.groups[number])) for number in (pair.first, pair.second)]
        if together[0] is not None and together[0] == together[1]:
            continue
        refused = _why(pair, solver, things)
        if refused is None:
            continue
        fact = values.fact(pair.tensor)
        first = values.makers[pair.tensor].name if pair.vertical else _reader(pair, pair.first, solver, things)
        second = _reader(pair, pair.second, solver, things)
        alone = pair.vertical and len(solver.items.readers[pair.tensor]) == 1 and pair.tensor not in solver.pinned
        saved = bytes_of(fact) * const(2 if alone else 1)
        found.append(Refusal(first, second, pair.tensor, refused.reason, refused.detail, fact.shape or (), saved))
    return tuple(found)


def _why(pair: Pair, solver: Solver, things: Sequence[Thing]) -> Refused | None:
    first, second = things[pair.first], things[pair.second]
    if isinstance(second, View | Sizes) or isinstance(first, Sizes):
        return None
    if isinstance(first, View):
        if not pair.vertical or isinstance(second, Region):
            return None
        return Refused(Reason.AXES_DO_NOT_MAP, f"{first.node.name} cuts its axes as its reader cannot walk them")
    hosts = [thing for thing in (first, second) if isinstance(thing, Region)]
    if hosts:
        if not pair.vertical:
            return None
        operator = _host_operator(hosts[-1], pair.tensor)
        return Refused(operator.reason, f"{operator.node.op} runs on the host ({hosts[-1].backend})")
    outcome = solver.try_pair(pair.first, pair.second)
    if isinstance(outcome, Refused):
        return outcome
    return Refused(Reason.NO_BENEFIT, f"{outcome.gain:.0f} cycles when the rounds were used up")


def _host_operator(region: Region, tensor: str) -> HostOperator:
    for operator in region.operators:
        if tensor in operator.node.inputs or tensor in operator.outputs:
            return operator
    return region.operators[0]


def _reader(pair: Pair, item: int, solver: Solver, things: Sequence[Thing]) -> str:
    group = solver.groups[item]
    thing = things[item]
    if group is not None:
        readers: Iterator[str] = (
            unit.node.name for unit in group.units if any(read.value == pair.tensor for read in unit.reads)
        )
        return next(readers, group.name)
    if isinstance(thing, Region):
        return next(
            (o.node.name for o in thing.operators if pair.tensor in o.node.inputs), thing.operators[0].node.name
        )
    assert isinstance(thing, View | Sizes)
    return thing.node.name


def summary(fused: FusedGraph) -> str:
    """Return the nodes of ``fused`` and the refusals, one a line.

    ::

        kernel  k0_add_geluv2: Add_0, GeluV2_1
        refused MatMul_2 -> Relu_3 over %MatMul_2: host-operator
    """
    lines: list[str] = []
    for node in fused.nodes:
        match node:
            case AscBackend():
                lines.append(f"kernel  {node.name}: {', '.join(node.operators)}")
            case FusedAscBackend():
                lines.append(f"kernel  {node.name}: {', '.join(part.name for part in node.parts)}")
            case HostRegion():
                shown = ", ".join(f"{r.operator} ({r.reason.value})" for r in node.reasons)
                lines.append(f"host    {node.name} [{node.backend}]: {shown}")
            case ViewNode():
                lines.append(f"view    {node.name}: %{node.output} is %{node.input}")
            case SizesNode():
                lines.append(f"sizes   {node.name}: %{node.output} = [{', '.join(map(str, node.elements))}]")
    lines += [
        f"refused {r.first} -> {r.second} over %{r.tensor}: {r.reason.value}" + (f" ({r.detail})" if r.detail else "")
        for r in fused.refusals
    ]
    return "\n".join(lines)
