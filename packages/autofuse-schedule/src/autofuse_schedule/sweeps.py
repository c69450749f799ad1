"""Which sweep evaluates which node of a kernel with reductions, and which nodes are cloned for it.

A *sweep* walks kept and swept axes and feeds reductions and stores; a *row body* walks the kept axes alone, between the
sweeps before and after it, or the axes that stay when one of several reductions is done. Softmax over z1 (values that
several bodies read are placed in local memory):

    sweep 0  x = Load; m = Max x over z1
    sweep 1  x.1 = Load; s = Sub x.1, m; e = Exp s; d = Sum e over z1         e kept (all-load) or computed again
    sweep 2  q = Div e, d; Store q
"""

from enum import Enum

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.graph import Attr
from autofuse_ir.reduction import reduced_axes

from autofuse_schedule.roles import Roles, is_reduction, is_scan, joined_axes, levels


class Arrangement(Enum):
    """How bodies share phases."""

    TOGETHER = "together"
    """All in one phase."""
    APART = "apart"
    """Each in a phase of its own, in order."""
    SPREAD = "spread"
    """One phase for each level, so that all blocks can wait between them; row values are computed in each of them."""
    SPREAD_APART = "spread-apart"
    """The same, but what a level computes for rows has a phase of its own, and so has each of its sweeps."""

    @property
    def is_spread(self) -> bool:
        """True where blocks share reduced axes and wait for each other between levels."""
        return self in (Arrangement.SPREAD, Arrangement.SPREAD_APART)


@frozen
class Body:
    """Nodes to evaluate together, by name: at ``level``, walking root axes ``axes``, in phase number ``phase``."""

    level: int
    is_row: bool
    axes: tuple[str, ...]
    nodes: tuple[str, ...]
    phase: int


@frozen
class Plan:
    """Bodies in order of execution, and all nodes with the clones that they evaluate, in topological order."""

    bodies: tuple[Body, ...]
    nodes: tuple[AscNode, ...]


@frozen
class _Slot:
    """Where a node may be evaluated; slots sort by order of execution."""

    level: int
    is_sweep: bool
    number: int

    @property
    def order(self) -> tuple[int, bool, int]:
        return self.level, self.is_sweep, self.number


def plan(
    graph: AscGraph,
    roles: Roles,
    arrangement: Arrangement,
    kept: frozenset[str] = frozenset(),
    rereads: bool = False,
    joins_rows: bool = False,
    rescans: bool = False,
) -> Plan:
    """Place every node that an output needs.

    ``kept`` names the values along swept axes that are computed once and kept for later sweeps; others are cloned into
    each sweep that reads them. Where the tile ``rereads`` what it has read before, clones of Loads carry the attribute
    ``resident``. Where blocks share reduced axes, each sweep has the results that it reads joined in local memory
    first; so has each row body if it ``joins_rows``. With ``rescans``, each sweep that reads a scan goes through it,
    too.
    """
    return _Planner(graph, roles, arrangement, kept, rereads, joins_rows, rescans).plan()


def _uniform(nodes: tuple[AscNode, ...]) -> frozenset[str]:
    """Names of the nodes that are computed from constants and sizes alone."""
    found = {node.name for node in nodes if node.op in ("Scalar", "IndexExpr")}
    for node in nodes:
        if node.inputs and all(name in found for name in node.inputs) and not (node.op == "Store" or joined_axes(node)):
            found.add(node.name)
    return frozenset(found)


class _Planner:
    def __init__(
        self,
        graph: AscGraph,
        roles: Roles,
        arrangement: Arrangement,
        kept: frozenset[str],
        rereads: bool,
        joins_rows: bool,
        rescans: bool,
    ) -> None:
        self.roles = roles
        self.arrangement = arrangement
        self.kept = kept
        self.rereads = rereads
        self.joins_rows = joins_rows
        self.rescans = rescans
        self.nodes = graph.nodes
        self.by_name = {node.name: node for node in graph.nodes}
        self.level = levels(graph.nodes, roles.swept)
        self.uniform = _uniform(graph.nodes)
        self.taken = set(self.by_name)
        self.domains: list[tuple[str, ...]] = []
        self.narrow = self._narrow()
        self.last = 1 + max(self.level.values(), default=0)
        self.slots = self._slots()
        self.clones: dict[tuple[str, _Slot], str] = {}
        for name, slots in self.slots.items():
            for number, slot in enumerate(slots):
                self.clones[name, slot] = self._fresh(name, number) if number else name

    def plan(self) -> Plan:
        made: dict[_Slot, list[AscNode]] = {}
        joined: dict[tuple[str, _Slot], AscNode] = {}
        for slot in sorted({s for slots in self.slots.values() for s in slots}, key=lambda each: each.order):
            for node in self.nodes:
                if (node.name, slot) not in self.clones:
                    continue
                if self.arrangement.is_spread and self._joins(slot):
                    for name in node.inputs:
                        if is_reduction(self.by_name[name]):
                            self._join(name, slot, made, joined)
                made.setdefault(slot, []).append(self._clone(node, slot, joined))
        outputs: dict[str, list[AscNode]] = {}
        for node in self.nodes:
            if node.op == "Output":
                outputs.setdefault(node.inputs[0], []).append(node)
        nodes = [node for node in self.nodes if node.op in NOT_EVALUATED and node.op != "Output"]
        bodies: list[Body] = []
        phases: dict[int | _Slot, int] = {}
        for slot in sorted(made, key=lambda each: each.order):
            for node in made[slot]:
                nodes += [node, *outputs.get(node.name, ())]
            bodies.append(self._body(slot, made[slot], phases))
        return Plan(tuple(bodies), tuple(nodes))

    def _slots(self) -> dict[str, tuple[_Slot, ...]]:
        """Return where each needed node is evaluated, first place first."""
        readers: dict[str, list[AscNode]] = {}
        for node in self.nodes:
            if node.op not in NOT_EVALUATED:
                for name in dict.fromkeys(node.inputs):
                    readers.setdefault(name, []).append(node)
        self.domains = list(dict.fromkeys(self._domain(node) for node in self.nodes if self._is_sink(node)))
        found: dict[str, tuple[_Slot, ...]] = {}
        for node in reversed(self.nodes):
            if node.op in NOT_EVALUATED:
                continue
            is_read = any(reader.name in found for reader in readers.get(node.name, ()))
            if not is_read and node.op != "Store":
                continue
            if self._is_sink(node):
                found[node.name] = (self._slot_of_sink(node),)
                continue
            is_row = self._is_row(node)
            needed = {
                self._row_slot(node, slot) if is_row else slot
                for reader in readers.get(node.name, ())
                for slot in found.get(reader.name, ())
            }
            slots = tuple(sorted(needed, key=lambda each: each.order))
            is_kept = not is_row and node.name in self.kept
            found[node.name] = slots[:1] if is_kept else slots
        return {node.name: found[node.name] for node in self.nodes if node.name in found}

    def _is_sink(self, node: AscNode) -> bool:
        """Nodes whose level decides where they are evaluated; all others go where they are read."""
        if self.rescans and is_scan(node):
            return False
        return node.op == "Store" or bool(set(joined_axes(node)) & set(self.roles.swept))

    def _slot_of_sink(self, node: AscNode) -> _Slot:
        level = self.level[node.name]
        if not self.roles.is_row(node):
            return _Slot(level, True, self.domains.index(self._domain(node)))
        return _Slot(self.last if self.arrangement.is_spread else level, False, 0)

    def _row_slot(self, node: AscNode, reader: _Slot) -> _Slot:
        level = reader.level if self.arrangement.is_spread else self.level[node.name]
        return _Slot(level, False, self.narrow.get(self.roles.varying(node), 0))

    def _is_row(self, node: AscNode) -> bool:
        """One value a row, and not one for all rows, which any segment makes from sizes and constants."""
        if self.roles.varying(node) in self.narrow and self.level[node.name] > 0 and not self._is_sink(node):
            return True
        return self.roles.is_row(node) and node.name not in self.uniform

    def _narrow(self) -> dict[tuple[str, ...], int]:
        """Numbers for the axes along which values vary that stay when some reduction is done, but not all.

        A sweep along other axes would compute such a value again and again. What is computed from narrower ones comes
        behind them.
        """
        reductions = {frozenset(reduced_axes(n)) for n in self.nodes if is_reduction(n) and self._is_sink(n)}
        if len(reductions) < 2:
            return {}
        walks = dict.fromkeys(self.roles.varying(n) for n in self.nodes if self.level.get(n.name, 0) > 0)
        found = [
            axes
            for axes in sorted(walks, key=len)
            if set(axes) & set(self.roles.swept) and any(not each & set(axes) for each in reductions)
        ]
        return {axes: number + 1 for number, axes in enumerate(found)}

    def _domain(self, node: AscNode) -> tuple[str, ...]:
        source = self.by_name[node.inputs[0]] if is_reduction(node) else None
        return self.roles.walked(node, source)

    def _clone(self, node: AscNode, slot: _Slot, joined: dict[tuple[str, _Slot], AscNode]) -> AscNode:
        name = self.clones[node.name, slot]
        inputs = tuple(self._input(each, slot, joined) for each in node.inputs)
        attrs = node.attrs
        if name != node.name and node.op == "Load" and self.rereads:
            attrs = (*attrs, Attr("resident", True))
        if name == node.name and inputs == node.inputs:
            return node
        return evolve(node, name=name, inputs=inputs, attrs=attrs)

    def _input(self, name: str, slot: _Slot, joined: dict[tuple[str, _Slot], AscNode]) -> str:
        if name not in self.slots:
            return name
        node = self.by_name[name]
        if is_reduction(node) and self._is_sink(node):
            copy = joined.get((name, self._row_slot(node, slot)))
            return copy.name if copy is not None and self._joins(slot) else name
        if self._is_row(node):
            return self.clones[name, self._row_slot(node, slot)]
        return self.clones.get((name, slot), name)

    def _joins(self, slot: _Slot) -> bool:
        """True where what ``slot`` reads of results that blocks share is joined in local memory first."""
        return slot.is_sweep or self.joins_rows

    def _join(
        self,
        name: str,
        slot: _Slot,
        made: dict[_Slot, list[AscNode]],
        joined: dict[tuple[str, _Slot], AscNode],
    ) -> None:
        """Copy a reduction that all blocks worked on into local memory, once a tile, before its sweep reads it."""
        place = self._row_slot(self.by_name[name], slot)
        if (name, place) in joined:
            return
        node = self.by_name[name]
        copy = evolve(node, name=self._fresh(f"{name}.joined", 0), op="Cast", inputs=(name,), attrs=())
        joined[name, place] = copy
        made.setdefault(place, []).append(copy)

    def _body(self, slot: _Slot, nodes: list[AscNode], phases: dict[int | _Slot, int]) -> Body:
        if slot.is_sweep:
            axes = self.domains[slot.number]
        else:
            walked = {axis for node in nodes for axis in self.roles.varying(node)}
            axes = tuple(axis for axis in self.roles.roots if axis in walked)
        match self.arrangement:
            case Arrangement.TOGETHER:
                phase = 0
            case Arrangement.APART | Arrangement.SPREAD_APART:
                phase = phases.setdefault(slot, len(phases))
            case Arrangement.SPREAD:
                phase = phases.setdefault(slot.level, len(phases))
        return Body(slot.level, not slot.is_sweep, axes, tuple(node.name for node in nodes), phase)

    def _fresh(self, name: str, number: int) -> str:
        wish = f"{name}.{number}" if number else name
        while wish in self.taken:
            number += 1
            wish = f"{name}.{number}"
        self.taken.add(wish)
        return wish
