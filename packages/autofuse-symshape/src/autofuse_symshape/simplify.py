"""Sizes simplified by what is known of their symbols: choices made, extrema decided."""

from autofuse_ir.dims import (
    Cond,
    Dim,
    Max,
    Min,
    const,
    dim_max,
    dim_min,
    ge,
    le,
    select,
)

from autofuse_symshape.oracle import Oracle, Verdict

ZERO = const(0)
ONE = const(1)


def as_extremum(dim: Dim) -> Dim:
    """A sum with one extremum, as the extremum of sums: ``n - max(n - 3, 0)`` is ``min(3, n)``.

    Nested clamps become one: ``max(max(n - 1, 0) - 1, 0)`` is ``max(n - 2, 0)``.
    """
    if dim.atom is not None:
        return dim
    found = [(m[0], factor) for m, factor in dim.terms if len(m) == 1 and isinstance(m[0], Min | Max)]
    for atom, factor in found:
        if factor not in (1, -1) or not isinstance(atom, Min | Max):
            continue
        rest = dim - atom.dim * factor
        operands = [rest + operand * factor for operand in atom.operands]
        # Of several extrema, one that something else cancels against: the others then stand inside it.
        if len(found) == 1 or any(operand.is_constant for operand in operands):
            pick = dim_min if isinstance(atom, Min) == (factor == 1) else dim_max
            return pick(*[as_extremum(operand) for operand in operands])
    return dim


def smaller(oracle: Oracle, a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes; one of them where the order is known."""
    a, b = as_extremum(a), as_extremum(b)
    if oracle.holds(le(a, b)):
        return a
    return b if oracle.holds(le(b, a)) else dim_min(a, b)


def larger(oracle: Oracle, a: Dim, b: Dim) -> Dim:
    """The larger of two sizes; one of them where the order is known."""
    a, b = as_extremum(a), as_extremum(b)
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
