import pytest
from autofuse_ir.dims import (
    INT64_MAX,
    INT64_MIN,
    Dim,
    as_dim,
    ceildiv,
    const,
    dim_max,
    dim_min,
    eq,
    floordiv,
    free_symbols,
    lt,
    select,
    symbol,
)
from autofuse_ir.dims_eval import bounds, decided, evaluate, holds, substitute
from autofuse_ir.dims_text import parse_cond
from autofuse_ir.errors import IrError

x, y = symbol("x"), symbol("y")


def test_the_arm_not_chosen_is_not_evaluated() -> None:
    guarded = select(eq(x, 0), 1, 12 // x)
    assert evaluate(guarded, {"x": 0}) == 1
    assert evaluate(guarded, {"x": 4}) == 3
    assert substitute(guarded, {"x": const(0)}) == 1
    assert evaluate(select(eq(x, 0), y, 12 // x), {"x": 3}) == 4


def test_failures_name_the_expression() -> None:
    with pytest.raises(IrError, match=r"12 // x: division by zero"):
        evaluate(1 + 12 // x, {"x": 0})
    with pytest.raises(IrError, match=r"ceildiv\(y, x\): division by zero"):
        evaluate(ceildiv(y, x), {"x": 0, "y": 3})
    with pytest.raises(IrError, match=r"3\*x\*y \+ 1: int64 overflow"):
        evaluate(3 * x * y + 1, {"x": 2**40, "y": 2**40})
    with pytest.raises(IrError, match=r"y: a symbol without a value"):
        evaluate(x + y, {"x": 1})
    with pytest.raises(IrError, match=r"x: the value 1\.5 is no integer"):
        evaluate(x, {"x": 1.5})  # type: ignore[dict-item]
    with pytest.raises(IrError, match=r"x: int64 overflow"):
        evaluate(x, {"x": INT64_MAX + 1})
    with pytest.raises(IrError, match="division by zero"):
        holds(parse_cond("y == 1 or 1 // x == 2"), {"x": 0, "y": 1})


@pytest.mark.parametrize(
    "dim", [x // -y, ceildiv(x, -y), -x, floordiv(x, 2 * y + 1)], ids=["floordiv", "ceildiv", "negation", "quotient"]
)
def test_the_one_quotient_past_int64_is_refused(dim: Dim) -> None:
    with pytest.raises(IrError, match="int64 overflow"):
        evaluate(dim, {"x": INT64_MIN, "y": -1 if "2*y" in str(dim) else 1})


def test_an_intermediate_overflow_is_refused_even_if_the_result_would_fit() -> None:
    with pytest.raises(IrError, match="int64 overflow"):
        evaluate(x * y - x, {"x": INT64_MAX, "y": 2})


def test_substitution_replaces_all_symbols_at_once() -> None:
    assert substitute(x + 2 * y, {"x": y, "y": x}) == y + 2 * x
    assert substitute(x * x, {"x": y + 1}) == y * y + 2 * y + 1
    assert substitute(ceildiv(x, 4), {"x": 8 * y}) == 2 * y
    assert substitute(x, {"x": 3}) == 3
    assert substitute(parse_cond("x == 1 and y < 2"), {"x": const(1)}) is lt(y, 2)


def test_substitution_that_changes_nothing_returns_the_same_object() -> None:
    dim = select(eq(x, 1), ceildiv(y, 4), x) + 3
    assert substitute(dim, {"z": const(1)}) is dim
    assert substitute(dim, {"x": x}) is dim
    cond = parse_cond("x == 1 and y < 2")
    assert substitute(cond, {"z": const(1)}) is cond


def test_substituting_a_zero_divisor_is_refused() -> None:
    with pytest.raises(IrError, match="division by the constant zero"):
        substitute(1 + y // x, {"x": const(0)})
    with pytest.raises(IrError, match="division by the constant zero"):
        substitute(parse_cond("1 // x == 2 or y == 1"), {"x": const(0)})


def test_free_symbols_are_sorted_and_unique() -> None:
    assert free_symbols(as_dim("b*a + min(c, a // d) + select(e == f, 1, g)")) == tuple("abcdefg")
    assert free_symbols(parse_cond("z == 1 or a < z")) == ("a", "z")
    assert free_symbols(const(3)) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*x - 3*y + 1", (-26, 30)),
        ("x*x", (0, 100)),
        ("y*y", (0, 81)),
        ("y*y*y", (-27, 729)),
        ("x*y", (-30, 90)),
        ("x // 4", (0, 2)),
        ("-x // 4", (-3, 0)),
        ("ceildiv(x, 4)", (0, 3)),
        ("x // y", (-10, 10)),
        ("mod(x, 4)", (0, 3)),
        ("mod(x, 64)", (0, 10)),
        ("mod(x, y)", (-2, 8)),
        ("mod(y, 64)", (0, 63)),
        ("mod(x, -4)", (-3, 0)),
        ("min(x, y, 4)", (-3, 4)),
        ("max(x, y, 4)", (4, 10)),
        ("select(x == y, 7, y)", (-3, 9)),
        ("select(x == 11, 7, y)", (-3, 9)),
        ("select(x < 11, 7, y)", (7, 7)),
        ("u", (INT64_MIN, INT64_MAX)),
        ("u + x", (INT64_MIN, INT64_MAX)),
        ("max(u, 1)", (1, INT64_MAX)),
        ("mod(u, 8)", (0, 7)),
    ],
)
def test_bounds_are_the_interval(text: str, expected: tuple[int, int]) -> None:
    assert bounds(as_dim(text), {"x": (0, 10), "y": (-3, 9)}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x <= 10", True),
        ("x < 10", None),
        ("x > 10", False),
        ("x == 5", None),
        ("x == 11", False),
        ("x != 11", True),
        ("x >= 0 and y >= -3", True),
        ("x == 11 and u == 1", False),
        ("x <= 10 or u == 1", True),
        ("u == 1 or y == 10", None),
        ("true", True),
        ("false", False),
    ],
)
def test_ranges_decide_conditions_where_they_can(text: str, expected: bool | None) -> None:
    assert decided(parse_cond(text), {"x": (0, 10), "y": (-3, 9)}) is expected


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(IrError, match=r"x: the range 3\.\.2 is empty"):
        bounds(x, {"x": (3, 2)})


def test_shared_parts_are_visited_once() -> None:
    # Written out, the size has 2 ** 90 words: this test would never end.
    dim = x
    for step in range(90):
        dim = dim_max(dim - step, dim_min(dim, symbol(f"t{step % 3}")) - dim // 2)
    values = {"x": 100, "t0": 1, "t1": 2, "t2": 3}
    assert evaluate(dim, values) == evaluate(substitute(dim, {"x": const(100)}), values)
    low, high = bounds(dim, {name: (value, value) for name, value in values.items()})
    assert low <= evaluate(dim, values) <= high
    assert free_symbols(dim) == ("t0", "t1", "t2", "x")
