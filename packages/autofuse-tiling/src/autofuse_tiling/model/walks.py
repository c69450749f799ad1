"""How often an ImplGraph's busiest block walks each segment, and over how many elements of each value."""

from collections.abc import Iterator

from attrs import evolve, frozen
from autofuse_ir.asc_graph import AccessMap, AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, dim_min, product
from autofuse_ir.ranges import range_inner, range_parts
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import ImplGraph, Phase, Segment


@frozen
class Walk:
    """One segment of phase number ``phase``: ``axes`` that it walks, ``tiles`` that the busiest block runs.

    ``whole`` are the roots that every tile walks from end to end: a value that varies along no other root is the same
    in all tiles.
    """

    impl: ImplGraph
    segment: Segment
    phase: int
    axes: tuple[Axis, ...]
    tiles: Dim
    whole: frozenset[str]

    @property
    def nodes(self) -> tuple[AscNode, ...]:
        """The nodes that the segment evaluates."""
        by_name = {node.name: node for node in self.impl.nodes}
        return tuple(by_name[name] for name in self.segment.nodes)

    @property
    def is_cut(self) -> Dim:
        """1 where strips run along a part of a root axis, else 0."""
        if not self.axes or self.axes[-1].kind is not AxisKind.TILE_INNER:
            return const(0)
        strip = self.axes[-1]
        whole = next(axis.size for axis in self.impl.axes if axis.name == strip.root)
        return dim_min(dim_max(whole - strip.size, const(0)), const(1))

    @property
    def points(self) -> Dim:
        """Points of one tile."""
        return product(axis.size for axis in self.axes)

    def elements(self, node: AscNode) -> Dim:
        """Return the elements of one tile of ``node``'s value."""
        return product(axis.size for axis in self.axes if self.varies(node, axis.root))

    def joined(self, node: AscNode) -> Dim:
        """Return the elements of one tile that reduction ``node`` joins."""
        names = reduced_axes(node)
        return product(axis.size for axis in self.axes if axis.root in names or self.varies(node, axis.root))

    def is_same_in_all_tiles(self, node: AscNode) -> bool:
        """Return whether each tile has the same elements of ``node``'s value."""
        return all(root in self.whole or not self.varies(node, root) for root in self.impl.roots)

    def varies_along_strips(self, node: AscNode) -> bool:
        """Return whether ``node``'s value differs along the axis of the strips."""
        return bool(self.axes) and self.varies(node, self.axes[-1].root)

    def varies(self, node: AscNode, root: str) -> bool:
        """Return whether ``node``'s value differs along root axis ``root``."""
        return node.repeats[self.impl.roots.index(root)] != const(1)


def walks_of(impl: ImplGraph) -> Iterator[Walk]:
    """Yield a walk for each segment of each phase."""
    axes = {axis.name: axis for axis in impl.axes}
    for number, phase in enumerate(impl.phases):
        vectorised = {name for segment in phase.segments for name in segment.axes}
        looped = vectorised if phase.loops else {*vectorised, *impl.roots}
        limited = axes | _in_range(impl, phase)
        whole = frozenset(root for root in impl.roots if root in looped and limited[root] == axes[root])
        for segment in phase.segments:
            walked = tuple(limited[name] for name in segment.axes)
            yield Walk(impl, segment, number, walked, tiles_of(phase, limited), whole)


def rereads(walks: tuple[Walk, ...]) -> Iterator[tuple[Walk, frozenset[str]]]:
    """Yield each walk with the names of its Loads whose data an earlier segment of their phase has read."""
    seen: dict[int, set[tuple[str, AccessMap | None]]] = {}
    for walk in walks:
        known = seen.setdefault(walk.phase, set())
        loads = [node for node in walk.nodes if node.op == "Load"]
        yield walk, frozenset(node.name for node in loads if (node.inputs[0], node.access) in known)
        known.update((node.inputs[0], node.access) for node in loads)


def _in_range(impl: ImplGraph, phase: Phase) -> dict[str, Axis]:
    """Return the axes of which ``phase`` walks a range alone, as long as what the range has of them.

    A range of 100 elements of rows of 30 has 4 rows; one of 20 elements has 1 row, and 20 elements of it.
    """
    axes = {axis.name: axis for axis in impl.axes}
    around, names = dict[str, Axis](), list(phase.loops)
    while names:
        axis = axes[names.pop()]
        around[axis.name] = axis
        names += axis.parents
    found: dict[str, Axis] = {}
    for outer in (axis for axis in around.values() if axis.kind is AxisKind.RANGE_OUTER):
        size = range_inner(axes, outer).size
        for part, inside in range_parts(axes, impl.roots, outer):
            most = dim_min(part.size, dim_max(ceildiv(size, dim_max(inside, const(1))), const(1)))
            found[part.name] = evolve(part, size=most)
            pieces = [a.size for a in impl.axes if a.kind is AxisKind.TILE_INNER and a.parents == (part.name,)]
            halves = [a for a in impl.axes if a.kind is AxisKind.TILE_OUTER and a.parents == (part.name,)]
            found |= {
                half.name: evolve(half, size=ceildiv(most, piece)) for half, piece in zip(halves, pieces, strict=True)
            }
    return found


def tiles_of(phase: Phase, axes: dict[str, Axis]) -> Dim:
    """Return the tiles that the busiest block runs: the sizes of all loops but the one bound to blocks."""
    return product(axes[name].size for name in phase.loops if name != phase.block)
