"""One segment inside one tile: which points exist, and where every node's elements lie."""

from collections.abc import Callable, Mapping

import numpy as np
from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const
from autofuse_ir.loops import walked_roots
from autofuse_ir.schedule import ImplGraph

from autofuse_reference.arrays import Array
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.indices import IndexPlan, plan_indices


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
    """Places of values inside one phase's tiles, for segments over ``vectorised`` axes.

    ``layout`` are the vectorised axes of the whole phase in the order of their roots: what local buffers follow. Roots
    that neither the loops nor the segment walk have no index here; no node of the segment may vary along them.
    """

    def __init__(
        self, impl: ImplGraph, loops: tuple[str, ...], vectorised: tuple[str, ...], layout: tuple[str, ...],
        extent: Mapping[str, int], size: Callable[[Dim], int],
    ) -> None:  # fmt: skip
        self.impl = impl
        self.extent = extent
        self.vectorised = vectorised
        self._size = size
        self._layout = layout
        self.shape = tuple(extent[a] for a in vectorised) or (1,)
        leaves = (*loops, *vectorised)
        self._plan: IndexPlan = plan_indices(impl.axes, leaves, extent)
        known = {*leaves, *(step.axis for step in self._plan.steps)}
        self.reached = tuple(root for root in impl.roots if root in known)
        self.influence = {a: walked_roots(a, impl.axes, impl.roots) for a in (*vectorised, *layout)}
        rank = len(self.shape)
        self._steps = {
            a: np.arange(extent[a]).reshape(tuple(-1 if i == k else 1 for i in range(rank)))
            for k, a in enumerate(vectorised)
        }

    def check_walks(self, node: AscNode) -> None:
        """Raise a fault when ``node`` varies along a root that nothing here walks."""
        for root, repeat in zip(self.impl.roots, node.repeats, strict=True):
            if repeat != const(1):
                self._check_reached(node, root)

    def check_decides(self, node: AscNode, roots: frozenset[str]) -> None:
        """Raise a fault when one of ``roots``, on which the value of ``node`` depends, is walked by nothing here."""
        for root in self.impl.roots:
            if root in roots:
                self._check_reached(node, root)

    def _check_reached(self, node: AscNode, root: str) -> None:
        if root not in self.reached:
            raise InterpreterFault(
                f"no loop gives the index of axis {root}, along which it varies", kernel=self.impl.name, node=node.name
            )

    def grid(self, loops: Mapping[str, int]) -> Grid:
        """Return the points of the tile at loop indices ``loops``."""
        leaves = {a: np.asarray(i) for a, i in loops.items()} | self._steps
        known, exists = self._plan.indices(leaves)
        roots = {r: known[r] for r in self.reached}
        for root, index in roots.items():
            exists = exists & (index < self.extent[root])
        return Grid(self.shape, np.broadcast_to(exists, self.shape).reshape(-1), roots)

    def positions(self, axes: tuple[str, ...]) -> Array:
        """Return the row-major position along ``axes`` (vectorised ones) for each point."""
        found = np.zeros((1,) * len(self.shape), np.int64)
        for axis in axes:
            found = found * self.extent[axis] + self._steps[axis]
        return np.broadcast_to(found, self.shape).reshape(-1)

    def value_positions(self, node: AscNode) -> Array:
        """Return for each point which element of ``node``'s value in this tile it has."""
        return self.positions(tuple(axis for axis in self.vectorised if self.varies(node, self.influence[axis])))

    def tile_elements(self, node: AscNode) -> Array:
        """Return the element of ``node``'s local buffer for each point.

        Row-major over the vectorised axes of the phase that it varies along, in the order of the roots; where there are
        several, rows start at multiples of the plan's ``row_multiple``.
        """
        axes = tuple(axis for axis in self._layout if self.varies(node, self.influence[axis]))
        for axis in axes:
            if axis not in self.vectorised:
                raise InterpreterFault(
                    f"its segment does not walk {axis}, along which it varies", kernel=self.impl.name, node=node.name
                )
        if len(axes) < 2:
            return self.positions(axes)
        multiple = self.impl.row_multiple
        pitch = -(-self.extent[axes[-1]] // multiple) * multiple
        return self.positions(axes[:-1]) * pitch + self.positions(axes[-1:])

    def workspace_elements(self, node: AscNode, grid: Grid) -> Array:
        """Return the element of ``node``'s workspace buffer for each point: by its strides over the root axes."""
        self.check_walks(node)
        strides = zip(self.impl.roots, node.repeats, node.strides, strict=True)
        steps = (grid.roots[root] * self._size(stride) for root, repeat, stride in strides if repeat != const(1))
        return grid.spread(sum(steps, np.zeros((), np.int64)))

    def global_elements(self, node: AscNode, grid: Grid) -> Array:
        """Return the flat element that Load or Store ``node`` touches at each point that exists (0 at others)."""
        assert node.access is not None
        total = np.zeros((), np.int64)
        for extent, dim in zip(map(self._size, node.access.memory), node.access.dims, strict=True):
            index = np.asarray(self._size(dim.offset))
            if dim.axis is not None:
                self._check_reached(node, dim.axis)
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
        self.check_walks(node)
        return self.numbers(grid, tuple(r for r in self.impl.roots if self.varies(node, frozenset({r}))))

    def numbers(self, grid: Grid, roots: tuple[str, ...]) -> Array:
        """Return the row-major number over ``roots`` for each point."""
        total = np.zeros((), np.int64)
        for root in roots:
            total = total * self.extent[root] + grid.roots[root]
        return grid.spread(total)

    def global_positions(self, node: AscNode, grid: Grid) -> dict[str, Array]:
        """Return the index of each root that the access of ``node`` names, for each point."""
        assert node.access is not None
        axes = [dim.axis for dim in node.access.dims if dim.axis is not None]
        for axis in axes:
            self._check_reached(node, axis)
        return {axis: grid.spread(grid.roots[axis]) for axis in axes}

    def is_partial(self, node: AscNode) -> bool:
        """True when ``node``'s value is the same all along some root axis."""
        repeats = zip(self.impl.roots, node.repeats, strict=True)
        return any(repeat == const(1) and self.extent[root] != 1 for root, repeat in repeats)

    def varies(self, node: AscNode, roots: frozenset[str]) -> bool:
        """True when ``node`` varies along one of ``roots``."""
        repeats = zip(self.impl.roots, node.repeats, strict=True)
        return any(root in roots and repeat != const(1) for root, repeat in repeats)
