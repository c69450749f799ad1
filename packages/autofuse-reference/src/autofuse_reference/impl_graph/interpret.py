"""Execute an ImplGraph as planned: blocks, tiles, segments and strips, in memory of exactly the planned size.

Whatever the plan leaves open is drawn at random from ``seed``: the order of blocks, of the iterations of each loop and
of the rows and strips of a segment (in order only along a scanned axis), and the lengths of strips. Results must not
depend on it.

In each strip a segment first reads all values that other segments left in buffers, then computes and writes: a new
value may take over the bytes of one that dies in that segment, element by element. Values without a buffer live in
registers: they are gone when the strip is. Buffers are poisoned before each tile, or each iteration of their lifetime
axis; each block has local buffers of its own, and workspace is shared. A phase with ``sync`` ALL ends for all blocks
before the next one starts; otherwise each block goes on by itself. Phases that share loops take turns in each of their
iterations.

A reduction collects its elements until all loops that walk its axes are done; its value does not exist before. A scan
goes on from piece to piece while loops walk its axis, which they do in its order.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.schedule import ImplGraph, Phase, Sync, TileVariable

from autofuse_reference.arrays import Array
from autofuse_reference.errors import EvaluationError
from autofuse_reference.impl_graph.accumulators import ReductionPlan, plan_reduction
from autofuse_reference.impl_graph.contributions import Contributions
from autofuse_reference.impl_graph.kernel import Kernel
from autofuse_reference.impl_graph.scans import Lines, ScanPlan, plan_scan
from autofuse_reference.impl_graph.strips import SegmentRun
from autofuse_reference.impl_graph.traffic import Traffic
from autofuse_reference.operators.scan import SCANS


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
    does, a register read outside of its segment, and a reduction that misses elements, is read before it has them all,
    or has no place for its partial results; ``StatusError`` for values that have no result; ``EvaluationError`` for
    arguments that do not fit.
    """
    return _run(impl, inputs, sizes, tile_sizes, seed).outputs()


def traffic_of(
    impl: ImplGraph,
    inputs: Sequence[Array],
    sizes: Mapping[str, int],
    tile_sizes: Mapping[str, int],
) -> Traffic:
    """Return the bytes that ``impl`` moves between global and local memory, of arguments as `interpret_impl` takes."""
    run = _run(impl, inputs, sizes, tile_sizes, seed=0)
    run.outputs()
    return run.kernel.traffic


def _run(
    impl: ImplGraph, inputs: Sequence[Array], sizes: Mapping[str, int], tile_sizes: Mapping[str, int], seed: int
) -> "_Run":
    for variable in impl.tile_variables:
        _check_tile_size(impl, variable, sizes, tile_sizes)
    return _Run(Kernel(impl, inputs, {**sizes, **tile_sizes}), seed)


class _Run:
    """One launch: the order of blocks, phases and loops. Loop indices are known by axis name."""

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self.kernel = kernel
        self.phases = kernel.impl.phases
        self.random = np.random.default_rng(seed)
        self.nests = {
            (i, s.axes): kernel.nest(i, p.loops, s.axes) for i, p in enumerate(self.phases) for s in p.segments
        }
        self.reductions = tuple(
            tuple(
                plan_reduction(kernel, number, segment, kernel.nodes[name])
                for segment in phase.segments
                for name in segment.nodes
                if kernel.nodes[name].op in REDUCTIONS
            )
            for number, phase in enumerate(self.phases)
        )
        self.scans: tuple[tuple[ScanPlan, ...], ...] = tuple(
            tuple(
                plan_scan(kernel, number, kernel.nodes[name])
                for segment in phase.segments
                for name in segment.nodes
                if kernel.nodes[name].op in SCANS
            )
            for number, phase in enumerate(self.phases)
        )
        self.open: dict[str, Contributions] = {}
        self.lines: dict[str, Lines] = {}
        for number in range(1, len(self.phases)):
            self._check_shared(number)

    def outputs(self) -> list[Array]:
        """Run all phases and return what was stored."""
        for together in self._between_barriers():
            count = max(self._blocks(self.phases[p]) for p in together)
            for block in self.random.permutation(count):
                self.kernel.local = self.kernel.new_local()
                running = [p for p in together if block < self._blocks(self.phases[p])]
                self._nest(running, 0, {}, int(block))
        return self.kernel.arguments.results()

    def _between_barriers(self) -> Iterator[list[int]]:
        """Phases that a block may run one after the other without waiting for other blocks."""
        together: list[int] = []
        for number, phase in enumerate(self.phases):
            together.append(number)
            if phase.sync is Sync.ALL:
                yield together
                together = []
        if together:
            yield together

    def _blocks(self, phase: Phase) -> int:
        return 1 if phase.block is None else self.kernel.extent[phase.block]

    def _nest(self, numbers: list[int], depth: int, indices: dict[str, int], block: int) -> None:
        """Run phases ``numbers``, which share the ``depth`` loops at ``indices``, one after the other."""
        while numbers:
            size = next((i for i in range(1, len(numbers)) if self.phases[numbers[i]].shared <= depth), len(numbers))
            sharing, numbers = numbers[:size], numbers[size:]
            phase = self.phases[sharing[0]]
            if depth == 0 and phase.block is not None:
                indices = {phase.block: block}
            if depth == len(phase.loops):
                self._tile(sharing[0], indices, block)
            else:
                self._loop(phase.loops[depth], sharing, depth, indices, block)

    def _loop(self, axis: str, numbers: list[int], depth: int, indices: dict[str, int], block: int) -> None:
        """Run loop ``axis`` around phases ``numbers``; the loop over blocks has one iteration here."""
        plans = [plan for number in numbers for plan in self.reductions[number] if plan.scope == axis]
        is_block = axis == self.phases[numbers[0]].block
        scans = [plan.node.name for number in numbers for plan in self.scans[number] if plan.scope == axis]
        self._enter(plans, indices, block)
        self.lines.update((name, Lines()) for name in scans)
        for index in [block] if is_block else self._iterations(axis, numbers):
            self.kernel.local.renew(axis)
            self._nest(numbers, depth + 1, {**indices, axis: int(index)}, block)
        for name in scans:
            del self.lines[name]
        self._leave(plans)

    def _iterations(self, axis: str, numbers: list[int]) -> Sequence[int]:
        """The iterations of loop ``axis``: in order where a scan of phases ``numbers`` says so, else shuffled."""
        count = self.kernel.extent[axis]
        if any(axis in self.phases[number].backwards for number in numbers):
            return range(count - 1, -1, -1)
        walked = self.kernel.walked_roots(axis)
        if any(plan.node.attr("axis") in walked for number in numbers for plan in self.scans[number]):
            return range(count)
        return [int(index) for index in self.random.permutation(count)]

    def _tile(self, number: int, indices: dict[str, int], block: int) -> None:
        self.kernel.local.renew("")
        for segment in self.phases[number].segments:
            nest = self.nests[number, segment.axes]
            plans = [p for p in self.reductions[number] if p.scope is None and p.node.name in segment.nodes]
            self._enter(plans, indices, block)
            grid = nest.grid(indices)
            if grid.exists.any():
                run = SegmentRun(self.kernel, number, segment, nest, grid, block, self.open, self.lines)
                run.run(self.random)
            self._leave(plans)

    def _enter(self, plans: list[ReductionPlan], indices: dict[str, int], block: int) -> None:
        for plan in plans:
            self.open[plan.node.name] = Contributions(self.kernel, plan, indices, block)

    def _leave(self, plans: list[ReductionPlan]) -> None:
        for plan in plans:
            self.open.pop(plan.node.name).close()

    def _check_shared(self, number: int) -> None:
        before, phase = self.phases[number - 1], self.phases[number]
        if not phase.shared:
            return
        reader = phase.segments[0].nodes[0]
        is_deep = phase.shared > min(len(phase.loops), len(before.loops))
        if is_deep or phase.loops[: phase.shared] != before.loops[: phase.shared] or phase.block != before.block:
            raise self.kernel.fault(f"phase {number} shares {phase.shared} loops that the phase before lacks", reader)
        if before.sync is Sync.ALL:
            raise self.kernel.fault(f"phase {number} shares loops with a phase that all blocks must end before", reader)


def _check_tile_size(
    impl: ImplGraph, variable: TileVariable, sizes: Mapping[str, int], tile_sizes: Mapping[str, int]
) -> None:
    where = f"kernel {impl.name}, tile size {variable.name}"
    if variable.name not in tile_sizes:
        raise EvaluationError("no value is given", where=where, fix="autofuse_tiling.evaluate.choose gives tile sizes")
    wrong = [each for each in tile_sizes.values() if not hasattr(each, "__index__")]
    if wrong:
        raise EvaluationError(f"{wrong[0]!r} is no tile size", where=f"kernel {impl.name}", fix="give whole numbers")
    value, largest = tile_sizes[variable.name], evaluate(variable.hi, {**sizes, **tile_sizes})
    if not variable.lo <= value <= largest or (value % variable.multiple and value != largest):
        raise EvaluationError(
            f"{value} is not allowed",
            where=where,
            fix=f"give a multiple of {variable.multiple} between {variable.lo} and {largest}, or {largest}",
        )
