"""The fusion stage: a graph and its facts -> kernels, host regions and views."""

from attrs import evolve
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import (
    AscBackend,
    FusedAscBackend,
    FusedGraph,
    FusedNode,
    HostReason,
    HostRegion,
    RemovedRounding,
    SizesNode,
    ViewNode,
)
from autofuse_ir.given import check_kinds
from autofuse_ir.graph import Constant, Graph
from autofuse_ir.target import TargetSpec

from autofuse_fusion.batches import Batch, batched
from autofuse_fusion.benefit import cost_model
from autofuse_fusion.explain import refusals_of
from autofuse_fusion.groups import Group
from autofuse_fusion.hosts import Region
from autofuse_fusion.items import Items, items_of, made_by, region_reads
from autofuse_fusion.joint import joint_kernel
from autofuse_fusion.kernels import write_kernel
from autofuse_fusion.lower.views.expose import expose_views
from autofuse_fusion.lower.views.marks import origin_of
from autofuse_fusion.memory import peak_of
from autofuse_fusion.network import Sizes, View, network_of
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.passes.pipeline import clean_up
from autofuse_fusion.precision import kept_roundings
from autofuse_fusion.undo import solve_within_peak
from autofuse_fusion.values import values_of

_DEFAULT = FusionOptions()


def fuse(graph: Graph, facts: SymbolFacts, target: TargetSpec, options: FusionOptions = _DEFAULT) -> FusedGraph:
    """Return ``graph`` as kernels for ``target``, host regions, views and sizes, in topological order.

    ``graph`` and ``facts`` are those that ``autofuse_symshape.stage.infer`` returned. The result's own facts also cover
    the values that fusion made. Raises ``FusionError`` for an operator that nothing can run.
    """
    check_kinds("fuse", graph=(graph, Graph), facts=(facts, SymbolFacts), target=(target, TargetSpec))
    graph = clean_up(graph, facts)
    graph, values = expose_views(graph, values_of(graph, facts), target, options)
    network = network_of(graph, facts, values, target, options)
    items = items_of(network, values, options, cost_model(target))
    allowed = peak_of(items.things, items.pinned, values)
    solver = solve_within_peak(items, allowed, target, options)
    kept = kept_roundings(network.units, values, options.numerics)
    nodes: list[FusedNode] = []
    removed: list[RemovedRounding] = []
    batches: list[Batch] = []
    for thing in batched(solver, target, options, allowed):
        match thing:
            case Group():
                kernel = write_kernel(_kernel_name((thing,), len(nodes)), thing, values, target, kept)
                removed += kernel.removed
                nodes.append(kernel.backend)
            case Batch():
                name = _kernel_name(thing.parts, len(nodes))
                parts = [write_kernel(f"{name}_{k}", part, values, target, kept) for k, part in enumerate(thing.parts)]
                removed += [evolve(rounding, kernel=name) for part in parts for rounding in part.removed]
                nodes.append(joint_kernel(name, [part.backend for part in parts], thing.kept))
                batches.append(thing)
            case Region():
                nodes.append(_host_region(thing, items, len(nodes)))
            case View():
                nodes.append(ViewNode(f"view_{len(nodes)}", thing.input, thing.output, (thing.node.name,)))
            case Sizes():
                nodes.append(SizesNode(f"sizes_{len(nodes)}", thing.output, thing.elements, (thing.node.name,)))
    return FusedGraph(
        name=graph.name,
        inputs=graph.inputs,
        outputs=graph.outputs,
        nodes=tuple(nodes),
        facts=evolve(
            facts,
            values=tuple(fact for name, fact in values.facts.items() if name not in values.leaves),
            guards=(*facts.guards, *values.guards),
        ),
        constants=_used_constants(graph, nodes),
        refusals=refusals_of(solver, values, batches),
        removed_roundings=tuple(removed),
        numerics=options.numerics,
        payloads=graph.payloads,
    )


def _host_region(region: Region, items: Items, number: int) -> HostRegion:
    outputs = []
    for name in made_by(region):
        others = (items.things[reader] for reader in items.readers.get(name, ()))
        if name in items.pinned or any(thing is not region for thing in others):
            outputs.append(name)
    return HostRegion(
        name=f"host_{number}",
        backend=region.backend,
        inputs=region_reads(region),
        outputs=tuple(outputs),
        operators=tuple(operator.node for operator in region.operators),
        reasons=tuple(HostReason(operator.node.name, operator.reason) for operator in region.operators),
    )


def _kernel_name(groups: tuple[Group, ...], number: int) -> str:
    """Return a name that is an identifier and says the operators it holds."""
    kinds = list(dict.fromkeys(origin_of(unit.node).lower() for group in groups for unit in group.units))
    shown = "_".join(kinds[:4]) + (f"_and_{len(kinds) - 4}_more" if len(kinds) > 4 else "")
    return f"k{number}_{shown}"


def _used_constants(graph: Graph, nodes: list[FusedNode]) -> tuple[Constant, ...]:
    used = {output.value for output in graph.outputs}
    for node in nodes:
        match node:
            case AscBackend() | FusedAscBackend() | HostRegion():
                used.update(node.inputs)
            case ViewNode():
                used.add(node.input)
            case _:
                pass
    return tuple(constant for constant in graph.constants if constant.name in used)
