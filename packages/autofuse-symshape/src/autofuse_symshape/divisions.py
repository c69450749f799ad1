"""Exact division of sizes: polynomials that divide, and quotients that leave no remainder."""

from collections.abc import Callable

from autofuse_ir.dims import CeilDiv, Dim, FloorDiv, ceildiv, const, floordiv
from autofuse_ir.dims_polynomial import Term, polynomial


def _quotient_of_terms(total: Dim, divisor: Dim) -> Dim | None:
    """``total / divisor`` where the one term of ``divisor`` divides every term of ``total``; None where not.

    Holds wherever ``divisor`` is not 0; there it is what the sizes say that are not 0.
    """
    if len(divisor.terms) != 1:
        return None
    by, factor = divisor.terms[0]
    terms: list[Term] = []
    for monomial, coefficient in total.terms:
        rest = list(monomial)
        for atom in by:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % factor:
            return None
        terms.append((tuple(rest), coefficient // factor))
    return polynomial(terms)


def exact_quotient(total: Dim, divisor: Dim) -> Dim | None:
    """``total / divisor`` where it divides symbolically; None where that cannot be seen."""
    if total == divisor:
        return const(1)
    simple = _quotient_of_terms(total, divisor)
    if simple is not None:
        return simple
    if len(divisor.terms) < 2:
        return None
    # Long division by the leading term: it ends, because every step removes the leading monomial.
    lead = polynomial(divisor.terms[:1])
    quotient, rest = const(0), total
    for _ in range(2 * len(total.terms) + 2):
        if rest == const(0):
            return quotient
        step = _quotient_of_terms(polynomial(rest.terms[:1]), lead)
        if step is None:
            return None
        quotient, rest = quotient + step, rest - step * divisor
    return None


def divided(total: Dim, divisor: Dim, *, up: bool = False) -> Dim:
    """``total / divisor`` rounded down (or up), for a divisor that is not 0."""
    exact = exact_quotient(total, divisor)
    if exact is not None:
        return exact
    return ceildiv(total, divisor) if up else floordiv(total, divisor)


def without_exact_divisions(dim: Dim, divides: Callable[[Dim, Dim], bool]) -> Dim:
    """``dim`` with ``d * (p // d)`` written as ``p`` wherever ``divides(d, p)``."""
    for monomial, factor in dim.terms:
        for place, atom in enumerate(monomial):
            if not isinstance(atom, FloorDiv | CeilDiv):
                continue
            rest = polynomial([((*monomial[:place], *monomial[place + 1 :]), factor)])
            others = exact_quotient(rest, atom.right)
            if others is not None and divides(atom.right, atom.left):
                return without_exact_divisions(dim - polynomial([(monomial, factor)]) + others * atom.left, divides)
    return dim


def has_division(dim: Dim) -> bool:
    """Whether a term of ``dim`` is a multiple of a quotient."""
    return any(isinstance(atom, FloorDiv | CeilDiv) for monomial, _ in dim.terms for atom in monomial)
