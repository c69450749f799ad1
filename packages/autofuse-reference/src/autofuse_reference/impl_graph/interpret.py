"""Execute an ImplGraph as planned: blocks, tiles, segments and strips, in memory of exactly the planned size.

Whatever the plan leaves open is drawn at random from ``seed``: the order of blocks, of the iterations of each loop, of
the rows and strips of a segment, and the lengths of strips. Results must not depend on it.

In each strip a segment first reads all values that other segments left in buffers, then computes and writes: a new
value may take over the bytes of one that dies in that segment, element by element. Values without a buffer live in
registers: they are gone when the strip is. Buffers are poisoned before each tile, or each iteration of their lifetime
axis; each block has local buffers of its own, and workspace is shared. A phase with ``sync`` ALL ends for all blocks
before the next one starts; otherwise each block goes on by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.schedule import ImplGraph, Location, Phase, Segment, Sync, TileVariable

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.asc_graph.scalars import scalar_value
from autofuse_reference.errors import EvaluationError
from autofuse_reference.impl_graph.arguments import Arguments
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.memory import Memory, Value
from autofuse_reference.impl_graph.nest import Grid, Nest
from autofuse_reference.operators.asc import evaluate_asc

LARGEST_INT32 = 2**31 - 1


def interpret_impl(
    impl: ImplGraph,
    inputs: Sequence[Array],
    sizes: Mapping[str, int],
    tile_sizes: Mapping[str, int],
    seed: int = 0,
) -> list[Array]:
    """Return the outputs of ``impl``, by output index, for ``inputs`` by data index.

    ``sizes`` binds the size symbols, ``tile_sizes`` the tile variables. Results have the shapes that the Stores' access
    maps name (axes may have merged). Raises ``InterpreterFault`` for a read of bytes that nobody wrote or another value
    overwrote, an access outside of a buffer or of global memory, an output element that two blocks write or nobody
    does, and a register read outside of its segment; ``EvaluationError`` for arguments that do not fit.
    """
    for variable in impl.tile_variables:
        _check_tile_size(impl, variable, sizes, tile_sizes)
    return _Run(impl, inputs, {**sizes, **tile_sizes}, seed).outputs()


@frozen(eq=False)
class _Point:
    """Where the interpreter stands: phase and segment by number, and the block."""

    phase: int
    segment: Segment
    nest: Nest
    block: int


class _Run:
    """One launch."""

    def __init__(self, impl: ImplGraph, inputs: Sequence[Array], sizes: Mapping[str, int], seed: int) -> None:
        self.impl = impl
        self.sizes = sizes
        self.random = np.random.default_rng(seed)
        self.nodes = {n.name: n for n in impl.nodes}
        self.extent = {a.name: self._size(a.size) for a in impl.axes}
        self.scalars = {n.name: scalar_value(n, sizes) for n in impl.nodes if n.op in ("Scalar", "IndexExpr")}
        self.phase_of = {n: i for i, p in enumerate(impl.phases) for s in p.segments for n in s.nodes}
        self.location = {b.name: b.location for b in impl.buffers}
        numbers = {n.name: i for i, n in enumerate(impl.nodes)}
        self.placed = {
            p.node: Value(p.node, numbers[p.node], p.buffer, numpy_dtype(self.nodes[p.node].dtype))
            for p in impl.placements
            if p.buffer is not None
        }
        self._check_index_width()
        self.arguments = Arguments(impl, inputs, self._size)
        self.workspace = Memory(impl.name, self._buffers(Location.WORKSPACE), self._size)
        self.local = Memory(impl.name, self._buffers(Location.LOCAL), self._size)
        self.nests = {
            (i, s.axes): Nest(impl, p, s.axes, self.extent, self._size)
            for i, p in enumerate(impl.phases)
            for s in p.segments
        }

    def outputs(self) -> list[Array]:
        """Run all phases and return what was stored."""
        for phases in self._between_barriers():
            count = max(self._blocks(self.impl.phases[p]) for p in phases)
            for block in self.random.permutation(count):
                self.local = Memory(self.impl.name, self._buffers(Location.LOCAL), self._size)
                for phase in phases:
                    if block < self._blocks(self.impl.phases[phase]):
                        self._phase(phase, int(block))
        return self.arguments.results()

    def _between_barriers(self) -> Iterator[list[int]]:
        """Phases that a block may run one after the other without waiting for other blocks."""
        together: list[int] = []
        for number, phase in enumerate(self.impl.phases):
            together.append(number)
            if phase.sync is Sync.ALL:
                yield together
                together = []
        if together:
            yield together

    def _blocks(self, phase: Phase) -> int:
        return 1 if phase.block is None else self.extent[phase.block]

    def _phase(self, number: int, block: int) -> None:
        phase = self.impl.phases[number]
        if phase.block is None:
            self._loops(number, phase.loops, {}, block)
            return
        self.local.renew(phase.block)
        inner = tuple(axis for axis in phase.loops if axis != phase.block)
        self._loops(number, inner, {phase.block: block}, block)

    def _loops(self, number: int, axes: tuple[str, ...], indices: dict[str, int], block: int) -> None:
        if not axes:
            self._tile(number, indices, block)
            return
        for index in self.random.permutation(self.extent[axes[0]]):
            self.local.renew(axes[0])
            self._loops(number, axes[1:], {**indices, axes[0]: int(index)}, block)

    def _tile(self, number: int, indices: dict[str, int], block: int) -> None:
        segments = self.impl.phases[number].segments
        grids = {s.axes: self.nests[number, s.axes].grid(indices) for s in segments}
        if not any(grid.exists.any() for grid in grids.values()):
            return
        self.local.renew("")
        for segment in segments:
            point = _Point(number, segment, self.nests[number, segment.axes], block)
            self._segment(point, grids[segment.axes])

    def _segment(self, point: _Point, grid: Grid) -> None:
        reads = self._reads(point.segment)
        names = (*reads, *point.segment.nodes)
        elements = {
            name: found for name in names if (found := self._elements(self.nodes[name], point, grid)) is not None
        }
        buffers = {name: self._buffer_elements(name, point, grid) for name in names if name in self.placed}
        iterations = {
            n: point.nest.iterations(self.nodes[n], grid) for n in point.segment.nodes if self.nodes[n].op == "Store"
        }
        length = grid.shape[-1]
        for row in self.random.permutation(grid.exists.size // max(1, length)):
            for start, stop in self._strips(length):
                points = row * length + start + np.flatnonzero(grid.exists[row * length + start : row * length + stop])
                if points.size:
                    self._strip(point, points, reads, elements, buffers, iterations)

    def _strip(
        self,
        point: _Point,
        points: Array,
        reads: tuple[str, ...],
        elements: Mapping[str, Array],
        buffers: Mapping[str, Array],
        iterations: Mapping[str, Array],
    ) -> None:
        values = {name: self._fetch(name, point, buffers[name][points]) for name in reads}
        for name in point.segment.nodes:
            node = self.nodes[name]
            if node.op == "Store":
                content = self._operand(node, node.inputs[0], values)
                partial = point.nest.is_partial(node)
                self.arguments.store(
                    node, elements[name][points], content, iterations[name][points], point.block, partial
                )
                continue
            if node.op == "Load":
                values[name] = self.arguments.load(node, elements[name][points])
            else:
                values[name] = self._compute(node, values)
            if name in self.placed:
                memory = self._memory(name)
                memory.write(self.placed[name], buffers[name][points], values[name], point.block)

    def _compute(self, node: AscNode, values: Mapping[str, Array]) -> Array:
        operands = [self._operand(node, name, values) for name in node.inputs]
        if node.op == "Broadcast":
            return operands[0]
        attrs: dict[str, Any] = {attr.name: attr.value for attr in node.attrs}
        return evaluate_asc(node.op, node.dtype, attrs, operands)

    def _operand(self, reader: AscNode, name: str, values: Mapping[str, Array]) -> Array:
        if name in values:
            return values[name]
        if name in self.scalars:
            return self.scalars[name]
        raise InterpreterFault(
            f"reads {name}, which is in no buffer and not made before it in its segment",
            kernel=self.impl.name,
            node=reader.name,
        )

    def _fetch(self, name: str, point: _Point, elements: Array) -> Array:
        made_in = self.phase_of.get(name, point.phase)
        between = [p.sync for p in self.impl.phases[made_in : point.phase]]
        reader = next(n for n in point.segment.nodes if name in self.nodes[n].inputs)
        if made_in < point.phase and all(sync is Sync.NONE for sync in between):
            raise InterpreterFault(
                f"reads {name} of phase {made_in} from phase {point.phase}, and nothing waits for it",
                kernel=self.impl.name,
                node=reader,
                buffer=self.placed[name].buffer,
            )
        block = None if Sync.ALL in between else point.block
        return self._memory(name).read(self.placed[name], elements, reader, block)

    def _reads(self, segment: Segment) -> tuple[str, ...]:
        """The values that other segments left in buffers for this one."""
        inputs = dict.fromkeys(i for n in segment.nodes for i in self.nodes[n].inputs)
        return tuple(name for name in inputs if name in self.placed and name not in segment.nodes)

    def _memory(self, name: str) -> Memory:
        buffer = self.placed[name].buffer
        return self.workspace if self.location.get(buffer) is Location.WORKSPACE else self.local

    def _elements(self, node: AscNode, point: _Point, grid: Grid) -> Array | None:
        return point.nest.global_elements(node, grid) if node.op in ("Load", "Store") else None

    def _buffer_elements(self, name: str, point: _Point, grid: Grid) -> Array:
        node = self.nodes[name]
        buffer = self.placed[name].buffer
        if buffer not in self.location:
            raise InterpreterFault("has no such buffer", kernel=self.impl.name, node=name, buffer=buffer)
        if self.location[buffer] is Location.WORKSPACE:
            return np.where(grid.exists, point.nest.workspace_elements(node, grid), 0)
        return point.nest.tile_elements(node)

    def _strips(self, length: int) -> list[tuple[int, int]]:
        """Cut a row into strips of random lengths, in random order."""
        found: list[tuple[int, int]] = []
        start = 0
        while start < length:
            stop = start + int(self.random.integers(1, length - start + 1))
            found.append((start, stop))
            start = stop
        return [found[i] for i in self.random.permutation(len(found))]

    def _buffers(self, location: Location) -> tuple[Any, ...]:
        return tuple(b for b in self.impl.buffers if b.location is location)

    def _size(self, dim: Dim) -> int:
        return evaluate(dim, self.sizes)

    def _check_index_width(self) -> None:
        if self.impl.index_bits != 32:
            return
        for node in self.impl.nodes:
            if node.access is not None:
                count = int(np.prod([self._size(d) for d in node.access.memory], dtype=np.float64))
                if count > LARGEST_INT32:
                    raise InterpreterFault(
                        f"{count} elements do not fit the 32 bits of the plan", kernel=self.impl.name, node=node.name
                    )


def _check_tile_size(
    impl: ImplGraph, variable: TileVariable, sizes: Mapping[str, int], tile_sizes: Mapping[str, int]
) -> None:
    where = f"kernel {impl.name}, tile size {variable.name}"
    if variable.name not in tile_sizes:
        raise EvaluationError("no value is given", where=where, fix="autofuse_tiling.evaluate.choose gives tile sizes")
    value, largest = tile_sizes[variable.name], evaluate(variable.hi, {**sizes, **tile_sizes})
    if not variable.lo <= value <= largest or (value % variable.multiple and value != largest):
        raise EvaluationError(
            f"{value} is not allowed",
            where=where,
            fix=f"give a multiple of {variable.multiple} between {variable.lo} and {largest}, or {largest}",
        )
