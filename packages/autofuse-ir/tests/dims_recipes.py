"""Symbolic sizes drawn at random: recipes that are built, written as text, and computed with plain Python integers."""

from collections.abc import Callable
from typing import Any

from autofuse_ir import dims
from autofuse_ir.dims import INT64_MAX, INT64_MIN, Cond, Dim
from autofuse_ir.errors import IrError
from hypothesis import strategies as st

NAMES = ("a", "b", "c.d", "in put", "min")
INDEX = {name: position for position, name in enumerate(NAMES)}

# A recipe is what a caller writes, as nested tuples: it is built into a Dim, and computed directly as the oracle.
Recipe = tuple[Any, ...]

BINARY: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "floordiv": dims.floordiv,
    "ceildiv": dims.ceildiv,
    "mod": dims.mod,
    "min": dims.dim_min,
    "max": dims.dim_max,
}
ORACLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "floordiv": lambda x, y: x // y,
    "ceildiv": lambda x, y: -((-x) // y),
    "mod": lambda x, y: x % y,
    "min": min,
    "max": max,
}
RELATIONS: dict[str, tuple[Callable[[Dim, Dim], Cond], Callable[[int, int], bool]]] = {
    "==": (dims.eq, lambda x, y: x == y),
    "!=": (dims.ne, lambda x, y: x != y),
    "<=": (dims.le, lambda x, y: x <= y),
    "<": (dims.lt, lambda x, y: x < y),
    ">=": (dims.ge, lambda x, y: x >= y),
    ">": (dims.gt, lambda x, y: x > y),
}

small = st.integers(-12, 12).map(lambda value: ("const", value))
symbols = st.sampled_from(NAMES).map(lambda name: ("symbol", name))


def _grown(inner: st.SearchStrategy[Recipe]) -> st.SearchStrategy[Recipe]:
    comparison = st.tuples(st.just("compare"), st.sampled_from(sorted(RELATIONS)), inner, inner)
    negation = st.tuples(st.just("not"), comparison)
    conds = st.one_of(
        comparison,
        negation,
        st.tuples(st.sampled_from(["and", "or"]), comparison, negation),
        st.tuples(st.just("not"), st.tuples(st.sampled_from(["and", "or"]), comparison, comparison)),
    )
    return st.one_of(
        st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), inner, inner),
        st.tuples(st.just("negative"), inner),
        st.tuples(st.just("divide"), st.sampled_from(["//", "ceildiv", "%"]), inner, st.integers(1, 12)),
        st.tuples(st.just("select"), conds, inner, inner),
    )


recipes: st.SearchStrategy[Recipe] = st.recursive(st.one_of(symbols, symbols, small), _grown, max_leaves=10)
conditions: st.SearchStrategy[Recipe] = st.tuples(
    st.sampled_from(["and", "or"]),
    st.tuples(st.just("compare"), st.sampled_from(sorted(RELATIONS)), recipes, recipes),
    st.tuples(st.just("not"), st.tuples(st.just("compare"), st.sampled_from(sorted(RELATIONS)), recipes, recipes)),
)
bindings = st.fixed_dictionaries({name: st.integers(-9, 9) for name in NAMES})
edges = st.sampled_from(
    [0, 1, 2, -1, 7, 2**31, -(2**31) - 1, 2**62, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1]
)
edge_recipes: st.SearchStrategy[Recipe] = st.recursive(
    st.one_of(symbols, edges.map(lambda value: ("const", value))), _grown, max_leaves=6
)
edge_bindings = st.fixed_dictionaries(dict.fromkeys(NAMES, edges))


def build(recipe: Recipe) -> Any:
    match recipe:
        case ("const", value):
            return dims.const(value)
        case ("symbol", name):
            return dims.symbol(name)
        case ("binary", operator, left, right):
            return BINARY[operator](build(left), build(right))
        case ("divide", operator, left, divisor):
            return BINARY[operator](build(left), dims.const(divisor))
        case ("negative", inner):
            return -build(inner)
        case ("select", cond, if_true, if_false):
            return dims.select(build(cond), build(if_true), build(if_false))
        case ("compare", relation, left, right):
            return RELATIONS[relation][0](build(left), build(right))
        case ("not", cond):
            return dims.negate(build(cond))
        case ("and", left, right):
            return dims.all_of(build(left), build(right))
        case ("or", left, right):
            return dims.any_of(build(left), build(right))
    raise AssertionError(recipe)


def compute(recipe: Recipe, values: dict[str, int]) -> int:
    """What the recipe comes to with unbounded integers; raises ZeroDivisionError where it has no value."""
    match recipe:
        case ("const", value):
            return value
        case ("symbol", name):
            return values[name]
        case ("binary", operator, left, right):
            return ORACLE[operator](compute(left, values), compute(right, values))
        case ("divide", operator, left, divisor):
            return ORACLE[operator](compute(left, values), divisor)
        case ("negative", inner):
            return -compute(inner, values)
        case ("select", cond, if_true, if_false):
            return compute(if_true if compute(cond, values) else if_false, values)
        case ("compare", relation, left, right):
            return RELATIONS[relation][1](compute(left, values), compute(right, values))
        case ("not", cond):
            return not compute(cond, values)
        case ("and", left, right):
            return min(compute(left, values), compute(right, values))
        case ("or", left, right):
            return max(compute(left, values), compute(right, values))
    raise AssertionError(recipe)


def written(recipe: Recipe) -> str:
    """The recipe in the text form, with parentheses everywhere."""
    match recipe:
        case ("const", value):
            return f"({value})"
        case ("symbol", name):
            return name if name in ("a", "b", "c.d") else f'"{name}"'
        case ("binary" | "divide", operator, left, right):
            first, second = written(left), written(right) if isinstance(right, tuple) else str(right)
            return f"{operator}({first}, {second})" if operator.isalpha() else f"({first} {operator} {second})"
        case ("negative", inner):
            return f"(-{written(inner)})"
        case ("select", cond, if_true, if_false):
            return f"select({written(cond)}, {written(if_true)}, {written(if_false)})"
        case ("compare", relation, left, right):
            return f"({written(left)} {relation} {written(right)})"
        case ("not", cond):
            return f"(not {written(cond)})"
        case ("and" | "or" as word, left, right):
            return f"({written(left)} {word} {written(right)})"
    raise AssertionError(recipe)


def built_or_none(recipe: Recipe) -> Any:
    try:
        return build(recipe)
    except IrError as error:
        # What may fail to build: a constant divisor of zero, a constant outside int64.
        assert "constant zero" in error.what or "int64" in error.what  # noqa: PT017 (any other error is a bug)
        return None


def outcome(action: Callable[[], int]) -> int | str:
    try:
        return int(action())
    except IrError as error:
        return error.what
