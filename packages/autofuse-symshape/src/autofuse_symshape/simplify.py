"""Sizes simplified by what is known of their symbols: choices made, extrema decided, exact divisions divided."""

from autofuse_ir.dims import (
    CeilDiv,
    Cond,
    Dim,
    FloorDiv,
    ceildiv,
    const,
    dim_max,
    dim_min,
    eq,
    floordiv,
    ge,
    gt,
    le,
    mod,
    select,
)
from autofuse_ir.dims_polynomial import Term, polynomial

from autofuse_symshape.oracle import Oracle, Verdict

ZERO = const(0)
ONE = const(1)


def smaller(oracle: Oracle, a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes; one of them where the order is known."""
    if oracle.holds(le(a, b)):
        return a
    return b if oracle.holds(le(b, a)) else dim_min(a, b)


def larger(oracle: Oracle, a: Dim, b: Dim) -> Dim:
    """The larger of two sizes; one of them where the order is known."""
    if oracle.holds(ge(a, b)):
        return a
    return b if oracle.holds(ge(b, a)) else dim_max(a, b)


def chosen(oracle: Oracle, cond: Cond, if_true: Dim, if_false: Dim) -> Dim:
    """``if_true`` where ``cond`` holds, else ``if_false``; one of them where that is known."""
    match oracle.ask(cond).verdict:
        case Verdict.YES:
            return if_true
        case Verdict.NO:
            return if_false
        case Verdict.UNKNOWN:
            return select(cond, if_true, if_false)


def truth(oracle: Oracle, cond: Cond) -> Dim:
    """``cond`` as 1 or 0."""
    return chosen(oracle, cond, ONE, ZERO)


def quotient_of_terms(total: Dim, divisor: Dim) -> Dim | None:
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
        return ONE
    simple = quotient_of_terms(total, divisor)
    if simple is not None:
        return simple
    if len(divisor.terms) < 2:
        return None
    # Long division by the leading term: it ends, because every step removes the leading monomial.
    lead = polynomial(divisor.terms[:1])
    quotient, rest = ZERO, total
    for _ in range(2 * len(total.terms) + 2):
        if rest == ZERO:
            return quotient
        step = quotient_of_terms(polynomial(rest.terms[:1]), lead)
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


def without_exact_divisions(oracle: Oracle, dim: Dim) -> Dim:
    """``dim`` with ``d * (p // d)`` written as ``p`` wherever ``d`` is known to divide ``p``."""
    for monomial, factor in dim.terms:
        for atom in monomial:
            if not isinstance(atom, FloorDiv | CeilDiv):
                continue
            rest = list(monomial)
            rest.remove(atom)
            others = exact_quotient(polynomial([(tuple(rest), factor)]), atom.right)
            if others is not None and oracle.holds(eq(mod(atom.left, atom.right), 0)):
                return without_exact_divisions(oracle, dim - polynomial([(monomial, factor)]) + others * atom.left)
    return dim


def is_positive(oracle: Oracle, dim: Dim) -> bool:
    """Whether ``dim`` is known to be at least 1."""
    return oracle.holds(gt(dim, 0))


def is_size(oracle: Oracle, dim: Dim) -> bool:
    """Whether ``dim`` is known not to be negative."""
    return oracle.holds(ge(dim, 0))
