"""Kernels that run as parts of one launch, because a launch costs more than they gain from one of their own.

Two kernels follow one another in one launch where the first makes what the second reads, one loop nest cannot hold
both, and what passes between them is so little that moving it takes less time than a launch, or hardly any beside what
the first does (the results of rows, of which the second makes one), or need not be moved at all: the second may go on
with the rows that the first has at hand (`phases`). Kernels that do not wait for one another stand side by side where
each has less work than a launch takes; so do those that go through one tensor element by element, such as the pieces
of a split, whatever their size. A batch must keep hardly more memory alive than its kernels one by one, and none more
than a kernel for each operator; it is taken apart again where it would, half by half.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from attrs import define, field, frozen
from autofuse_ir.fused_graph import Reason
from autofuse_ir.target import TargetSpec

from autofuse_fusion.axes import Layout
from autofuse_fusion.benefit import CostModel, cost_model
from autofuse_fusion.groups import Group
from autofuse_fusion.items import Items, Thing, topological
from autofuse_fusion.legality import Refused
from autofuse_fusion.lower.views.marks import origin_of
from autofuse_fusion.memory import peak_of, peaks_above
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.order import ContractionOrder
from autofuse_fusion.phases import may_be_phases
from autofuse_fusion.solve import Solver

NESTS_DIFFER = (Reason.TILING_GROUPS_DO_NOT_MERGE, Reason.AXES_DO_NOT_MAP)
"""Why two kernels that follow one another are not one loop nest, though they may be one launch."""

LITTLE = 1 / 8
"""The part of a kernel's time that moving its results back and forth may take, to be hardly any beside it."""

MARGIN = 1 / 16
"""The part of the peak by which batches may exceed that of kernels one by one."""

MOST_TRIES = 20
"""Times that batches are taken apart for memory, before none is left."""


@frozen(eq=False)
class Batch:
    """Kernels of one launch, in an order that respects their data; ``kept`` is what others read of what they make."""

    parts: tuple[Group, ...]
    kept: frozenset[str]


Step: TypeAlias = Thing | Batch


def batched(solver: Solver, target: TargetSpec, options: FusionOptions, most: int) -> list[Step]:
    """Return what ``solver`` arrived at, in topological order, with batches in place of the kernels they hold.

    ``most`` are the bytes that a kernel for each operator keeps alive at once, at the hints.
    """
    things = topological(solver.things())
    if not options.enable or options.max_parts < 2:
        return [*things]
    batcher = _Batcher(Items(things, solver.items.values, solver.pinned), solver, target, options)
    batcher.collect()
    batches = [members for members in batcher.members if len(members) > 1]
    return [*things] if not batches else _within_peak(batcher.items, batches, most)


@define(eq=False)
class _Batcher:
    """Things by number; ``members`` are the numbers in the batch of each thing that stands for one, else empty."""

    items: Items
    solver: Solver
    target: TargetSpec
    options: FusionOptions
    order: ContractionOrder = field(init=False)
    members: list[list[int]] = field(init=False)
    _into: list[int] = field(init=False)
    _work: list[float] = field(init=False)
    _model: CostModel = field(init=False)

    def __attrs_post_init__(self) -> None:
        groups = self.items.groups
        self._model = cost_model(self.target)
        self.order = ContractionOrder(len(groups), self.items.edges())
        self.members = [[number] for number in range(len(groups))]
        self._into = list(range(len(groups)))
        self._work = [0.0 if g is None else self._model.of(g, self.items.values) - self._model.launch for g in groups]

    def collect(self) -> None:
        """Join kernels, those that follow one another first."""
        for first, second in (*self._vertical(), *self._side_by_side()):
            self._join(first, second)

    def _vertical(self) -> Iterator[tuple[int, int]]:
        """Yield makers and readers that no loop nest holds together, of small values or as phases of one another."""
        numbers = {id(group): number for number, group in enumerate(self.solver.groups) if group is not None}
        values = self.items.values
        for tensor, readers in self.items.readers.items():
            maker = self.items.makers.get(tensor)
            if maker is None or not self._may(maker):
                continue
            is_small = self._is_small(maker, values.bytes_at_hints(tensor))
            for reader in readers:
                if not self._may(reader) or not (is_small or self._may_be_phases(maker, reader)):
                    continue
                pair = (numbers[id(self.items.groups[number])] for number in (maker, reader))
                outcome = self.solver.try_pair(*pair)
                if isinstance(outcome, Refused) and outcome.reason in NESTS_DIFFER:
                    yield maker, reader

    def _side_by_side(self) -> Iterator[tuple[int, int]]:
        """Yield kernels that read one tensor, small ones or element-wise ones, then small ones in the graph's order."""
        for readers in self.items.readers.values():
            yield from pairwise(number for number in readers if self._is_little_work(number))
            yield from pairwise(number for number in readers if self._is_elementwise(number))
        yield from pairwise(number for number in range(len(self.items.groups)) if self._is_little_work(number))

    def _may_be_phases(self, maker: int, reader: int) -> bool:
        first, second = self.items.groups[maker], self.items.groups[reader]
        assert first is not None
        assert second is not None
        return may_be_phases(first, second, self.items.values, self.target)

    @property
    def _cores(self) -> int:
        """What costs are shared by: those of NPUs are of one core, those of a CPU of the machine."""
        return max(1, self.target.cores)

    def _is_small(self, maker: int, count: int) -> bool:
        """True where ``count`` bytes that ``maker`` passes on take less time than a launch, or hardly any beside it."""
        time = count / self._model.read + count / self._model.write
        return time / self._cores <= self._model.launch or time <= self._work[maker] * LITTLE

    def _is_elementwise(self, number: int) -> bool:
        group = self.items.groups[number]
        return group is not None and self._may(number) and not group.reduced and not group.scanned

    def _is_little_work(self, number: int) -> bool:
        return self._may(number) and self._work[number] / self._cores <= self._model.launch

    def _may(self, number: int) -> bool:
        group = self.items.groups[number]
        if group is None or (self.options.scopes and group.scope is None):
            return False
        return all(self.options.allows(unit.node.name, origin_of(unit.node)) for unit in group.units)

    def _join(self, first: int, second: int) -> None:
        a, b = self._find(first), self._find(second)
        if a == b or self._refuses(sorted((*self.members[a], *self.members[b]))):
            return
        kept = self.order.contract(a, b)
        if kept is None:
            return  # a path through another node joins them
        gone = b if kept == a else a
        self.members[kept] = sorted((*self.members[kept], *self.members[gone]))
        self.members[gone] = []
        self._into[gone] = kept

    def _find(self, number: int) -> int:
        while self._into[number] != number:
            number = self._into[number]
        return number

    def _refuses(self, members: list[int]) -> bool:
        """True where a batch of ``members`` is more than the options or the target allow."""
        groups = _groups(self.items, members)
        if len(groups) > self.options.max_parts or len({group.scope for group in groups}) > 1:
            return True
        operators = {unit.node.name for group in groups for unit in group.units}
        made = {name for group in groups for name in group.outputs}
        values = self.items.values
        read = {source for group in groups for name in group.inputs if (source := values.behind(name)) is not None}
        needed = {name for group in groups for name in group.needs} - read
        inputs, outputs = len(read - made), len(_kept(self.items, members))
        return (
            len(operators) > self.options.max_operators
            or inputs > self.options.most_inputs(self.target)
            or outputs > self.options.most_outputs(self.target)
            or inputs + outputs > self.target.limits.arguments
            or bool(needed & made)  # sizes of one part would only be known when the other has run
        )


def _groups(items: Items, members: Sequence[int]) -> list[Group]:
    return [group for number in members if (group := items.groups[number]) is not None]


def _kept(items: Items, members: Sequence[int]) -> frozenset[str]:
    """Return the values that ``members`` make and others read."""
    inside = set(members)
    made = [name for group in _groups(items, members) for name in group.outputs]
    return frozenset(
        name for name in made if name in items.pinned or any(r not in inside for r in items.readers.get(name, ()))
    )


def _within_peak(items: Items, batches: list[list[int]], most: int) -> list[Step]:
    """Return the arrangement with those ``batches`` that need hardly more memory at the hints than kernels one by one.

    They never need more than ``most`` where those do not.
    """
    apart = peak_of(items.things, items.pinned, items.values)
    allowed = max(apart, min(most, int(apart * (1 + MARGIN))))
    for _ in range(MOST_TRIES):
        steps = _arranged(items, batches)
        weighed = [_as_group(step) if isinstance(step, Batch) else step for step in steps]
        peaks = peaks_above(allowed, weighed, items.pinned, items.values)
        if not peaks:
            return steps
        culprits = [steps[peak.at] for peak in peaks]
        parts = {id(group) for step in culprits if isinstance(step, Batch) for group in step.parts}
        if not parts:
            break
        batches = [
            half
            for members in batches
            for half in (_halves(members) if id(items.groups[members[0]]) in parts else (members,))
        ]
        if not batches:
            break
    return [*items.things]


def _halves(members: list[int]) -> list[list[int]]:
    """Return the parts of a batch in two launches, as far as either has several."""
    middle = (len(members) + 1) // 2
    return [half for half in (members[:middle], members[middle:]) if len(half) > 1 and len(half) < len(members)]


def _arranged(items: Items, batches: list[list[int]]) -> list[Step]:
    order = ContractionOrder(len(items.groups), items.edges())
    steps: dict[int, Step] = dict(enumerate(items.things))
    for members in batches:
        last = members[0]
        for number in members[1:]:
            kept = order.contract(last, number)
            assert kept is not None, "a part of what makes no cycle makes none"
            steps.pop(number if kept == last else last)
            last = kept
        steps[last] = Batch(tuple(_groups(items, members)), _kept(items, members))
    return [steps[number] for number in sorted(steps, key=order.position)]


def _as_group(batch: Batch) -> Group:
    """Return ``batch`` as what it is to memory: all it makes is there at once, and nothing is written over."""
    outputs: dict[str, Layout] = {name: () for group in batch.parts for name in group.outputs}
    inputs: dict[str, tuple[Layout, ...]] = {name: () for group in batch.parts for name in group.inputs}
    needs = {name: None for group in batch.parts for name in group.needs}
    return Group([unit for group in batch.parts for unit in group.units], (), inputs, outputs, needs=needs)
