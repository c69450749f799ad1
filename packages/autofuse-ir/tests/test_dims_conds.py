import pytest
from autofuse_ir.dims import (
    FALSE,
    INT64_MAX,
    INT64_MIN,
    TRUE,
    Cond,
    all_of,
    any_of,
    const,
    eq,
    floordiv,
    ge,
    gt,
    le,
    lt,
    ne,
    negate,
    symbol,
)
from autofuse_ir.dims_eval import holds

x, y, z = symbol("x"), symbol("y"), symbol("z")


@pytest.mark.parametrize(
    ("cond", "expected"),
    [
        (eq(x, 1), eq(1, x)),
        (eq(2 * x + 2, 4 * y), eq(x + 1, 2 * y)),
        (eq(x + y, y), eq(x, 0)),
        (gt(x, y), lt(y, x)),
        (ge(x, y), le(y, x)),
        (lt(x, y), le(x + 1, y)),
        (lt(x, 6), le(x, 5)),
        (gt(2 * x, 5), ge(x, 3)),
        (le(2 * x, 5), le(x, 2)),
        (negate(lt(x, y)), le(y, x)),
        (negate(eq(x, y)), ne(x, y)),
        (negate(all_of(eq(x, 1), lt(y, 2))), any_of(ne(x, 1), ge(y, 2))),
        (all_of(eq(x, 1), all_of(eq(y, 2), eq(x, 1)), TRUE), all_of(eq(y, 2), eq(x, 1))),
        (any_of(eq(x, 1), any_of(eq(y, 2), FALSE)), any_of(eq(y, 2), eq(x, 1))),
        (all_of(eq(x, 1)), eq(x, 1)),
    ],
)
def test_equal_conditions_are_one_object(cond: Cond, expected: Cond) -> None:
    assert cond is expected


@pytest.mark.parametrize(
    "cond",
    [
        eq(3, 3),
        eq(x, x),
        ne(2 * x, 2 * y + 1),
        le(x, x),
        lt(x, x + 1),
        gt(const(INT64_MAX), const(INT64_MIN)),
        all_of(),
        any_of(eq(x, 1), ne(x, 1)),
        any_of(lt(x, y), ge(x, y), eq(z, 1)),
        any_of(TRUE, eq(x, 1)),
        negate(FALSE),
    ],
)
def test_what_always_holds_is_true_and_its_negation_false(cond: Cond) -> None:
    assert cond is TRUE
    assert negate(cond) is FALSE
    assert cond.constant_value is True


@pytest.mark.parametrize(
    "cond", [eq(2 * x, 3), lt(x, x), any_of(), all_of(le(x, y), gt(x, y)), all_of(FALSE, eq(x, 1))]
)
def test_what_never_holds_is_false(cond: Cond) -> None:
    assert cond is FALSE
    assert cond.constant_value is False


def test_a_condition_that_depends_on_symbols_is_not_constant() -> None:
    assert not eq(x, 1).is_constant
    assert eq(x, 1).constant_value is None


def test_comparisons_at_the_ends_of_int64_keep_their_meaning() -> None:
    assert holds(le(x, INT64_MAX), {"x": INT64_MAX})
    assert not holds(gt(x, INT64_MAX), {"x": INT64_MAX})
    assert negate(le(x, INT64_MAX)) is gt(x, INT64_MAX)
    assert holds(le(INT64_MIN, x), {"x": INT64_MIN})
    assert holds(lt(x, y), {"x": INT64_MIN, "y": INT64_MAX})
    assert holds(eq(x, INT64_MIN), {"x": INT64_MIN})
    assert holds(le(x, INT64_MIN), {"x": INT64_MIN})
    assert not holds(le(x, INT64_MIN), {"x": INT64_MAX})
    assert not holds(lt(x, INT64_MIN), {"x": INT64_MAX})
    assert negate(negate(le(INT64_MIN, x))) is le(INT64_MIN, x)


def test_negating_deep_conditions_takes_no_recursion() -> None:
    cond = eq(x, 0)
    for number in range(150):
        join = all_of if number % 2 else any_of
        cond = join(cond, lt(floordiv(x, y), number))
    assert negate(negate(cond)) is cond
