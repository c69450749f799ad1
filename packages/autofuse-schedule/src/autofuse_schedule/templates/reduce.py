"""The templates for nests with reductions or scans.

A tile holds some rows of the kept axes and all of the swept ones, and several bodies walk it one after the other:

* *all-load*: the tile fits local memory. Values that are dear are kept there; what was loaded once is read again from
  where it still is (a cache), or kept as well (a unified buffer).
* *common*: the tile may be larger than local memory. Nothing along the swept axes is kept: each sweep loads and
  computes what it needs.
* *r-core*: the swept axes are split at borders of the reductions' leaves and spread over blocks; leaf results go to
  workspace, all blocks wait, and each reader joins them.
"""

from enum import Enum

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscGraph, AscNode, Axis
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.dims import const, dim_max, dim_min
from autofuse_ir.dims_eval import substitute
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Phase, Segment, Sync, TilingCase, TilingGroup, local_bytes, resident_bytes
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.accumulate import accumulator, leaves_of
from autofuse_schedule.allocate import allocate
from autofuse_schedule.index_bits import index_bits
from autofuse_schedule.nest import Nest
from autofuse_schedule.recompute import Prices, worth_keeping
from autofuse_schedule.roles import Roles, is_reduction, is_scan, roles_of
from autofuse_schedule.segments import partition
from autofuse_schedule.sweeps import Arrangement, Body, Plan, plan
from autofuse_schedule.transforms.split import SplitLoops, TileSplit, split_nest


class Reach(Enum):
    """The template: how much of a row one block has at hand. Its value is the template's name."""

    ALL_LOAD = "all-load"
    COMMON = "common"
    R_CORE = "r-core"


@frozen
class ReduceTemplate:
    """Build the ImplGraph of one case; ``reach`` says which template."""

    target: TargetSpec
    ranges: tuple[tuple[str, tuple[int, int]], ...]
    reach: Reach

    @property
    def name(self) -> str:
        """The template's name."""
        return self.reach.value

    def __call__(self, graph: AscGraph, group: TilingGroup, case: TilingCase, axes: tuple[Axis, ...]) -> ImplGraph:
        """Return the scheduled kernel of ``case``; ``axes`` are all axes up to the roots."""
        roles = roles_of(graph)
        made = self._plan(graph, roles)
        by_name = {node.name: node for node in made.nodes}
        loops = split_nest(graph.axes, self._tile(graph, roles, case, made), frozenset(dict(self.ranges)))
        all_axes = {axis.name: axis for axis in (*axes, *loops.axes)}
        nest = Nest(graph.axes, tuple(all_axes[name] for name in loops.vectorised))
        rows = Nest(graph.axes, tuple(axis for axis in graph.axes if axis.name in roles.kept))
        last_rows = [b for b in made.bodies if self.reach is Reach.R_CORE and b.is_row and b is made.bodies[-1]]
        nests: list[Nest] = []
        segments: list[tuple[int, Segment]] = []
        for body in made.bodies:
            walked_in = rows if body in last_rows else nest
            for segment in self._segments(body, walked_in, made, by_name):
                nests.append(walked_in)
                segments.append((body.phase, segment))
        spread = {n.name: leaves_of(n, nest) for n in made.nodes if self.reach is Reach.R_CORE and is_reduction(n)}
        allocation = allocate(made.nodes, tuple(s for _, s in segments), tuple(nests), self.target, spread)
        places = [
            accumulator(
                by_name[name], segment.axes, walked_in, self.target, dict(self.ranges), loops.block if spread else None
            )
            for (_, segment), walked_in in zip(segments, nests, strict=True)
            for name in segment.nodes
            if is_reduction(by_name[name])
        ]
        row_phases = {body.phase for body in last_rows}
        impl = ImplGraph(
            name="_".join(part for part in (graph.name, self.name.replace("-", "_"), case.name) if part),
            case=case,
            template=self.name,
            group=group,
            roots=tuple(axis.name for axis in graph.axes),
            axes=(*axes, *loops.axes),
            nodes=made.nodes,
            tile_variables=loops.variables,
            phases=_phases(segments, loops, row_phases),
            buffers=(*allocation.buffers, *(p.buffer for p in places if p.buffer is not None)),
            placements=allocation.placements,
            index_bits=index_bits(made.nodes, graph.axes, dict(self.ranges)),
            accumulators=tuple(p.placement for p in places),
            row_multiple=allocation.row_multiple,
        )
        is_held = self.reach is Reach.ALL_LOAD and self.target.kind is TargetKind.CPU
        return _with_near_rows(impl, self.target) if is_held and case.split != roles.roots[-1:] else impl

    def _plan(self, graph: AscGraph, roles: Roles) -> Plan:
        scans = frozenset(node.name for node in graph.nodes if is_scan(node))
        match self.reach:
            case Reach.ALL_LOAD:
                kept = worth_keeping(graph.nodes, roles, Prices(self.target))
                return plan(graph, roles, Arrangement.TOGETHER, kept, rereads=True)
            case Reach.COMMON:
                return plan(graph, roles, Arrangement.TOGETHER, scans)
            case Reach.R_CORE:
                return plan(graph, roles, Arrangement.SPREAD)

    def _tile(self, graph: AscGraph, roles: Roles, case: TilingCase, made: Plan) -> TileSplit | None:
        if not case.split:
            return None
        split = case.split[0]
        at = roles.roots.index(split)
        outside = tuple(axis for axis in roles.roots[:at] if axis in roles.kept)
        if self.reach is Reach.R_CORE:
            leaves = [tree_of(node).leaf for node in graph.nodes if is_reduction(node)]
            return TileSplit(split, outside, max(leaves))
        is_innermost = split == roles.roots[-1]
        multiple = _lanes(graph, self.target) if is_innermost else 1
        sweeps = sum(not body.is_row for body in made.bodies)
        # Rows that do not stay at hand gain nothing from company; they only end up farther away.
        most = const(1) if self.reach is Reach.COMMON and sweeps > 1 and not is_innermost else None
        return TileSplit(split, outside, multiple, most)

    def _segments(self, body: Body, nest: Nest, made: Plan, by_name: dict[str, AscNode]) -> tuple[Segment, ...]:
        nodes = tuple(by_name[name] for name in body.nodes)
        reduced = frozenset(axis for node in nodes for axis in reduced_axes(node))
        walk = nest.walk(body.axes, reduced)
        free = tuple(node for node in made.nodes if node.op in NOT_EVALUATED)
        return partition((*free, *nodes), walk, self.target.limits)


def _with_near_rows(impl: ImplGraph, target: TargetSpec) -> ImplGraph:
    """Bound the rows of a tile by what the nearest cache holds, but take one at least: more of them gain nothing."""
    if not impl.tile_variables:
        return impl
    rows, *others = impl.tile_variables
    one = const(1)
    row_bytes = substitute(local_bytes(impl.buffers) + resident_bytes(impl), {rows.name: one})
    near = dim_max(const(round(target.quantity("near_bytes"))) // dim_max(row_bytes, one), one)
    return evolve(impl, tile_variables=(evolve(rows, hi=dim_min(rows.hi, near)), *others))


def _phases(segments: list[tuple[int, Segment]], loops: SplitLoops, row_phases: set[int]) -> tuple[Phase, ...]:
    numbers = list(dict.fromkeys(number for number, _ in segments))
    phases = []
    for number in numbers:
        within = tuple(segment for at, segment in segments if at == number)
        sync = Sync.NONE if number == numbers[-1] else Sync.ALL
        if number in row_phases:
            phases.append(Phase((), None, within, sync))
        else:
            phases.append(Phase(loops.loops, loops.block, within, sync))
    return tuple(phases)


def _lanes(graph: AscGraph, target: TargetSpec) -> int:
    """Elements of the widest vector any value needs: one vector of the narrowest dtype."""
    sizes = [node.dtype.itemsize for node in graph.nodes if node.access is not None]
    return max(1, target.vector_bytes // max(1, min(sizes, default=1)))
