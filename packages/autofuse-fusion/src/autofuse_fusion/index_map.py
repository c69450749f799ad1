"""Index maps: values that are never made, because whoever reads them reads the tensor behind them at another index.

A slice, a transpose or a flip is a *leaf* of its kernels: a name, a shape, and for each dim of the tensor behind it the
index there as a sum over the leaf's own dims::

    y = x[2:n, ::-1]      y[i, j] is x at (2 + i, m - 1 - j)
    y = transpose(x)      y[i, j] is x at (j, i)
    y = x[indices]        y[i, j] is x at (operand 0, j)            the operand varies along i

Two readings of one tensor through different maps are different leaves: axes do not unite over them.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from attrs import evolve, frozen
from autofuse_ir.dims import Dim, const

Number: TypeAlias = bool | int | float
_ZERO, _ONE = const(0), const(1)


@frozen
class Place:
    """An index: ``offset + sum(step * index of the leaf's dim) + scale * operand``; each dim stands in one term."""

    terms: tuple[tuple[int, Dim], ...] = ()
    offset: Dim = _ZERO
    operand: int | None = None
    scale: Dim = _ONE

    @property
    def dims(self) -> tuple[int, ...]:
        """The dims of the leaf it depends on."""
        return tuple(dim for dim, _ in self.terms)

    def through(self, outer: tuple["Place", ...]) -> "Place | None":
        """Return this index where each dim it depends on is itself the index ``outer`` of further dims.

        None where two operands would meet in one index.
        """
        terms: dict[int, Dim] = {}
        offset, operand, scale = self.offset, self.operand, self.scale
        for dim, step in self.terms:
            place = outer[dim]
            offset = offset + step * place.offset
            for further, its in place.terms:
                terms[further] = terms.get(further, _ZERO) + step * its
            if place.operand is not None:
                if operand is not None:
                    return None
                operand, scale = place.operand, step * place.scale
        return Place(_sorted(terms), offset, operand, scale)


def at(dim: int, step: Dim = _ONE, offset: Dim = _ZERO) -> Place:
    """Return the index ``offset + step * dim``."""
    return Place(((dim, step),), offset)


def still(offset: Dim = _ZERO) -> Place:
    """Return the constant index ``offset``."""
    return Place((), offset)


def given(operand: int) -> Place:
    """Return the index that index operand number ``operand`` holds."""
    return Place((), _ZERO, operand)


def plain(rank: int) -> tuple[Place, ...]:
    """Return the indices of a tensor of ``rank`` as it is."""
    return tuple([at(dim) for dim in range(rank)])


def renumbered(place: Place, dims: Mapping[int, int]) -> Place:
    """Return ``place`` with its dims under other numbers."""
    return evolve(place, terms=_sorted({dims[dim]: step for dim, step in place.terms}))


def summed(places: Iterable[tuple[Place, Dim]]) -> Place:
    """Return the sum of indices without operands, each times its factor."""
    terms: dict[int, Dim] = {}
    offset = _ZERO
    for place, factor in places:
        assert place.operand is None
        offset = offset + factor * place.offset
        for dim, step in place.terms:
            terms[dim] = terms.get(dim, _ZERO) + factor * step
    return Place(_sorted(terms), offset)


def _sorted(terms: Mapping[int, Dim]) -> tuple[tuple[int, Dim], ...]:
    return tuple([(dim, terms[dim]) for dim in sorted(terms) if terms[dim] != 0])


@frozen
class Viewed:
    """The leaf that is ``source``, taken for a row-major tensor of shape ``memory``, at ``places``.

    ``partial``: it may reach outside, where its content is of no consequence. ``fill``: it may reach outside, where it
    is that number.
    With an index operand, reaching outside is an error of the run.
    """

    source: str
    memory: tuple[Dim, ...]
    places: tuple[Place, ...]
    partial: bool = False
    fill: Number | None = None

    @property
    def gathers(self) -> bool:
        """True where an index is a value."""
        return any(place.operand is not None for place in self.places)

    def is_whole(self, shape: tuple[Dim, ...]) -> bool:
        """True where, over ``shape``, it is its source as it is."""
        return self == Viewed(self.source, shape, plain(len(shape)))


@frozen
class Position:
    """The leaf that is an index itself, as integers."""

    place: Place


Leaf: TypeAlias = Viewed | Position


def sizes_of(leaf: Leaf) -> tuple[Dim, ...]:
    """Return the sizes that the map of ``leaf`` is made of."""
    places = leaf.places if isinstance(leaf, Viewed) else (leaf.place,)
    memory = leaf.memory if isinstance(leaf, Viewed) else ()
    steps = [step for place in places for _, step in place.terms]
    return (*memory, *steps, *(size for place in places for size in (place.offset, place.scale)))


def composed(inner: Leaf, outer: tuple[Place, ...], partial: bool) -> Leaf | None:
    """Return the leaf that reads ``inner`` at the indices ``outer``; None where two operands would meet."""
    if isinstance(inner, Position):
        place = inner.place.through(outer)
        return None if place is None or place.operand is not None else Position(place)
    places = [place.through(outer) for place in inner.places]
    found = tuple([place for place in places if place is not None])
    return evolve(inner, places=found, partial=inner.partial or partial) if len(found) == len(places) else None
