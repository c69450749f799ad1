"""Bounds of sizes beyond plain interval arithmetic: extrema, remainders and quotients against their own operands."""

from collections.abc import Mapping, MutableMapping
from typing import TypeAlias

from autofuse_ir.dims import Compare, Dim, Max, Min, Symbol
from autofuse_ir.dims_eval import bounds
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN

Ranges: TypeAlias = Mapping[str, tuple[int, int]]

_MAX_DEPTH = 4
"""Most extrema that one comparison is taken apart at."""


def narrowed(ranges: MutableMapping[str, tuple[int, int]], fact: Compare) -> None:
    """Narrow the range of the only symbol in ``fact``, where it stands there by itself."""
    difference = fact.right - fact.left
    terms = [term for term in difference.terms if term[0]]
    if len(terms) != 1 or len(terms[0][0]) != 1 or not isinstance(terms[0][0][0], Symbol):
        return
    name, factor, offset = terms[0][0][0].name, terms[0][1], difference.offset
    lo, hi = ranges.get(name, (INT64_MIN, INT64_MAX))
    match fact.relation:
        case "==":
            lo, hi = max(lo, -(offset // factor)), min(hi, -(offset // factor))
        case "!=":
            excluded = -(offset // factor)
            lo, hi = lo + (lo == excluded), hi - (hi == excluded)
        case _:  # factor * symbol + offset >= 0, or >= 1 where strict
            least = (1 if fact.relation == "<" else 0) - offset
            if factor > 0:
                lo = max(lo, -(-least // factor))
            else:
                hi = min(hi, least // factor)
    if lo <= hi:
        ranges[name] = (lo, hi)


def holds_by_bounds(cond: Compare, ranges: Ranges) -> bool | None:
    """Whether the comparison holds for all values in ``ranges``, or for none; None where unknown."""
    difference = cond.right - cond.left
    if cond.relation in ("==", "!="):
        if at_least(difference, 1, ranges) or at_least(-difference, 1, ranges):
            return cond.relation == "!="
        if at_least(difference, 0, ranges) and at_least(-difference, 0, ranges):
            return cond.relation == "=="
        return None
    least = 1 if cond.relation == "<" else 0
    if at_least(difference, least, ranges):
        return True
    return False if at_least(-difference, 1 - least, ranges) else None


def at_least(dim: Dim, least: int, ranges: Ranges, depth: int = _MAX_DEPTH) -> bool:
    """Whether ``dim >= least`` is proved for all values in ``ranges``."""
    if bounds(dim, ranges)[0] >= least:
        return True
    if depth == 0:
        return False
    for monomial, factor in dim.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if not isinstance(atom, Min | Max):
            continue
        rest = dim - atom.dim * factor
        # A minimum is at most each operand and equals one of them; a maximum the other way round.
        some = isinstance(atom, Max) == (factor > 0)
        proofs = (at_least(rest + operand * factor, least, ranges, depth - 1) for operand in atom.operands)
        return any(proofs) if some else all(proofs)
    return False
