"""Conditions in the form a reader would write: about the size itself, not about a quotient or an extremum of it."""

from autofuse_ir.dims import (
    AllOf,
    AnyOf,
    CeilDiv,
    Compare,
    Cond,
    Dim,
    FloorDiv,
    Max,
    Min,
    all_of,
    any_of,
    const,
    ge,
    le,
)
from autofuse_ir.dims_polynomial import INT64_MAX
from autofuse_ir.dims_walk import as_node


def clearer(cond: Cond) -> Cond:
    """A condition that holds exactly where ``cond`` does.

    ``6 <= ceildiv(n, 2)`` is ``11 <= n``, ``n // 48 == 1`` is ``48 <= n and n <= 95``, ``n == min(n, 9)`` is
    ``n <= 9``.
    """
    node = as_node(cond)
    match node:
        case AllOf(conds):
            return all_of(*[clearer(each) for each in conds])
        case AnyOf(conds):
            return any_of(*[clearer(each) for each in conds])
        case Compare(relation, left, right) if relation != "!=":
            difference = left - right
            found = _of_quotient(relation, difference)
            if found is None and relation == "==":
                found = _of_extremum(difference)
            return cond if found is None else found
        case _:
            return cond


def _of_quotient(relation: str, difference: Dim) -> Cond | None:
    """``factor * quotient + offset <relation> 0`` as a condition on the dividend."""
    terms = [term for term in difference.terms if term[0]]
    if len(terms) != 1 or len(terms[0][0]) != 1 or terms[0][1] not in (1, -1):
        return None
    atom, factor = terms[0][0][0], terms[0][1]
    divisor = atom.right.constant_value if isinstance(atom, FloorDiv | CeilDiv) else None
    if not isinstance(atom, FloorDiv | CeilDiv) or divisor is None or divisor <= 0:
        return None
    limit = -difference.offset if factor == 1 else difference.offset
    if abs(limit) * divisor > INT64_MAX // 2:
        return None
    if relation == "==":
        return clearer(all_of(_at_most(atom, divisor, limit), _at_least(atom, divisor, limit)))
    strict = relation == "<"
    if factor == 1:
        return clearer(_at_most(atom, divisor, limit - strict))
    return clearer(_at_least(atom, divisor, limit + strict))


def _at_most(atom: FloorDiv | CeilDiv, divisor: int, limit: int) -> Cond:
    return le(atom.left, limit * divisor + (divisor - 1 if isinstance(atom, FloorDiv) else 0))


def _at_least(atom: FloorDiv | CeilDiv, divisor: int, limit: int) -> Cond:
    return ge(atom.left, limit * divisor - (divisor - 1 if isinstance(atom, CeilDiv) else 0))


def _of_extremum(difference: Dim) -> Cond | None:
    """``x == min(x, y)`` as ``x <= y``, and ``x == max(x, y)`` as ``y <= x``."""
    for monomial, factor in difference.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if not isinstance(atom, Min | Max) or factor not in (1, -1):
            continue
        rest = (difference - atom.dim * factor) * const(-factor)
        if rest in atom.operands:
            order = le if isinstance(atom, Min) else ge
            return all_of(*[clearer(order(rest, other)) for other in atom.operands if other != rest])
    return None
