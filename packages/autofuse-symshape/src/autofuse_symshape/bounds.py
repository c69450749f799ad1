"""Bounds of sizes beyond plain interval arithmetic.

Extrema, quotients and remainders are compared with their own operands, and a polynomial in which every symbol has
degree 1 is bounded by its values at the corners of the ranges, where it has its extremes.
"""

from collections.abc import Mapping, MutableMapping
from itertools import product
from typing import TypeAlias

from autofuse_ir.dims import Atom, CeilDiv, Compare, Dim, FloorDiv, Max, Min, Mod, Symbol
from autofuse_ir.dims_eval import bounds
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN
from autofuse_ir.errors import IrError

Ranges: TypeAlias = Mapping[str, tuple[int, int]]

_MAX_DEPTH = 4
"""Most extrema and quotients that one comparison is taken apart at."""
_MAX_CORNERS = 6
"""Most variables of a polynomial whose corners are visited."""


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
    try:
        return _decided(cond, cond.right - cond.left, ranges)
    except IrError:  # the difference leaves int64
        return None


def _decided(cond: Compare, difference: Dim, ranges: Ranges) -> bool | None:
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
    if is_linear(dim):  # the interval is exact: there is nothing more to see
        return False
    if _least_corner(dim, ranges) >= least:
        return True
    if depth == 0:
        return False
    for monomial, factor in dim.terms:
        if len(monomial) != 1:
            continue
        match monomial[0]:
            case Min(operands) | Max(operands) as atom:
                rest = dim - atom.dim * factor
                # A minimum is at most each operand and equals one of them; a maximum the other way round.
                some = isinstance(atom, Max) == (factor > 0)
                proofs = (at_least(rest + operand * factor, least, ranges, depth - 1) for operand in operands)
                return any(proofs) if some else all(proofs)
            case FloorDiv(_, right) | CeilDiv(_, right) as atom if (right.constant_value or 0) > 0:
                if _without_quotient(dim, atom, factor, least, ranges, depth):
                    return True
            case Mod(_, right) as atom if bounds(right, ranges)[0] >= 1:
                # A remainder is 0 at least, and right - 1 at most.
                rest, most = dim - atom.dim * factor, right - 1
                return at_least(rest if factor > 0 else rest + most * factor, least, ranges, depth - 1)
            case _:
                pass
    return False


def is_linear(dim: Dim) -> bool:
    """Whether ``dim`` is a sum of multiples of different symbols."""
    return all(not monomial or (len(monomial) == 1 and isinstance(monomial[0], Symbol)) for monomial, _ in dim.terms)


def _without_quotient(dim: Dim, atom: FloorDiv | CeilDiv, factor: int, least: int, ranges: Ranges, depth: int) -> bool:
    """The proof with ``p // d`` replaced by its bounds ``(p - d + 1) / d`` and ``p / d``, everything times ``d``."""
    divisor = atom.right.constant_value
    assert divisor is not None
    down, up = (divisor - 1, 0) if isinstance(atom, FloorDiv) else (0, divisor - 1)
    try:
        scaled = (dim - atom.dim * factor) * divisor + atom.left * factor
    except IrError:  # beyond int64
        return False
    slack = -factor * down if factor > 0 else factor * up
    return at_least(scaled, divisor * least - divisor + 1 - slack, ranges, depth - 1)


def _least_corner(dim: Dim, ranges: Ranges) -> int:
    """The least value of a polynomial that is linear in each variable; INT64_MIN for any other."""
    variables: dict[Atom, None] = {}
    for monomial, _ in dim.terms:
        if len(set(monomial)) != len(monomial):
            return INT64_MIN
        variables.update(dict.fromkeys(monomial))
    if not 0 < len(variables) <= _MAX_CORNERS:
        return INT64_MIN
    intervals = [bounds(atom.dim, ranges) for atom in variables]
    if any(low == INT64_MIN or high == INT64_MAX for low, high in intervals):
        return INT64_MIN
    return min(_value(dim, dict(zip(variables, corner, strict=True))) for corner in product(*intervals))


def _value(dim: Dim, values: Mapping[Atom, int]) -> int:
    total = 0
    for monomial, factor in dim.terms:
        term = factor
        for atom in monomial:
            term *= values[atom]
        total += term
    return total
