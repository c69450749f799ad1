"""Scans inside a segment: each line along the scanned axis has a state that goes from point to point."""

from math import prod

import numpy as np
from autofuse_ir.asc_graph import AscNode

from autofuse_reference.arrays import Array
from autofuse_reference.impl_graph.kernel import Kernel
from autofuse_reference.impl_graph.nest import Grid, Nest
from autofuse_reference.operators.precision import cast, widen
from autofuse_reference.operators.scan import SCANS


class Scan:
    """One scan in one run of its segment. Points must come in order, from the first (last where reversed) of a line.

    Where the plan gives its state a buffer, that has room for the lines that are open at once.
    """

    def __init__(self, kernel: Kernel, node: AscNode, nest: Nest, grid: Grid, block: int) -> None:
        self.kernel = kernel
        self.node = node
        self.root = str(node.attr("axis"))
        if self.root not in nest.reached:
            raise kernel.fault(f"no loop gives the index of axis {self.root}, along which it scans", node.name)
        self._function, self._start = SCANS[node.op]
        self._step = -1 if node.attr("reverse") else 1
        first = kernel.extent[self.root] - 1 if self._step < 0 else 0
        others = tuple(axis for axis in nest.vectorised if self.root not in kernel.walked_roots(axis))
        self._line = nest.positions(others)
        self._place = grid.spread(grid.roots[self.root])
        self._expected = np.full(grid.exists.size, first)
        self._first = first
        self._state: dict[int, Array] = {}
        accumulator = kernel.accumulator(node)
        if accumulator is not None and accumulator.buffer is not None:
            walking = [i for i, axis in enumerate(nest.vectorised) if self.root in kernel.walked_roots(axis)]
            inner = nest.vectorised[walking[0] + 1 :] if walking else ()
            state = np.arange(prod(kernel.extent[axis] for axis in inner) * node.dtype.itemsize)
            value = kernel.partial_results(node, accumulator.buffer)
            kernel.memory_of(accumulator.buffer, node.name).write(value, state, np.zeros(1, np.uint8), block)

    def take(self, points: Array, content: Array) -> Array:
        """Return the results at ``points`` for the operand's values ``content``."""
        wide = widen(np.ascontiguousarray(np.broadcast_to(content, points.shape)), "declared")
        result = np.empty_like(wide)
        for line in np.unique(self._line[points]):
            chosen = np.flatnonzero(self._line[points] == line)[:: self._step]
            result[chosen] = self._along(int(line), self._place[points[chosen]], wide[chosen])
        return cast(result, self.node.dtype)

    def _along(self, line: int, places: Array, x: Array) -> Array:
        wanted = self._expected[line] + self._step * np.arange(places.size)
        if (places != wanted).any():
            at = int(np.argmax(places != wanted))
            raise self.kernel.fault(
                f"meets element {places[at]} of axis {self.root} where element {wanted[at]} is next", self.node.name
            )
        before = self._state.get(line)
        with np.errstate(all="ignore"):
            x = x if before is None else np.concatenate([before, x])
            found = np.asarray(self._function.accumulate(x, dtype=x.dtype))
        self._state[line], self._expected[line] = found[-1:], wanted[-1] + self._step
        if not self.node.attr("exclusive"):
            return found if before is None else found[1:]
        if before is None:
            found = np.concatenate([np.full(1, self._start, x.dtype), found])
        return found[:-1]
