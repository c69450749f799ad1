"""The live part of a graph, sorted by what becomes of it: units of kernels, host operators, views and sizes."""

from collections.abc import Iterable

from attrs import evolve, frozen
from autofuse_ir.dims import Dim, free_symbols
from autofuse_ir.facts import ResultDim, ResultElement, SymbolFacts
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph, Node
from autofuse_ir.target import TargetSpec
from autofuse_ir.walk import made_by

from autofuse_fusion.backends import KERNELS, backend_of, possible_backend
from autofuse_fusion.classify import Kind, Place, classify
from autofuse_fusion.index_map import Viewed, sizes_of
from autofuse_fusion.lower.table import REINTERPRETED
from autofuse_fusion.lower.views.marks import is_placed
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.units import WIDENINGS, SeenThrough, Size, Unit, unit_of
from autofuse_fusion.values import Values


@frozen(eq=False)
class HostOperator:
    """An operator for the host, and why."""

    order: int
    node: Node
    reason: Reason

    @property
    def outputs(self) -> tuple[str, ...]:
        """The values it makes."""
        return made_by(self.node)


@frozen(eq=False)
class View:
    """``output`` is ``input`` under another shape, in memory."""

    order: int
    node: Node
    input: str
    output: str


@frozen(eq=False)
class Sizes:
    """``output`` holds sizes that the program writes."""

    order: int
    node: Node
    output: str
    elements: tuple[Dim, ...]
    needs: tuple[str, ...] = ()


@frozen(eq=False)
class Network:
    """Everything that has to happen, each kind in the order of the graph."""

    graph: Graph
    values: Values
    units: tuple[Unit, ...]
    hosts: tuple[HostOperator, ...]
    views: tuple[View, ...]
    sizes: tuple[Sizes, ...]


def network_of(graph: Graph, facts: SymbolFacts, values: Values, target: TargetSpec, options: FusionOptions) -> Network:
    """Return the live part of ``graph``: what its outputs need, looked through views and known sizes."""
    places = [classify(node, values, target) for node in graph.nodes]
    seen = _seen_through(graph, places, options)
    binders = _binders(facts)
    units: list[Unit] = []
    hosts: list[HostOperator] = []
    views: list[View] = []
    sizes: list[Sizes] = []
    behind_hosts = _views_behind_hosts(graph, places)
    needed = {output.value for output in graph.outputs}
    runners: dict[str, set[str]] = {name: {KERNELS} for name in needed}

    def read(names: Iterable[str], runner: str) -> None:
        for name in names:
            needed.add(name)
            runners.setdefault(name, set()).add(runner)

    for order in reversed(range(len(graph.nodes))):
        node, place = graph.nodes[order], places[order]
        wanted = [name for name in node.outputs if name in needed]
        if not wanted:
            continue
        backend = behind_hosts.get(node.outputs[0])
        if backend is not None and runners[wanted[0]] == {backend}:
            place = Place(Kind.HOST, Reason.NO_BENEFIT)
        match place:
            case Place(Kind.HOST, reason):
                assert reason is not None
                hosts.append(HostOperator(order, node, reason))
                read((name for name in node.inputs if name), backend_of(node, reason))
            case Place(Kind.SIZES):
                for name in wanted:
                    elements = values.content(name) or ()
                    needs = _makers_of_symbols(elements, binders)
                    read(needs, KERNELS)
                    sizes.append(Sizes(order, node, name, elements, needs))
            case Place(Kind.VIEW):
                source = node.inputs[0]
                assert source is not None
                views.append(View(order, node, source, wanted[0]))
                read((source,), KERNELS)
            case _:
                unit = unit_of(order, node, values, seen)
                unit = evolve(unit, needs=_needs_of(unit, values, binders))
                units.append(unit)
                read((*(operand.value for operand in unit.reads), *unit.needs), KERNELS)
    return Network(
        graph, values, tuple(reversed(units)), tuple(reversed(hosts)), tuple(reversed(views)), tuple(reversed(sizes))
    )


def _seen_through(graph: Graph, places: list[Place], options: FusionOptions) -> SeenThrough:
    readers: dict[str, int] = {}
    for node in graph.nodes:
        for name in node.inputs:
            if name:
                readers[name] = readers.get(name, 0) + 1
    views: dict[str, Node] = {}
    widenings: dict[str, Node] = {}
    for node, place in zip(graph.nodes, places, strict=True):
        if place.kind is Kind.VIEW and node.op not in REINTERPRETED:
            views[node.outputs[0]] = node
        elif place.kind is Kind.KERNEL and is_placed(node) and node.op != "Index":
            widenings[node.outputs[0]] = node
        elif place.kind is Kind.KERNEL and node.op in WIDENINGS and options.allows(node.name, node.op):
            few = readers.get(node.outputs[0], 0) <= options.recomputation_threshold
            widenings |= {node.outputs[0]: node} if few else {}
    return SeenThrough(views, widenings)


def _binders(facts: SymbolFacts) -> dict[str, str]:
    """Return, per symbol that a step binds, the value it is bound from."""
    return {
        symbol.name: source.value
        for symbol in facts.symbols
        for source in symbol.sources
        if isinstance(source, ResultDim | ResultElement)
    }


def _needs_of(unit: Unit, values: Values, binders: dict[str, str]) -> tuple[str, ...]:
    """Return the tensors behind what ``unit`` reads, and the values that bind symbols of the sizes it works with."""
    leaves = [values.leaves[read.value] for read in unit.reads if read.value in values.leaves]
    sources = tuple(dict.fromkeys(leaf.source for leaf in leaves if isinstance(leaf, Viewed)))
    if not binders:
        return sources
    dims: list[Dim] = [dim for name in unit.outputs for dim in values.fact(name).shape or ()]
    dims += [size for read in unit.reads for size in read.layout if size is not None]
    dims += [operand.expression for operand in unit.operands if isinstance(operand, Size)]
    dims += [size for leaf in leaves for size in sizes_of(leaf)]
    return tuple(dict.fromkeys((*sources, *_makers_of_symbols(dims, binders))))


def _views_behind_hosts(graph: Graph, places: list[Place]) -> dict[str, str]:
    """Return the views of what a host backend makes that it could run itself, by result, and that backend.

    Where it also is the only reader, leaving the view inside saves a call: a view is no work for anybody.
    """
    backends: dict[str, str] = {}
    found: dict[str, str] = {}
    for node, place in zip(graph.nodes, places, strict=True):
        backend = possible_backend(node)
        if backend is None:
            continue
        if place.kind is Kind.HOST:
            backends |= {name: backend for name in node.outputs if name}
        elif place.kind is Kind.VIEW and backends.get(node.inputs[0] or "") == backend:
            backends[node.outputs[0]] = found[node.outputs[0]] = backend
    return found


def _makers_of_symbols(dims: Iterable[Dim], binders: dict[str, str]) -> tuple[str, ...]:
    symbols = sorted({symbol for dim in dims for symbol in free_symbols(dim)}) if binders else []
    return tuple(dict.fromkeys(binders[symbol] for symbol in symbols if symbol in binders))
