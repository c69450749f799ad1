"""The templates for nests with reductions or scans.

A tile holds some rows of the kept axes, and several bodies walk it one after the other:

* *all-load*: the tile has all of the swept axes and fits local memory. Values that are dear are kept there; what was
  loaded once is read again from where it still is (a cache), or kept as well (a unified buffer).
* *common*: rows may be longer than local memory. Nothing along the swept axes is kept: each sweep loads and computes
  what it needs. A unified buffer takes a swept axis in pieces (`autofuse_schedule.pieces`), one phase a sweep, and the
  phases share the loops over rows.
* *r-core*: blocks share the swept axes in ranges that end at borders of the reductions' leaves
  (`autofuse_schedule.transforms.ranges`); leaf results go to workspace, all blocks wait, and each reader joins them.
"""

from attrs import frozen
from autofuse_ir.asc_graph import AscGraph, AscNode, Axis
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.dims import Dim, const, dim_max, dim_min, product
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import Buffer, ImplGraph, Location, QueuePosition, Segment, TilingCase, TilingGroup
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.accumulate import Accumulator, Accumulators, leaves_of
from autofuse_schedule.allocate import Course, allocate
from autofuse_schedule.crossed import rows_on_a_line
from autofuse_schedule.held import held_nodes
from autofuse_schedule.index_bits import index_bits
from autofuse_schedule.nest import Nest
from autofuse_schedule.pieces import Pieces, pieces_of, sweeps_in_pieces
from autofuse_schedule.recompute import Prices, worth_keeping
from autofuse_schedule.roles import Roles, is_reduction, is_scan, roles_of
from autofuse_schedule.rows import rounded_up
from autofuse_schedule.segments import partition
from autofuse_schedule.sweeps import Arrangement, Body, Plan, plan
from autofuse_schedule.templates.reach import Reach
from autofuse_schedule.templates.reduce_loops import phases_of, split_for, with_near_rows

STAGED_LEAVES = 64
"""Most leaves whose results a vector core fetches at once."""
STAGED_BYTES = 16384
"""What they may take, if one of them does not take more."""


@frozen
class ReduceTemplate:
    """Build the ImplGraph of one case; ``reach`` says which template.

    Buffers that copy engines fill or drain have ``copies``: with one, longer rows fit, but nothing runs at once. With
    ``holds``, a first phase makes what all tiles of a block have in common.
    """

    target: TargetSpec
    ranges: tuple[tuple[str, tuple[int, int]], ...]
    reach: Reach
    copies: int = 2
    holds: bool = False

    def cases(self, graph: AscGraph, cases: tuple[TilingCase, ...]) -> tuple[TilingCase, ...]:
        """Return those of ``cases`` whose tiles have something in common."""
        kept = roles_of(graph).kept
        return tuple(case for case in cases if case.split and case.split[0] in kept and self._held(graph, case))

    def __call__(self, graph: AscGraph, group: TilingGroup, case: TilingCase, axes: tuple[Axis, ...]) -> ImplGraph:
        """Return the scheduled kernel of ``case``; ``axes`` are all axes up to the roots."""
        roles = roles_of(graph)
        pieces = self._pieces(graph, case, roles)
        arrangement = self._arrangement(pieces)
        held = self._held(graph, case) if self.holds else frozenset[str]()
        made = self._plan(graph, roles, pieces, held)
        loops = split_for(self.reach, graph, roles, case, made, self.target, frozenset(dict(self.ranges)))
        all_axes = {axis.name: axis for axis in (*axes, *loops.axes)}
        nest = Nest(graph.axes, tuple(all_axes[name] for name in loops.vectorised))
        crossing = (*case.split[-1:], *loops.loops)[-1] if case.split else ""
        course = self._course(made, roles, nest, held, crossing, loops.loops[:1])
        is_spread = self.reach is Reach.R_CORE
        spread = {n.name: leaves_of(n, nest) for n in made.nodes if is_spread and is_reduction(n)}
        allocation = allocate(made.nodes, course, self.target, spread, self.copies)
        survives = {Arrangement.TOGETHER: "", Arrangement.APART: crossing}.get(arrangement, loops.block or "")
        looped = pieces.looped if pieces is not None else frozenset[str]()
        places = Accumulators(self.target, dict(self.ranges), survives, is_spread, allocation.row_multiple, looped)
        accumulators = self._accumulators(places, course, made.nodes, frozenset(spread))
        impl = ImplGraph(
            name="_".join((graph.name, self.name.replace("-", "_"), case.name, *self._variant)),
            case=case,
            template=self.name,
            group=group,
            roots=roles.roots,
            axes=(*axes, *loops.axes),
            nodes=made.nodes,
            tile_variables=loops.variables,
            phases=phases_of(made, course, loops, arrangement),
            buffers=(
                *allocation.buffers,
                *(each.buffer for each in accumulators if each.buffer is not None),
                *self._staging(course, made.nodes),
            ),
            placements=allocation.placements,
            index_bits=index_bits(made.nodes, graph.axes, dict(self.ranges)),
            accumulators=tuple(each.placement for each in accumulators),
            row_multiple=allocation.row_multiple,
        )
        if self.reach is Reach.ALL_LOAD and self.target.kind is TargetKind.CPU and case.split != roles.roots[-1:]:
            least = rows_on_a_line(graph, case.split[0], self.target) if case.split else 1
            return with_near_rows(impl, self.target, least)
        return impl

    def _course(
        self, made: Plan, roles: Roles, nest: Nest, held: frozenset[str], crossing: str, lasting: tuple[str, ...]
    ) -> Course:
        """The segments in the order in which they run, what is ``held`` first.

        Where blocks share reduced axes, the last results of rows are stored in a nest of the kept axes alone.
        """
        halves = {axis.root: axis for axis in nest.vectorised}
        rows = Nest(nest.roots, tuple(halves.get(a.name, a) for a in nest.roots if a.name in roles.kept))
        alone = made.bodies[-1] if self.reach is Reach.R_CORE and made.bodies[-1].is_row else None
        placed: list[tuple[int, Segment, Nest]] = []
        for body in made.bodies:
            walked_in = rows if body is alone else nest
            for segment in self._segments(body, walked_in, made, roles):
                number = 0 if held.issuperset(segment.nodes) else body.phase + bool(held)
                placed.append((number, segment, walked_in))
        placed.sort(key=lambda each: each[0])
        numbers, segments, nests = zip(*placed, strict=True) if placed else ((), (), ())
        return Course(segments, nests, numbers, crossing, lasting if held else ())

    def _accumulators(
        self, places: Accumulators, course: Course, nodes: tuple[AscNode, ...], spread: frozenset[str]
    ) -> list[Accumulator]:
        """Where reductions, scans, and what joins the leaves of reductions ``spread`` keep what they have so far."""
        by_name = {node.name: node for node in nodes}
        found = [
            place(by_name[name], segment.axes, walked_in)
            for segment, walked_in in zip(course.segments, course.nests, strict=True)
            for name in segment.nodes
            for is_mine, place in ((is_reduction, places.of), (is_scan, places.of_scan))
            if is_mine(by_name[name])
        ]
        if not self._joins_rows:
            return found
        for segment, walked_in in zip(course.segments, course.nests, strict=True):
            (name,) = segment.nodes
            joined = next((by_name[source] for source in by_name[name].inputs if source in spread), None)
            if joined is not None:
                found.append(places.of_joined(by_name[name], joined, walked_in))
        return found

    @property
    def name(self) -> str:
        """The template's name."""
        return f"{self.reach.value}-held" if self.holds else self.reach.value

    @property
    def _variant(self) -> tuple[str, ...]:
        return ("single",) if self.copies == 1 else ()

    def _pieces(self, graph: AscGraph, case: TilingCase, roles: Roles) -> Pieces | None:
        """How the swept axis of ``case`` is taken in pieces; None where there is none, or blocks share it."""
        swept = [axis for axis in case.split if axis in roles.swept]
        return pieces_of(graph, swept[0]) if swept and self.reach is Reach.COMMON else None

    def _arrangement(self, pieces: Pieces | None) -> Arrangement:
        if self.reach is Reach.R_CORE:
            return Arrangement.SPREAD if self.target.kind is TargetKind.CPU else Arrangement.SPREAD_APART
        return Arrangement.TOGETHER if pieces is None else Arrangement.APART

    def _held(self, graph: AscGraph, case: TilingCase) -> frozenset[str]:
        """Names of the nodes that are the same in all tiles of a block."""
        at = [axis.name for axis in graph.axes].index(case.split[0])
        kept = roles_of(graph).kept
        around = frozenset(axis.name for axis in graph.axes[: at + 1] if axis.name in kept)
        pieces = frozenset(axis.name for axis in graph.axes if axis.name not in kept) if case.split[1:] else frozenset()
        found = held_nodes(graph.nodes, (around, around | pieces))
        if graph.axes[-1].name in case.split:
            # Rows of the last tile may be shorter, and lie closer together, than those that would be held for it.
            wide = {
                n.name for n in graph.nodes if n.repeats[-1] != const(1) and any(r != const(1) for r in n.repeats[:-1])
            }
            return frozenset(found.keys() - wide)
        return frozenset(found)

    def _plan(self, graph: AscGraph, roles: Roles, pieces: Pieces | None, held: frozenset[str]) -> Plan:
        if pieces is not None:
            return sweeps_in_pieces(graph, pieces, held)
        arrangement = self._arrangement(pieces)
        if self.reach is Reach.ALL_LOAD:
            kept = worth_keeping(graph.nodes, roles, Prices(self.target))
            return plan(graph, roles, arrangement, kept | held, rereads=self.target.kind is TargetKind.CPU)
        scans = frozenset(node.name for node in graph.nodes if is_scan(node))
        return plan(graph, roles, arrangement, scans | held, joins_rows=self._joins_rows)

    def _segments(self, body: Body, nest: Nest, made: Plan, roles: Roles) -> tuple[Segment, ...]:
        """Cut a body to the target's limits. A node that stands alone walks only what it needs."""
        by_name = {node.name: node for node in made.nodes}
        nodes = tuple(by_name[name] for name in body.nodes)
        if self.target.limits.segment_nodes == 1:
            sources = [by_name[node.inputs[0]] if is_reduction(node) else None for node in nodes]
            walks = [roles.walked(node, source) for node, source in zip(nodes, sources, strict=True)]
            return tuple(
                Segment((node.name,), nest.walk(walked, frozenset(reduced_axes(node))))
                for node, walked in zip(nodes, walks, strict=True)
            )
        reduced = frozenset(axis for node in nodes for axis in reduced_axes(node))
        free = tuple(node for node in made.nodes if node.op in NOT_EVALUATED)
        return partition((*free, *nodes), nest.walk(body.axes, reduced), self.target.limits)

    @property
    def _joins_rows(self) -> bool:
        """True where results of leaves are joined in local memory, whoever reads them."""
        return self.reach is Reach.R_CORE and self.target.kind is TargetKind.ASCEND

    def _staging(self, course: Course, nodes: tuple[AscNode, ...]) -> tuple[Buffer, ...]:
        """A vector core fetches the results of leaves into local memory, some at a time, and joins them there.

        A leaf's results are a row; there are up to ``STAGED_LEAVES`` of them.
        """
        if not self._joins_rows:
            return ()
        by_name = {node.name: node for node in nodes}
        needs: list[Dim] = []
        for segment, walked_in in zip(course.segments, course.nests, strict=True):
            for node in (by_name[name] for name in segment.nodes):
                if not _joined_by(node, by_name):
                    continue
                results = product(axis.size for axis in walked_in.varying(node)[-1:])
                row = rounded_up(results * node.dtype.itemsize, self.target.block_bytes)
                needs.append(dim_max(row, dim_min(row * STAGED_LEAVES, const(STAGED_BYTES))))
        return (Buffer("staged_leaves", Location.LOCAL, QueuePosition.VECIN, dim_max(*needs), 2),) if needs else ()


def _joined_by(node: AscNode, nodes: dict[str, AscNode]) -> tuple[AscNode, ...]:
    """Return the reduction whose leaves ``node`` joins; nothing for other nodes."""
    return tuple(nodes[name] for name in node.inputs[:1] if is_reduction(nodes[name]))
