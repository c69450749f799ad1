"""The template for nests whose axes all run in parallel (element-wise work, broadcasts, views).

On machines with wide local memory (UB) each node is a segment of its own and values live in local buffers; on a CPU the
whole body is one segment and values live in registers. Both fall out of the target's segment limits.
"""

from attrs import frozen
from autofuse_ir.asc_graph import AscGraph, Axis
from autofuse_ir.dims import const, dim_max, dim_min
from autofuse_ir.schedule import ImplGraph, Phase, TilingCase, TilingGroup
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.allocate import Course, allocate
from autofuse_schedule.crossed import lanes_of, narrowest_bytes
from autofuse_schedule.index_bits import index_bits
from autofuse_schedule.nest import Nest
from autofuse_schedule.segments import partition
from autofuse_schedule.transforms.drop_outer_broadcasts import drop_outer_broadcasts
from autofuse_schedule.transforms.split import TileSplit, split_nest, split_square


@frozen
class ParallelTemplate:
    """Build the ImplGraph of one case: one phase, blocks over everything outside of the tile."""

    target: TargetSpec
    ranges: tuple[tuple[str, tuple[int, int]], ...]
    name: str = "general"

    def __call__(self, graph: AscGraph, group: TilingGroup, case: TilingCase, axes: tuple[Axis, ...]) -> ImplGraph:
        """Return the scheduled kernel of ``case``; ``axes`` are all axes up to the roots."""
        roots = graph.axes
        names = [axis.name for axis in roots]
        at = names.index(case.split[0])
        multiple = lanes_of(graph, self.target) if at == len(names) - 1 else 1
        taken = frozenset(dict(self.ranges))
        if len(case.split) > 1:
            loops = split_square(roots, self._square(graph, case), taken)
        else:
            loops = split_nest(roots, TileSplit(case.split[0], tuple(names[:at]), multiple), taken)
        by_name = {axis.name: axis for axis in (*axes, *loops.axes)}
        nest = Nest(roots, tuple(by_name[name] for name in loops.vectorised))
        nodes = drop_outer_broadcasts(graph.nodes, frozenset(names[:at]))
        segments = partition(nodes, loops.vectorised, self.target.limits)
        count = len(segments)
        course = Course(segments, (nest,) * count, (0,) * count)
        allocation = allocate(nodes, course, self.target)
        return ImplGraph(
            name=f"{graph.name}_{self.name}_{case.name}",
            case=case,
            template=self.name,
            group=group,
            roots=tuple(axis.name for axis in roots),
            axes=(*axes, *loops.axes),
            nodes=nodes,
            tile_variables=loops.variables,
            phases=(Phase(loops.loops, loops.block, segments),),
            buffers=allocation.buffers,
            placements=allocation.placements,
            index_bits=index_bits(nodes, roots, dict(self.ranges)),
            row_multiple=allocation.row_multiple,
        )

    def _square(self, graph: AscGraph, case: TilingCase) -> tuple[TileSplit, ...]:
        """Pieces along both axes of ``case``: as many columns as caches hold lines of; local memory holds what fits."""
        lanes = lanes_of(graph, self.target)
        if self.target.kind is TargetKind.ASCEND:
            return TileSplit(case.split[0], (), max(1, lanes // 2)), TileSplit(case.split[1], (), lanes)
        line = max(1, self.target.cache_line_bytes // narrowest_bytes(graph))
        held = const(max(lanes, round(self.target.quantity("crossed_lines"))))
        most = dim_min(dim_max(graph.axes[-1].size, const(1)), held)
        return TileSplit(case.split[0], (), line), TileSplit(case.split[1], (), lanes, most)
