"""Equalities that hold in every run, as replacements: of two equal sizes one is written everywhere."""

from collections.abc import Mapping

from autofuse_ir.dims import Cond, Dim, Symbol, free_symbols
from autofuse_ir.dims_eval import substitute
from autofuse_ir.errors import IrError


class Equalities:
    """Replaces symbols by what they equal: an earlier symbol, a constant, or a short expression of earlier symbols."""

    def __init__(self) -> None:
        self._rank: dict[str, int] = {}
        self._replaced: dict[str, Dim] = {}
        self._normal: dict[Dim | Cond, Dim | Cond] = {}

    def rank(self, name: str) -> None:
        """Note that symbol ``name`` comes after the ones known so far: it is replaced before they are."""
        self._rank.setdefault(name, len(self._rank))

    @property
    def replaced(self) -> Mapping[str, Dim]:
        """What stands for each symbol that is no longer written."""
        return self._replaced

    def normal(self, dim: Dim) -> Dim:
        """``dim`` with replaced symbols replaced."""
        if not self._replaced:
            return dim
        known = self._normal.get(dim)
        if known is None:
            known = self._normal[dim] = substitute(dim, self._replaced)
        assert isinstance(known, Dim)
        return known

    def normal_cond(self, cond: Cond) -> Cond:
        """``cond`` with replaced symbols replaced; as it is where the replacement has no value."""
        if not self._replaced:
            return cond
        known = self._normal.get(cond)
        if known is None:
            try:
                known = substitute(cond, self._replaced)
            except IrError:
                known = cond
            self._normal[cond] = known
        assert isinstance(known, Cond)
        return known

    def learn(self, left: Dim, right: Dim) -> str | None:
        """Replace a symbol because ``left == right``, and return its name; None where none can be isolated."""
        solved = _solved(left - right, self._rank)
        if solved is None:
            return None
        name, value = solved
        self._replaced = {old: substitute(dim, {name: value}) for old, dim in self._replaced.items()}
        self._replaced[name] = value
        self._normal.clear()
        return name


_LONGEST_REPLACEMENT = 4
"""Most terms of an expression that replaces a symbol: longer ones make sizes unreadable and slow to compare."""


def _solved(difference: Dim, rank: Mapping[str, int]) -> tuple[str, Dim] | None:
    """The latest symbol that ``difference == 0`` gives as a short expression of the others, and that expression."""
    if len(difference.terms) - 1 > _LONGEST_REPLACEMENT:
        return None
    best: tuple[int, str, Dim] | None = None
    for monomial, factor in difference.terms:
        if len(monomial) != 1 or not isinstance(monomial[0], Symbol) or factor not in (1, -1):
            continue
        name = monomial[0].name
        rest = difference - monomial[0].dim * factor
        if name in free_symbols(rest):
            continue
        candidate = (rank.get(name, -1), name, rest * -factor)
        if best is None or candidate[:2] > best[:2]:
            best = candidate
    if best is None or any(rank.get(other, -1) > best[0] for other in free_symbols(best[2])):
        return None
    return best[1], best[2]
