"""One segment in one tile: strip by strip, with reads before writes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from autofuse_ir.asc_graph import AscNode, Bounds
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.schedule import Segment, Sync

from autofuse_reference.arrays import Array
from autofuse_reference.asc_graph.gather import Places, places
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.impl_graph.contributions import Contributions
from autofuse_reference.impl_graph.kernel import Kernel
from autofuse_reference.impl_graph.nest import Grid, Nest
from autofuse_reference.impl_graph.scans import Lines, Scan
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.precision import cast
from autofuse_reference.operators.reduction_tree import join_leaves
from autofuse_reference.operators.scan import SCANS

THERE = np.asarray(True)


class SegmentRun:
    """The evaluation of segment ``segment`` of phase number ``phase`` at the points of ``grid``, by block ``block``.

    ``collected`` are the open reductions of the segment, ``lines`` the states of scans that go on from earlier pieces.
    """

    def __init__(
        self,
        kernel: Kernel,
        phase: int,
        segment: Segment,
        nest: Nest,
        grid: Grid,
        block: int,
        collected: Mapping[str, Contributions],
        lines: Mapping[str, Lines],
    ) -> None:
        self.kernel = kernel
        self.phase = phase
        self.segment = segment
        self.nest = nest
        self.grid = grid
        self.block = block
        self.collected = {name: collected[name] for name in segment.nodes if name in collected}
        self.nodes = [kernel.nodes[name] for name in segment.nodes]
        for node in self.nodes:
            nest.check_decides(node, kernel.dependence[node.name])
        self.reads = self._reads()
        self.buffers = {
            name: self._buffer_elements(name)
            for name in (*self.reads, *segment.nodes)
            if name in kernel.placed and name not in self.collected
        }
        self.elements = {n.name: nest.global_elements(n, grid) for n in self.nodes if _is_plain(n)}
        checked = [n for n in self.nodes if n.op == "Load" and not _is_plain(n)]
        self.positions = {n.name: nest.global_positions(n, grid) for n in checked}
        known = [n for n in checked if len(n.inputs) == 1]  # no value of the segment decides where these read
        self.places = {n.name: self._places(n, self.positions[n.name], [], grid.exists) for n in known}
        self.iterations = {n.name: nest.iterations(n, grid) for n in self.nodes if n.op == "Store"}
        self.moved: dict[str, list[Array]] = {n.name: [] for n in self.nodes if n.op in ("Load", "Store")}
        self.values = {name: nest.value_positions(kernel.nodes[name]) for name in self.moved}
        self.joined = {name: found.places(grid) for name, found in self.collected.items()}
        scans = [node for node in self.nodes if node.op in SCANS]
        self.scans = {n.name: Scan(kernel, n, nest, grid, block, lines.get(n.name)) for n in scans}

    def run(self, random: np.random.Generator) -> None:
        """Evaluate all points, in an order drawn from ``random`` where the segment leaves it open."""
        for found in self.collected.values():
            found.check_state()
        length, exists = self.grid.shape[-1], self.grid.exists
        for row in self._rows(random, exists.size // max(1, length)):
            for start, stop in self._strips(random, length):
                points = row * length + start + np.flatnonzero(exists[row * length + start : row * length + stop])
                if points.size:
                    self._strip(points)
        for name, found_at in self.moved.items():
            self.kernel.traffic.add(self.kernel.nodes[name], found_at)

    def _strip(self, points: Array) -> None:
        values = {name: self._fetch(name, points) for name in self.reads}
        for node in self.nodes:
            name = node.name
            if node.op == "Store":
                content = self._operand(node, node.inputs[0], values)
                places_of, iterations = self.elements[name][points], self.iterations[name][points]
                partial = self.nest.is_partial(node)
                self.moved[name].append(self.values[name][points])
                self.kernel.arguments.store(node, places_of, content, iterations, self.block, partial)
            elif node.op in REDUCTIONS:
                content = self._operand(node, node.inputs[0], values)
                keys, numbers, elements = (each[points] for each in self.joined[name])
                self.collected[name].take(keys, numbers, elements, content)
            else:
                values[name] = self._value(node, points, values)
                if name in self.buffers:
                    memory = self.kernel.memory(name)
                    memory.write(self.kernel.placed[name], self.buffers[name][points], values[name], self.block)

    def _value(self, node: AscNode, points: Array, values: Mapping[str, Array]) -> Array:
        operands = [self._operand(node, name, values) for name in node.inputs if node.op != "Load"]
        match node.op:
            case "Load":
                return self._load(node, points, values)
            case "Broadcast":
                return operands[0]
            case "AxisIndex":
                return cast(self.nest.numbers(self.grid, (str(node.attr("axis")),))[points], node.dtype)
            case _ if node.op in SCANS:
                return self.scans[node.name].take(points, operands[0])
            case _:
                attrs: dict[str, Any] = {attr.name: attr.value for attr in node.attrs}
                return evaluate_asc(node.op, node.dtype, attrs, operands)

    def _load(self, node: AscNode, points: Array, values: Mapping[str, Array]) -> Array:
        memory = self.kernel.arguments.memory(node)
        if node.name in self.elements:
            self.moved[node.name].append(self.values[node.name][points])
            found: Array = memory[self.elements[node.name][points]]
            return found
        if node.name in self.places:
            at = self.places[node.name].at(points, self.grid.exists.size)
        else:
            positions = {axis: index[points] for axis, index in self.positions[node.name].items()}
            at = self._places(node, positions, [self._operand(node, name, values) for name in node.inputs[1:]], THERE)
        inside = np.broadcast_to(at.inside, points.shape)
        self.moved[node.name].append(self.values[node.name][points][inside])
        return at.read(node, memory)

    def _places(self, node: AscNode, positions: Mapping[str, Array], operands: list[Array], exists: Array) -> Places:
        """Where Load ``node`` reads at ``positions``."""
        try:
            return places(node, positions, operands, self.kernel.size, exists, self.kernel.impl.name)
        except StatusError:
            raise
        except EvaluationError as error:
            raise self.kernel.fault(error.what, node.name) from error

    def _operand(self, reader: AscNode, name: str, values: Mapping[str, Array]) -> Array:
        if name in values:
            return values[name]
        if name in self.kernel.scalars:
            return self.kernel.scalars[name]
        if name in self.collected:
            raise self.kernel.fault(f"reads reduction {name} in the segment that joins it", reader.name)
        raise self.kernel.fault(
            f"reads {name}, which is in no buffer and not made before it in its segment", reader.name
        )

    def _fetch(self, name: str, points: Array) -> Array:
        kernel, phases = self.kernel, self.kernel.impl.phases
        made_in = kernel.phase_of.get(name, self.phase)
        between = [p.sync for p in phases[made_in : self.phase]]
        reader = next(n.name for n in self.nodes if name in n.inputs)
        value = kernel.placed[name]
        if made_in < self.phase and all(sync is Sync.NONE for sync in between):
            raise kernel.fault(
                f"reads {name} of phase {made_in} from phase {self.phase}, and nothing waits for it",
                reader,
                value.buffer,
            )
        block = None if Sync.ALL in between else self.block
        memory, elements = kernel.memory(name), self.buffers[name][points]
        if elements.ndim == 1:
            return memory.read(value, elements, reader, block)
        leaves = memory.read(value, elements.reshape(-1), reader, block)
        with np.errstate(all="ignore"):
            return join_leaves(kernel.nodes[name].op, leaves.reshape(elements.shape))

    def _reads(self) -> tuple[str, ...]:
        """The values that other segments left in buffers for this one."""
        inputs = dict.fromkeys(i for n in self.nodes for i in n.inputs)
        return tuple(name for name in inputs if name in self.kernel.placed and name not in self.segment.nodes)

    def _buffer_elements(self, name: str) -> Array:
        """Where the value of node ``name`` lies for each point; for a reduction in workspace its row of leaves."""
        kernel, node = self.kernel, self.kernel.nodes[name]
        kernel.memory(name)
        if not kernel.in_workspace(name):
            return self.nest.tile_elements(node)
        element = np.where(self.grid.exists, self.nest.workspace_elements(node, self.grid), 0)
        if node.op not in REDUCTIONS:
            return element
        count = kernel.leaves(node)
        return element[:, None] * count + np.arange(count)

    def _rows(self, random: np.random.Generator, count: int) -> Array:
        """The rows of the tile, shuffled, but in order along axes that are scanned."""
        order = random.permutation(count)
        outer = self.nest.vectorised[:-1]
        indices = np.unravel_index(order, self.grid.shape[:-1]) if outer else ()
        keys = [step * index for axis, index in zip(outer, indices, strict=True) if (step := self._direction(axis))]
        return order[np.lexsort(keys[::-1])] if keys else order

    def _strips(self, random: np.random.Generator, length: int) -> list[tuple[int, int]]:
        """A row cut into strips of random lengths, in random order unless its axis is scanned."""
        found: list[tuple[int, int]] = []
        start = 0
        while start < length:
            stop = start + int(random.integers(1, length - start + 1))
            found.append((start, stop))
            start = stop
        direction = self._direction(self.nest.vectorised[-1]) if self.nest.vectorised else 0
        return found[::direction] if direction else [found[i] for i in random.permutation(len(found))]

    def _direction(self, axis: str) -> int:
        """1 or -1 where a scan walks along ``axis`` forwards or backwards, else 0."""
        walked = self.kernel.walked_roots(axis)
        scans = [n for n in self.nodes if n.op in SCANS and n.attr("axis") in walked]
        steps = {-1 if n.attr("reverse") else 1 for n in scans}
        if len(steps) > 1:
            raise self.kernel.fault(f"scans {axis} against another scan in its segment", scans[-1].name)
        return next(iter(steps), 0)


def _is_plain(node: AscNode) -> bool:
    """True for a Load or Store whose elements the loops alone decide."""
    if node.access is None or node.op not in ("Load", "Store"):
        return False
    return node.op == "Store" or (node.access.bounds is Bounds.INSIDE and len(node.inputs) == 1)
