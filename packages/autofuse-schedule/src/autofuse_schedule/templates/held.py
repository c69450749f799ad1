"""The templates that make once what is the same in many tiles of a nest whose axes all run in parallel.

A unified buffer keeps it: the row of a bias and its copies for all rows of a tile, a column of factors spread along a
row, a number in all of a vector's lanes. Which tiles share it depends on the order of the loops:

* *held*: blocks share all tiles in order, and keep what all of them have in common.
* *held-rows*: blocks share rows, or long ranges of their pieces: a row keeps what is the same along it.
* *held-pieces*: blocks share the pieces of a row, each for a range of rows: what differs from piece to piece alone is
  made once for all rows of the range, where a whole row would not fit.
"""

from enum import Enum

from attrs import frozen
from autofuse_ir.asc_graph import AscGraph, AscNode, Axis
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.schedule import ImplGraph, Phase, Segment, Sync, TilingCase, TilingGroup
from autofuse_ir.target import TargetSpec

from autofuse_schedule.allocate import Course, allocate
from autofuse_schedule.crossed import lanes_of
from autofuse_schedule.held import depths, held_nodes
from autofuse_schedule.index_bits import index_bits
from autofuse_schedule.nest import Nest
from autofuse_schedule.segments import partition
from autofuse_schedule.transforms.drop_outer_broadcasts import drop_outer_broadcasts
from autofuse_schedule.transforms.split import SplitLoops, TileSplit, split_in_block


class Order(Enum):
    """What blocks share, and what each goes through by itself; the value is the template's name."""

    TILES = "held"
    ROWS = "held-rows"
    PIECES = "held-pieces"


@frozen
class HeldTemplate:
    """Build the ImplGraph of one case: a phase for each depth of loops at which something is made."""

    target: TargetSpec
    ranges: tuple[tuple[str, tuple[int, int]], ...]
    order: Order

    def cases(self, graph: AscGraph, cases: tuple[TilingCase, ...]) -> tuple[TilingCase, ...]:
        """Return those of ``cases`` in which this order of loops keeps more than blocks that share all tiles do."""
        return tuple(case for case in cases if self._gains(graph, case))

    def __call__(self, graph: AscGraph, group: TilingGroup, case: TilingCase, axes: tuple[Axis, ...]) -> ImplGraph:
        """Return the scheduled kernel of ``case``; ``axes`` are all axes up to the roots."""
        loops = self._loops(graph, case)
        all_axes = {axis.name: axis for axis in (*axes, *loops.axes)}
        nest = Nest(graph.axes, tuple(all_axes[name] for name in loops.vectorised))
        nodes = _nodes(graph, case)
        found = depths(nodes, loops.walks)
        used = sorted(set(found.values()))
        by_depth = tuple((depth, self._segments(nodes, found, depth, loops)) for depth in used)
        course = Course(
            segments=tuple(segment for _, segments in by_depth for segment in segments),
            nests=(nest,) * sum(len(segments) for _, segments in by_depth),
            phases=tuple(number for number, (_, segments) in enumerate(by_depth) for _ in segments),
            held=tuple(loops.loops[depth - 1] for depth in used[:-1]),
        )
        allocation = allocate(nodes, course, self.target)
        return ImplGraph(
            name=f"{graph.name}_{self.order.value.replace('-', '_')}_{case.name}",
            case=case,
            template=self.order.value,
            group=group,
            roots=tuple(axis.name for axis in graph.axes),
            axes=(*axes, *loops.axes),
            nodes=nodes,
            tile_variables=loops.variables,
            phases=tuple(
                Phase(
                    loops=loops.loops[:depth],
                    block=loops.block,
                    segments=segments,
                    sync=Sync.NONE if depth == used[-1] else Sync.BLOCK,
                    shared=used[number - 1] if number else 0,
                )
                for number, (depth, segments) in enumerate(by_depth)
            ),
            buffers=allocation.buffers,
            placements=allocation.placements,
            index_bits=index_bits(nodes, graph.axes, dict(self.ranges)),
            row_multiple=allocation.row_multiple,
        )

    def _loops(self, graph: AscGraph, case: TilingCase) -> SplitLoops:
        names = [axis.name for axis in graph.axes]
        (split,) = case.split
        at = names.index(split)
        within = {Order.TILES: (), Order.ROWS: (split,), Order.PIECES: tuple(names[:at])}[self.order]
        multiple = lanes_of(graph, self.target) if at == len(names) - 1 else 1
        tile = TileSplit(split, tuple(names[:at]), multiple)
        return split_in_block(graph.axes, tile, frozenset(within), frozenset(dict(self.ranges)))

    def _gains(self, graph: AscGraph, case: TilingCase) -> bool:
        if len(case.split) != 1 or (self.order is not Order.TILES and case.split[0] == graph.axes[0].name):
            return False
        nodes = _nodes(graph, case)
        kept = set(held_nodes(nodes, self._loops(graph, case).walks))
        if self.order is Order.TILES:
            return bool(kept)
        plain = HeldTemplate(self.target, self.ranges, Order.TILES)
        return bool(kept - set(held_nodes(nodes, plain._loops(graph, case).walks)))

    def _segments(
        self, nodes: tuple[AscNode, ...], found: dict[str, int], depth: int, loops: SplitLoops
    ) -> tuple[Segment, ...]:
        chosen = tuple(node for node in nodes if node.op in NOT_EVALUATED or found[node.name] == depth)
        return partition(chosen, loops.vectorised, self.target.limits)


def _nodes(graph: AscGraph, case: TilingCase) -> tuple[AscNode, ...]:
    """The nodes of a tile, which has none of the axes outside of the split one."""
    names = [axis.name for axis in graph.axes]
    return drop_outer_broadcasts(graph.nodes, frozenset(names[: names.index(case.split[0])]))
