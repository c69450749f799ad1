"""The solver: which units share a kernel.

Pairs of groups that touch one tensor are candidates: its maker with each reader, and readers that follow one another.
The pairs that save most go first; every merge is checked again at the moment it is made. Rounds follow until nothing
changes. All work is local to a pair, so time grows nearly linearly with the graph.
"""

import itertools
from collections.abc import Iterator, Mapping

from attrs import define, field, frozen
from autofuse_ir.fused_graph import Reason
from autofuse_ir.target import TargetSpec

from autofuse_fusion.benefit import CostModel, cost_model
from autofuse_fusion.groups import Group
from autofuse_fusion.items import Items, Thing
from autofuse_fusion.legality import Fused, Refused, fused, parts_of_one
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.order import ContractionOrder

MOST_ROUNDS = 10
"""Times that all pairs are looked at again, while some of them fuse."""


@frozen
class Pair:
    """Two items that touch ``tensor``; ``vertical``: the first makes it, the second reads it."""

    first: int
    second: int
    tensor: str
    vertical: bool


@define(eq=False)
class Solver:
    """Items are numbered in topological order; those that are kernels have a ``Group``, all others None.

    Units (by their order) in ``apart`` are not fused side by side, those of different ``parts`` not at all: both would
    keep more in memory than the graph as it is.
    """

    items: Items
    target: TargetSpec
    options: FusionOptions
    apart: frozenset[int] = frozenset()
    parts: Mapping[int, int] = field(factory=dict)
    groups: list[Group | None] = field(factory=list)
    order: ContractionOrder = field(init=False)
    pinned: frozenset[str] = frozenset()
    _into: list[int] = field(factory=list)
    _live_readers: dict[str, set[int]] = field(factory=dict)
    _model: CostModel = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.groups = list(self.items.groups)
        self.order = ContractionOrder(len(self.groups), self.items.edges())
        self.pinned = self.items.pinned
        self._into = list(range(len(self.groups)))
        self._live_readers = {tensor: set(readers) for tensor, readers in self.items.readers.items()}
        self._model = cost_model(self.target)

    def solve(self) -> None:
        """Merge groups until no pair is left that may and pays; the parts of one operator first, and in any case."""
        for only_parts in (True, False):
            if not only_parts and not self.options.enable:
                return
            for _ in range(MOST_ROUNDS):
                if not self._round(only_parts):
                    break

    def find(self, item: int) -> int:
        """Return the item that ``item`` was merged into."""
        while self._into[item] != item:
            self._into[item] = self._into[self._into[item]]
            item = self._into[item]
        return item

    def things(self) -> list[Thing]:
        """Return what is left: groups as they were merged, and everything else."""
        live = [number for number in range(len(self.groups)) if self.find(number) == number]
        return [self.groups[number] or self.items.things[number] for number in live]

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs of different items that touch a tensor, in the order of the graph."""
        for tensor, readers in self.items.readers.items():
            maker = self.items.makers.get(tensor)
            listed = list(dict.fromkeys(self.find(reader) for reader in readers))
            if maker is not None:
                origin = self.find(maker)
                yield from (Pair(origin, reader, tensor, True) for reader in listed if reader != origin)
            for first, second in itertools.pairwise(listed):
                yield Pair(first, second, tensor, False)

    def try_pair(self, first: int, second: int) -> Fused | Refused:
        """Return what fusing two kernels would give, or why not; cycles are looked for last."""
        a, b = self.groups[first], self.groups[second]
        assert a is not None
        assert b is not None
        if self.order.position(first) > self.order.position(second):
            a, b = b, a
        if not parts_of_one(a, b) and self._is_unwanted(a, b):
            return Refused(Reason.MORE_PEAK_MEMORY, f"{a.name} and {b.name} in one kernel keep more tensors alive")
        outcome = fused(a, b, self._outside(first, second), self.items.values, self.target, self.options, self._model)
        if isinstance(outcome, Fused) and self.order.would_cycle(first, second):
            return Refused(Reason.WOULD_MAKE_CYCLE, f"a path through another node joins {a.name} and {b.name}")
        return outcome

    def _is_unwanted(self, a: Group, b: Group) -> bool:
        units = (*a.units, *b.units)
        if self.parts and len({self.parts.get(unit.order) for unit in units}) > 1:
            return True
        behind = any(tensor in b.inputs for tensor in a.outputs)
        return bool(self.apart) and not behind and any(unit.order in self.apart for unit in units)

    def _outside(self, first: int, second: int) -> frozenset[str]:
        """Return the outputs of both that somebody else reads."""
        kept = []
        for item in (first, second):
            group = self.groups[item]
            assert group is not None
            for tensor in group.outputs:
                others = self._live_readers.get(tensor, set())
                if tensor in self.pinned or any(reader not in (first, second) for reader in others):
                    kept.append(tensor)
        return frozenset(kept)

    def _round(self, only_parts: bool) -> bool:
        candidates = [pair for pair in self.pairs() if self._may_try(pair, only_parts)]
        candidates.sort(key=self._rank)
        merged = False
        for pair in candidates:
            first, second = self.find(pair.first), self.find(pair.second)
            if first == second:
                continue
            outcome = self.try_pair(first, second)
            if isinstance(outcome, Fused):
                self._merge(first, second, outcome.group)
                merged = True
        return merged

    def _may_try(self, pair: Pair, only_parts: bool) -> bool:
        first, second = self.groups[pair.first], self.groups[pair.second]
        if first is None or second is None:
            return False
        return not only_parts or parts_of_one(first, second)

    def _rank(self, pair: Pair) -> tuple[bool, int, int, int]:
        """Vertical pairs first, then those that share most bytes, then the order of the graph."""
        size = self.items.values.bytes_at_hints(pair.tensor)
        return (not pair.vertical, -size, self.order.position(pair.first), self.order.position(pair.second))

    def _merge(self, first: int, second: int, group: Group) -> None:
        kept = self.order.contract(first, second)
        assert kept is not None, "try_pair looked for cycles"
        gone = second if kept == first else first
        old = self.groups[gone]
        assert old is not None
        self._into[gone] = kept
        for tensor in old.inputs:
            readers = self._live_readers[tensor]
            readers.discard(gone)
            readers.add(kept)
        merged_away = [t for g in (self.groups[kept], old) if g is not None for t in g.inputs if t not in group.inputs]
        for tensor in merged_away:
            self._live_readers[tensor].discard(kept)
        self.groups[kept], self.groups[gone] = group, None
