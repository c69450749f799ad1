"""Scans: each line along the scanned axis has a state that goes from point to point, and from piece to piece."""

from math import prod

import numpy as np
from attrs import define, field, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.schedule import Location

from autofuse_reference.arrays import Array
from autofuse_reference.impl_graph.kernel import Kernel
from autofuse_reference.impl_graph.memory import Value
from autofuse_reference.impl_graph.nest import Grid, Nest
from autofuse_reference.operators.precision import cast, widen
from autofuse_reference.operators.scan import SCANS


@frozen
class ScanPlan:
    """A scan in its phase: ``scope`` is the outermost loop that walks its axis, None where a tile has all of it."""

    node: AscNode
    scope: str | None


@define
class Lines:
    """What the lines of a scan have come to, by their place in a tile, and which element of each is next."""

    states: dict[int, Array] = field(factory=dict)
    expected: dict[int, int] = field(factory=dict)


def plan_scan(kernel: Kernel, number: int, node: AscNode) -> ScanPlan:
    """Return how scan ``node`` of phase ``number`` is carried out; a fault where it cannot be."""
    phase, root = kernel.impl.phases[number], str(node.attr("axis"))
    walking = [axis for axis in phase.loops if axis != phase.block and root in kernel.walked_roots(axis)]
    accumulator = kernel.accumulator(node)
    if walking and (accumulator is None or accumulator.location is not Location.LOCAL):
        raise kernel.fault(
            f"its state is in no buffer, but loop {walking[0]} around its segment walks its axis", node.name
        )
    return ScanPlan(node, walking[0] if walking else None)


class Scan:
    """One scan in one run of its segment. Points must come in order, from the first (last where reversed) of a line.

    Where the plan gives its state a buffer, that has room for the lines that are open at once. ``lines`` has what came
    before this run: its state must still be in the buffer.
    """

    def __init__(
        self, kernel: Kernel, node: AscNode, nest: Nest, grid: Grid, block: int, lines: Lines | None = None
    ) -> None:
        self.kernel = kernel
        self.node = node
        self.root = str(node.attr("axis"))
        if self.root not in nest.reached:
            raise kernel.fault(f"no loop gives the index of axis {self.root}, along which it scans", node.name)
        self._function, self._start = SCANS[node.op]
        self._step = -1 if node.attr("reverse") else 1
        self._first = kernel.extent[self.root] - 1 if self._step < 0 else 0
        others = tuple(axis for axis in nest.vectorised if self.root not in kernel.walked_roots(axis))
        self._line = nest.positions(others)
        self._place = grid.spread(grid.roots[self.root])
        self._lines = Lines() if lines is None else lines
        accumulator = kernel.accumulator(node)
        if accumulator is not None and accumulator.buffer is not None:
            walking = [i for i, axis in enumerate(nest.vectorised) if self.root in kernel.walked_roots(axis)]
            inner = nest.vectorised[walking[0] + 1 :] if walking else ()
            open_lines = others if lines is not None else inner
            state = np.arange(prod(kernel.extent[axis] for axis in open_lines) * node.dtype.itemsize)
            self._keep(kernel.partial_results(node, accumulator.buffer), state, block)

    def take(self, points: Array, content: Array) -> Array:
        """Return the results at ``points`` for the operand's values ``content``."""
        wide = widen(np.ascontiguousarray(np.broadcast_to(content, points.shape)), "declared")
        result = np.empty_like(wide)
        for line in np.unique(self._line[points]):
            chosen = np.flatnonzero(self._line[points] == line)[:: self._step]
            result[chosen] = self._along(int(line), self._place[points[chosen]], wide[chosen])
        return cast(result, self.node.dtype)

    def _keep(self, value: Value, state: Array, block: int) -> None:
        """Put the state into its buffer; what earlier pieces left there must be as they left it."""
        memory = self.kernel.memory_of(value.buffer, self.node.name)
        if self._lines.states:
            memory.read(value, state, self.node.name, block)
        memory.write(value, state, np.zeros(1, np.uint8), block)

    def _along(self, line: int, places: Array, x: Array) -> Array:
        wanted = self._lines.expected.get(line, self._first) + self._step * np.arange(places.size)
        if (places != wanted).any():
            at = int(np.argmax(places != wanted))
            raise self.kernel.fault(
                f"meets element {places[at]} of axis {self.root} where element {wanted[at]} is next", self.node.name
            )
        before = self._lines.states.get(line)
        with np.errstate(all="ignore"):
            x = x if before is None else np.concatenate([before, x])
            found = np.asarray(self._function.accumulate(x, dtype=x.dtype))
        self._lines.states[line], self._lines.expected[line] = found[-1:], int(wanted[-1]) + self._step
        if not self.node.attr("exclusive"):
            return found if before is None else found[1:]
        if before is None:
            found = np.concatenate([np.full(1, self._start, x.dtype), found])
        return found[:-1]
