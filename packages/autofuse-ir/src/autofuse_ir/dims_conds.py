"""Conditions over sizes, normalised: differences reduced, negations pushed to the comparisons, operands sorted."""

from math import gcd
from operator import attrgetter
from typing import assert_never

from autofuse_ir.dims_nodes import (
    FALSE,
    INT64_MAX,
    TRUE,
    AllOf,
    AnyCond,
    AnyOf,
    Compare,
    Cond,
    Dim,
    Monomial,
    Relation,
    Term,
    polynomial,
)


def equal(left: Dim, right: Dim) -> Cond:
    """``left == right``."""
    return _equality("==", left, right)


def unequal(left: Dim, right: Dim) -> Cond:
    """``left != right``."""
    return _equality("!=", left, right)


def at_most(left: Dim, right: Dim) -> Cond:
    """``left <= right``."""
    return _order(left, right, 0)


def below(left: Dim, right: Dim) -> Cond:
    """``left < right``."""
    return _order(left, right, 1)


def _difference(left: Dim, right: Dim) -> tuple[list[Term], int]:
    """The terms of ``left - right`` in order, coefficients not limited to int64, and its constant."""
    totals: dict[Monomial, int] = dict(left.terms)
    for monomial, factor in right.terms:
        totals[monomial] = totals.get(monomial, 0) - factor
    offset = totals.pop((), 0)
    order = sorted([term for term in totals.items() if term[1]], key=lambda term: [atom.key for atom in term[0]])
    order.sort(key=lambda term: -len(term[0]))
    return order, offset


def _sides(terms: list[Term]) -> tuple[Dim, Dim]:
    positive = [term for term in terms if term[1] > 0]
    negative = [(monomial, -factor) for monomial, factor in terms if factor < 0]
    return polynomial(positive), polynomial(negative)


def _equality(relation: Relation, left: Dim, right: Dim) -> Cond:
    terms, offset = _difference(left, right)
    if not terms:
        return TRUE if (offset == 0) == (relation == "==") else FALSE
    common = gcd(*[factor for _, factor in terms])
    if offset % common:
        return FALSE if relation == "==" else TRUE
    if terms[0][1] < 0:
        common = -common
    reduced = [(monomial, factor // common) for monomial, factor in terms]
    reduced.append(((), offset // common))
    return Compare(relation, *_sides(reduced))


def _order(left: Dim, right: Dim, slack: int) -> Cond:
    """``left - right + slack <= 0``: over integers ``a < b`` and ``a + 1 <= b`` are one condition."""
    terms, offset = _difference(left, right)
    offset += slack
    if not terms:
        return TRUE if offset <= 0 else FALSE
    common = gcd(*[factor for _, factor in terms])
    reduced = [(monomial, factor // common) for monomial, factor in terms]
    offset = -(-offset // common)  # g*p + k <= 0 holds where p <= floor(-k/g), that is p + ceil(k/g) <= 0
    # a + 1 <= b reads better as a < b, and one value past int64 can only be written that way.
    strict = (offset == 1 and any(factor > 0 for _, factor in reduced)) or offset == INT64_MAX + 1
    if strict:
        offset -= 1
    reduced.append(((), offset))
    return Compare("<" if strict else "<=", *_sides(reduced))


def negate(cond: Cond) -> Cond:
    """The condition that holds where ``cond`` does not."""
    done: dict[Cond, Cond] = {}
    # Children first on an explicit stack: shared operands are negated once, and depth costs no recursion.
    stack = [cond]
    while stack:
        top: AnyCond = stack[-1]  # type: ignore[assignment]
        if top in done:
            stack.pop()
            continue
        match top:
            case Compare("==", left, right):
                done[top] = Compare("!=", left, right)
            case Compare("!=", left, right):
                done[top] = Compare("==", left, right)
            case Compare("<=", left, right):
                done[top] = below(right, left)
            case Compare("<", left, right):
                done[top] = at_most(right, left)
            case AllOf(operands) | AnyOf(operands):
                missing = [operand for operand in operands if operand not in done]
                if missing:
                    stack.extend(missing)
                    continue
                flipped = tuple([done[operand] for operand in operands])
                done[top] = any_of(*flipped) if isinstance(top, AllOf) else all_of(*flipped)
            case Compare():
                raise AssertionError(top.relation)
            case never:
                assert_never(never)
    return done[cond]


def all_of(*conds: Cond) -> Cond:
    """Holds where every one of ``conds`` holds; `TRUE` for none."""
    return _junction(AllOf, TRUE, FALSE, conds)


def any_of(*conds: Cond) -> Cond:
    """Holds where some one of ``conds`` holds; `FALSE` for none."""
    return _junction(AnyOf, FALSE, TRUE, conds)


def _junction(kind: type[AllOf] | type[AnyOf], neutral: Cond, absorbing: Cond, conds: tuple[Cond, ...]) -> Cond:
    kept: dict[Cond, None] = {}
    for cond in conds:
        for operand in cond.operands if isinstance(cond, kind) else (cond,):
            if operand is absorbing:
                return absorbing
            if operand is not neutral:
                kept[operand] = None
    if any(isinstance(operand, Compare) and negate(operand) in kept for operand in kept):
        return absorbing
    ordered = tuple(sorted(kept, key=attrgetter("key")))
    if not ordered:
        return neutral
    return ordered[0] if len(ordered) == 1 else kind(ordered)
