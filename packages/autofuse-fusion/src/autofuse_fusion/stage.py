"""The fusion stage: a graph and its facts -> kernels, host regions and views."""

from heapq import heapify, heappop, heappush

from attrs import define, evolve, field
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import (
    AscBackend,
    FusedGraph,
    FusedNode,
    HostReason,
    HostRegion,
    RemovedRounding,
    SizesNode,
    ViewNode,
)
from autofuse_ir.graph import Constant, Graph
from autofuse_ir.target import TargetSpec

from autofuse_fusion.benefit import work_of
from autofuse_fusion.explain import refusals_of
from autofuse_fusion.groups import Group, group_of
from autofuse_fusion.hosts import Region, regions_of
from autofuse_fusion.kernels import write_kernel
from autofuse_fusion.network import Network, Sizes, View, network_of
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.order import ContractionOrder
from autofuse_fusion.passes.pipeline import clean_up
from autofuse_fusion.precision import kept_roundings
from autofuse_fusion.solve import Solver
from autofuse_fusion.undo import undo
from autofuse_fusion.values import Values, values_of

_DEFAULT = FusionOptions()


def fuse(graph: Graph, facts: SymbolFacts, target: TargetSpec, options: FusionOptions = _DEFAULT) -> FusedGraph:
    """Return ``graph`` as kernels for ``target``, host regions, views and sizes, in topological order.

    ``graph`` and ``facts`` are those that ``autofuse_symshape.stage.infer`` returned. The result's own facts also cover
    the values that fusion made. Raises ``FusionError`` for an operator that nothing can run.
    """
    graph = clean_up(graph, facts)
    values = values_of(graph, facts)
    network = network_of(graph, facts, values, target, options)
    items = _Items(network, values)
    items.collect(options)
    solver = Solver(
        groups=items.groups,
        order=ContractionOrder(len(items.things), items.edges()),
        makers=items.makers,
        readers=items.readers,
        pinned=frozenset(output.value for output in graph.outputs),
        values=values,
        target=target,
        options=options,
    )
    solver.solve()
    undo(solver)
    kept = kept_roundings(network.units, values, options.numerics)
    nodes: list[FusedNode] = []
    removed: list[RemovedRounding] = []
    for item in sorted(items.live(solver), key=solver.order.position):
        group, thing = solver.groups[item], items.things[item]
        if group is not None:
            kernel = write_kernel(_kernel_name(group, len(nodes)), group, values, target, kept)
            removed += kernel.removed
            nodes.append(kernel.backend)
        elif isinstance(thing, Region):
            nodes.append(_host_region(thing, items, len(nodes)))
        elif isinstance(thing, View):
            nodes.append(ViewNode(f"view_{len(nodes)}", thing.input, thing.output, (thing.node.name,)))
        else:
            assert isinstance(thing, Sizes)
            nodes.append(SizesNode(f"sizes_{len(nodes)}", thing.output, thing.elements, (thing.node.name,)))
    return FusedGraph(
        name=graph.name,
        inputs=graph.inputs,
        outputs=graph.outputs,
        nodes=tuple(nodes),
        facts=evolve(facts, values=tuple(values.facts.values())),
        constants=_used_constants(graph, nodes),
        refusals=refusals_of(solver, items.things, values),
        removed_roundings=tuple(removed),
        numerics=options.numerics,
        payloads=graph.payloads,
    )


@define(eq=False)
class _Items:
    """Everything that happens, numbered in topological order: units as groups of one, regions, views and sizes."""

    network: Network
    values: Values
    things: list[Group | Region | View | Sizes] = field(factory=list)
    groups: list[Group | None] = field(factory=list)
    makers: dict[str, int] = field(factory=dict)
    readers: dict[str, list[int]] = field(factory=dict)

    def collect(self, options: FusionOptions) -> None:
        """Number the things and find who makes and who reads each value."""
        network = self.network
        regions = regions_of(network)
        needed = {output.value for output in network.graph.outputs}
        needed.update(name for unit in network.units for name in (*(r.value for r in unit.reads), *unit.needs))
        needed.update(name for region in regions for name in region_reads(region))
        needed.update(view.input for view in network.views)
        needed.update(name for sizes in network.sizes for name in sizes.needs)
        loose: list[tuple[int, Group | Region | View | Sizes]] = []
        for unit in network.units:
            scope = options.scope_of(unit.node.name)
            loose.append((unit.order, group_of(unit, needed, work_of(unit, self.values.sizes), scope)))
        loose += [(region.operators[-1].order, region) for region in regions]
        loose += [(view.order, view) for view in network.views]
        loose += [(sizes.order, sizes) for sizes in network.sizes]
        self.things = _topological(loose)
        self.groups = [thing if isinstance(thing, Group) else None for thing in self.things]
        for number, thing in enumerate(self.things):
            self.makers.update((name, number) for name in made_by(thing))
            for name in dict.fromkeys(read_by(thing)):
                self.readers.setdefault(name, []).append(number)

    def edges(self) -> list[tuple[int, int]]:
        """Return who must run before whom."""
        return [(self.makers[n], r) for n, readers in self.readers.items() if n in self.makers for r in readers]

    def live(self, solver: Solver) -> list[int]:
        """Return the items that were not merged into others."""
        return [number for number in range(len(self.things)) if solver.find(number) == number]


def made_by(thing: Group | Region | View | Sizes) -> tuple[str, ...]:
    """Return the values a thing makes."""
    match thing:
        case Group():
            return tuple(name for unit in thing.units for name in unit.outputs)
        case Region():
            return tuple(name for operator in thing.operators for name in operator.outputs)
        case _:
            return (thing.output,)


def read_by(thing: Group | Region | View | Sizes) -> tuple[str, ...]:
    """Return the values that must be there before a thing runs."""
    match thing:
        case Group():
            return (*thing.inputs, *thing.needs)
        case Region():
            return region_reads(thing)
        case View():
            return (thing.input,)
        case Sizes():
            return thing.needs


def region_reads(region: Region) -> tuple[str, ...]:
    """Return the values a region reads from outside."""
    own = {name for operator in region.operators for name in operator.outputs}
    reads = (name for operator in region.operators for name in (*operator.node.inputs, *operator.needs) if name)
    return tuple(dict.fromkeys(name for name in reads if name not in own))


def _topological(
    loose: list[tuple[int, Group | Region | View | Sizes]],
) -> list[Group | Region | View | Sizes]:
    """Return things in an order that respects the data and follows the graph where it can."""
    loose = sorted(loose, key=lambda pair: pair[0])
    maker = {name: number for number, (_, thing) in enumerate(loose) for name in made_by(thing)}
    after: list[list[int]] = [[] for _ in loose]
    missing = [0] * len(loose)
    for number, (_, thing) in enumerate(loose):
        for source in sorted({maker[name] for name in read_by(thing) if name in maker}):
            after[source].append(number)
            missing[number] += 1
    ready = [number for number, count in enumerate(missing) if count == 0]
    heapify(ready)
    ordered = []
    while ready:
        number = heappop(ready)
        ordered.append(loose[number][1])
        for target in after[number]:
            missing[target] -= 1
            if missing[target] == 0:
                heappush(ready, target)
    assert len(ordered) == len(loose), "host regions are convex"
    return ordered


def _host_region(region: Region, items: _Items, number: int) -> HostRegion:
    own = {id(region)}
    outputs = []
    pinned = {output.value for output in items.network.graph.outputs}
    for name in made_by(region):
        others = (items.things[reader] for reader in items.readers.get(name, ()))
        if name in pinned or any(id(thing) not in own for thing in others):
            outputs.append(name)
    return HostRegion(
        name=f"host_{number}",
        backend=region.backend,
        inputs=region_reads(region),
        outputs=tuple(outputs),
        operators=tuple(operator.node for operator in region.operators),
        reasons=tuple(HostReason(operator.node.name, operator.reason) for operator in region.operators),
    )


def _kernel_name(group: Group, number: int) -> str:
    """Return a name that is an identifier and says the operators it holds."""
    kinds = list(dict.fromkeys(unit.node.op.lower() for unit in group.units))
    shown = "_".join(kinds[:4]) + (f"_and_{len(group.units) - 4}_more" if len(kinds) > 4 else "")
    return f"k{number}_{shown}"


def _used_constants(graph: Graph, nodes: list[FusedNode]) -> tuple[Constant, ...]:
    used = {output.value for output in graph.outputs}
    for node in nodes:
        match node:
            case AscBackend() | HostRegion():
                used.update(node.inputs)
            case ViewNode():
                used.add(node.input)
            case _:
                pass
    return tuple(constant for constant in graph.constants if constant.name in used)
