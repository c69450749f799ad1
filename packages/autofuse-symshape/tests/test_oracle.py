"""The oracle is sound: what it says holds at every binding that satisfies the facts it was told."""

from typing import Any

import pytest
from autofuse_ir.dims import (
    Cond,
    Dim,
    all_of,
    any_of,
    as_dim,
    ceildiv,
    const,
    dim_max,
    dim_min,
    eq,
    floordiv,
    ge,
    gt,
    le,
    lt,
    mod,
    ne,
    select,
    symbol,
)
from autofuse_ir.dims_eval import evaluate, holds
from autofuse_ir.errors import IrError
from autofuse_symshape.bounds import at_least
from autofuse_symshape.divisions import exact_quotient, without_exact_divisions
from autofuse_symshape.oracle import Answer, Oracle, Verdict
from autofuse_symshape.prove import from_sympy, to_sympy
from autofuse_symshape.prove import holds as holds_by_algebra
from autofuse_symshape.rewrite import rewrite
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("a", "b", "c")
A, B, C = (symbol(name) for name in NAMES)
RANGES = {"a": (0, 4), "b": (1, 5), "c": (-2, 3)}


def _operations(inner: Any) -> Any:
    pairs = st.tuples(inner, inner)
    relations = st.sampled_from([eq, ne, le, lt])
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: dim_min(*p)),
        pairs.map(lambda p: dim_max(*p)),
        st.tuples(inner, st.integers(1, 4)).map(lambda p: floordiv(*p)),
        st.tuples(inner, st.integers(1, 4)).map(lambda p: ceildiv(*p)),
        st.tuples(inner, st.integers(2, 4)).map(lambda p: mod(*p)),
        st.tuples(relations, inner, inner, inner, inner).map(lambda p: select(p[0](p[1], p[2]), p[3], p[4])),
    )


leaves = st.one_of(st.sampled_from([A, B, C]), st.integers(-3, 5).map(const))
dims = st.recursive(leaves, _operations, max_leaves=6)
comparisons = st.tuples(st.sampled_from([eq, ne, le, lt, ge, gt]), dims, dims).map(lambda p: p[0](p[1], p[2]))
conds = st.one_of(
    comparisons,
    st.lists(comparisons, min_size=2, max_size=3).map(lambda parts: any_of(*parts)),
    st.lists(comparisons, min_size=2, max_size=3).map(lambda parts: all_of(*parts)),
)
bindings = st.fixed_dictionaries({name: st.integers(low, high) for name, (low, high) in RANGES.items()})


@given(st.lists(conds, max_size=3), conds, st.lists(bindings, min_size=8, max_size=8))
def test_answers_hold_wherever_the_facts_do(facts: list[Cond], asked: Cond, points: list[dict[str, int]]) -> None:
    oracle = Oracle(RANGES)
    for fact in facts:
        oracle.assume(fact)
    verdict = oracle.ask(asked).verdict
    for point in points:
        if verdict is not Verdict.UNKNOWN and all(holds(fact, point) for fact in facts):
            assert holds(asked, point) == (verdict is Verdict.YES)


@given(st.lists(conds, max_size=3), dims, st.lists(bindings, min_size=8, max_size=8))
def test_normal_forms_are_equal_wherever_the_facts_hold(
    facts: list[Cond], dim: Dim, points: list[dict[str, int]]
) -> None:
    oracle = Oracle(RANGES)
    for fact in facts:
        oracle.assume(fact)
    normal = oracle.normal(dim)
    for point in points:
        if all(holds(fact, point) for fact in facts):
            assert evaluate(normal, point) == evaluate(dim, point)


@given(dims, st.integers(-20, 20), bindings)
def test_bounds_are_true_everywhere(dim: Dim, least: int, point: dict[str, int]) -> None:
    if at_least(dim, least, RANGES):
        assert evaluate(dim, point) >= least


@given(dims)
def test_sympy_and_back_is_the_same_size(dim: Dim) -> None:
    assert from_sympy(to_sympy(dim)) == dim


@given(dims, dims, st.sampled_from([eq, ne, le, lt]), bindings)
def test_algebra_is_sound(left: Dim, right: Dim, relation: Any, point: dict[str, int]) -> None:
    cond = relation(left, right)
    answer = holds_by_algebra(cond, RANGES)
    if answer is not None:
        assert holds(cond, point) == answer


@given(dims, dims, bindings)
def test_an_exact_quotient_times_its_divisor_is_the_dividend(total: Dim, divisor: Dim, point: dict[str, int]) -> None:
    try:
        quotient = exact_quotient(total * divisor, divisor)
    except IrError:
        return
    if quotient is not None:
        assert quotient * divisor == total * divisor
        if evaluate(divisor, point):
            assert evaluate(quotient, point) == evaluate(total, point)


@pytest.mark.parametrize(
    ("total", "divisor", "quotient"),
    [("12*n*m + 6*n", "6*n", "2*m + 1"), ("n + 1", "n + 1", "1"), ("n*n + 2*n + 1", "n + 1", "n + 1")],
)
def test_what_divides_symbolically_has_its_quotient(total: str, divisor: str, quotient: str) -> None:
    assert exact_quotient(as_dim(total), as_dim(divisor)) == as_dim(quotient)


@pytest.mark.parametrize(("total", "divisor"), [("12*n", "5"), ("n + 1", "n"), ("n*m", "n + 1")])
def test_what_leaves_a_remainder_has_no_quotient(total: str, divisor: str) -> None:
    assert exact_quotient(as_dim(total), as_dim(divisor)) is None


@given(dims)
def test_rewriting_with_no_rule_changes_nothing(dim: Dim) -> None:
    assert rewrite(dim) is dim or rewrite(dim) == dim


@pytest.mark.parametrize(
    ("facts", "asked", "fact"),
    [
        ([], gt(A + B, 0), "ranges"),
        ([], le(dim_min(A, B), A), "bounds"),
        ([], ge(dim_max(A - 2, 0), 0), "ranges"),
        ([], ge(A * B, A), "bounds"),
        ([], ge(A * A + 1, A * 2), "algebra"),
        ([], le(floordiv(A + 1, 2), A + 1), "bounds"),
        ([eq(C, A)], ge(C, 0), "ranges"),
        ([any_of(eq(A, B), eq(A, 1), eq(B, 1))], any_of(eq(A, B), eq(A, 1), eq(B, 1), eq(C, 1)), "asserted"),
        ([any_of(eq(A, B), eq(A, 1))], any_of(eq(select(eq(A, 1), B, A), B), eq(C, 0)), ""),
        ([eq(mod(A, 2), 0)], eq(floordiv(A, 2) * 2, A), "arithmetic"),
    ],
)
def test_what_is_known_is_proved_and_the_fact_is_named(facts: list[Cond], asked: Cond, fact: str) -> None:
    oracle = Oracle(RANGES)
    for each in facts:
        oracle.assume(each)
    answer = oracle.ask(asked)
    assert answer.verdict is Verdict.YES
    assert answer.fact.startswith(fact)


def test_what_is_not_known_is_unknown() -> None:
    assert Oracle(RANGES).ask(eq(A, B)) == Answer(Verdict.UNKNOWN)


def test_divisions_are_exact_only_where_that_is_known() -> None:
    dim = floordiv(A, 3) * 3 + 1
    assert without_exact_divisions(dim, lambda divisor, dividend: False) == dim
    assert without_exact_divisions(dim, lambda divisor, dividend: (divisor, dividend) == (const(3), A)) == A + 1
