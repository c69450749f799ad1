"""One segment inside one tile: which points exist, and where every node's elements lie."""

from collections.abc import Callable, Mapping

import numpy as np
from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import ImplGraph, Phase

from autofuse_reference.arrays import Array
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.indices import IndexPlan, plan_indices, roots_of


@frozen(eq=False)
class Grid:
    """The points of a tile: row-major over the vectorised axes, of sizes ``shape``.

    ``exists`` is flat; ``roots`` has the index of each root axis, shaped to broadcast.
    """

    shape: tuple[int, ...]
    exists: Array
    roots: Mapping[str, Array]

    def spread(self, values: Array) -> Array:
        """Return ``values`` (which broadcast) for every point, flat."""
        return np.broadcast_to(values, self.shape).reshape(-1)


class Nest:
    """Places of values inside one phase's tiles, for segments over ``vectorised`` axes."""

    def __init__(
        self, impl: ImplGraph, phase: Phase, vectorised: tuple[str, ...], extent: Mapping[str, int],
        size: Callable[[Dim], int],
    ) -> None:  # fmt: skip
        self.impl = impl
        self.extent = extent
        self._size = size
        self._axes = {a.name for a in impl.axes}
        self._vectorised = vectorised
        self.shape = tuple(extent[a] for a in vectorised) or (1,)
        leaves = (*phase.loops, *vectorised)
        self._plan: IndexPlan = plan_indices(impl.axes, leaves, extent)
        reached = {*leaves, *(step.axis for step in self._plan.steps)}
        for root in impl.roots:
            if root not in reached:
                raise InterpreterFault(
                    f"no loop gives the index of axis {root}", kernel=impl.name, node=phase.segments[0].nodes[0]
                )
        self._influence = {a: roots_of(impl.axes, impl.roots, a) for a in vectorised}
        rank = len(self.shape)
        self._steps = {
            a: np.arange(extent[a]).reshape(tuple(-1 if i == k else 1 for i in range(rank)))
            for k, a in enumerate(vectorised)
        }

    def grid(self, loops: Mapping[str, int]) -> Grid:
        """Return the points of the tile at loop indices ``loops``."""
        leaves = {a: np.asarray(i) for a, i in loops.items()} | self._steps
        known, exists = self._plan.indices(leaves)
        roots = {r: known[r] for r in self.impl.roots}
        for root, index in roots.items():
            exists = exists & (index < self.extent[root])
        return Grid(self.shape, np.broadcast_to(exists, self.shape).reshape(-1), roots)

    def tile_elements(self, node: AscNode) -> Array:
        """Return the element of ``node``'s local buffer for each point: row-major over the axes it varies along."""
        found = np.zeros((1,) * len(self.shape), np.int64)
        stride = 1
        for axis in reversed(self._vectorised):
            if self._varies(node, self._influence[axis]):
                found = found + self._steps[axis] * stride
                stride *= self.extent[axis]
        return np.broadcast_to(found, self.shape).reshape(-1)

    def workspace_elements(self, node: AscNode, grid: Grid) -> Array:
        """Return the element of ``node``'s workspace buffer for each point: by its strides over the root axes."""
        strides = zip(self.impl.roots, node.strides, strict=True)
        return grid.spread(sum((grid.roots[r] * self._size(s) for r, s in strides), np.zeros((), np.int64)))

    def global_elements(self, node: AscNode, grid: Grid) -> Array:
        """Return the flat element that Load or Store ``node`` touches at each point that exists (0 at others)."""
        assert node.access is not None
        total = np.zeros((), np.int64)
        for extent, dim in zip(map(self._size, node.access.memory), node.access.dims, strict=True):
            index = np.asarray(self._size(dim.offset))
            if dim.axis is not None:
                index = index + grid.roots[dim.axis] * self._size(dim.step)
            inside = grid.spread((index >= 0) & (index < extent)) | ~grid.exists
            if not inside.all():
                at = int(grid.spread(index)[~inside][0])
                raise InterpreterFault(
                    f"{node.op} reaches element {at} of a dim of {extent}",
                    kernel=self.impl.name,
                    node=node.name,
                    offset=max(at, 0),
                )
            total = total * extent + index
        return np.where(grid.exists, grid.spread(total), 0)

    def iterations(self, node: AscNode, grid: Grid) -> Array:
        """Return a number for each point that tells apart the iterations in which ``node``'s value may differ."""
        total = np.zeros((), np.int64)
        for root in self.impl.roots:
            if self._varies(node, frozenset({root})):
                total = total * self.extent[root] + grid.roots[root]
        return grid.spread(total)

    def is_partial(self, node: AscNode) -> bool:
        """True when ``node``'s value is the same all along some root axis."""
        repeats = zip(self.impl.roots, node.repeats, strict=True)
        return any(repeat == const(1) and self.extent[root] != 1 for root, repeat in repeats)

    def _varies(self, node: AscNode, roots: frozenset[str]) -> bool:
        repeats = zip(self.impl.roots, node.repeats, strict=True)
        return any(root in roots and repeat != const(1) for root, repeat in repeats)
