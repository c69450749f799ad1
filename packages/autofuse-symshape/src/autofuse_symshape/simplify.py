"""Sizes simplified by what is known of their symbols: choices made, extrema decided."""

from autofuse_ir.dims import (
    Cond,
    Dim,
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
