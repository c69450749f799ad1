"""How the axes of a nest lie in another one."""

from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim

from autofuse_fusion.axes import Layout, Nest, pair_axes

AxisPair: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@frozen
class Move:
    """How the axes of an old nest lie in a new one: pairs of old and new axes; new axes in no pair are new to it.

    ``stretched`` are new axes along which the old nest has size 1 or the new size, decided by the run.
    """

    pairs: tuple[AxisPair, ...]
    old: Nest
    new: Nest
    stretched: frozenset[int] = frozenset()

    @property
    def keeps(self) -> bool:
        """True when nothing changes."""
        return self.old == self.new and all(o == n and len(o) == 1 for o, n in self.pairs)

    def __call__(self, layout: Layout) -> Layout | None:
        """Return ``layout`` on the new nest; None where the value varies along only some of the axes that unite."""
        moved: list[Dim | None] = [None] * len(self.new)
        for olds, news in self.pairs:
            entries = [layout[k] for k in olds]
            if all(entry is None for entry in entries):
                continue
            if all(entry == self.old[k] for entry, k in zip(entries, olds, strict=True)):
                for axis in news:
                    moved[axis] = self.old[olds[0]] if axis in self.stretched else self.new[axis]
            elif len(olds) == len(news) == 1:
                moved[news[0]] = entries[0]
            else:
                return None
        return tuple(moved)

    def follow(self, axes: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return what ``axes`` of the old nest became; None where they unite with others."""
        found: list[int] = []
        for olds, news in self.pairs:
            inside = [k in axes for k in olds]
            if all(inside):
                found += news
            elif any(inside):
                return None
        return tuple(sorted(found))


@frozen
class Path:
    """Moves one after the other, at least one."""

    moves: tuple[Move, ...]

    @property
    def old(self) -> Nest:
        """The nest it begins with."""
        return self.moves[0].old

    @property
    def new(self) -> Nest:
        """The nest it leads to."""
        return self.moves[-1].new

    @property
    def keeps(self) -> bool:
        """True when nothing changes."""
        return all(move.keeps for move in self.moves)

    def __call__(self, layout: Layout) -> Layout | None:
        """Return ``layout`` on the new nest; None where the value varies along only some of the axes that unite."""
        found: Layout | None = layout
        for move in self.moves:
            found = None if found is None else move(found)
        return found

    def follow(self, axes: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return what ``axes`` of the old nest became; None where they unite with others."""
        found: tuple[int, ...] | None = axes
        for move in self.moves:
            found = None if found is None else move.follow(found)
        return found

    def then(self, move: Move) -> "Path":
        """Return this path and ``move``."""
        return self if move.keeps else Path((*self.moves, move))


def staying(nest: Nest) -> Path:
    """Return the path that leaves ``nest`` as it is."""
    return Path((Move(tuple(((k,), (k,)) for k in range(len(nest))), nest, nest),))


def recut(nest: Nest, cuts: tuple[tuple[tuple[int, ...], tuple[Dim, ...]], ...]) -> Move | None:
    """Return the move that gives the axes of each cut its sizes; None where they are no neighbours or do not match."""
    begins = {axes[0]: (axes, sizes) for axes, sizes in cuts if len(axes) != len(sizes)}
    within = {axis for axes, _ in begins.values() for axis in axes}
    pairs: list[AxisPair] = []
    new: list[Dim] = []
    for k, size in enumerate(nest):
        if k in begins:
            axes, sizes = begins[k]
            if axes != tuple(range(k, k + len(axes))):
                return None
            parts = _paired(axes, nest, len(new), sizes)
            if parts is None:
                return None
            pairs += parts
            new += sizes
        elif k not in within:
            pairs.append(((k,), (len(new),)))
            new.append(size)
    return Move(tuple(pairs), nest, tuple(new))


def _paired(axes: tuple[int, ...], nest: Nest, at: int, sizes: tuple[Dim, ...]) -> list[AxisPair] | None:
    """Return which of the axes from ``at`` on each of ``axes`` becomes; all together where one stands on a side."""
    news = tuple(range(at, at + len(sizes)))
    if len(axes) == 1 or len(news) == 1:
        return [(axes, news)]
    parts = pair_axes(tuple(nest[k] for k in axes), sizes)
    if parts is None:
        return None
    return [((axis,), tuple(news[k] for k in part)) for axis, part in zip(axes, parts, strict=True)]
