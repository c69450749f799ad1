"""Laws of symbolic sizes, on expressions drawn at random and computed a second time with plain Python integers."""

import copy
import pickle
from typing import Any

from autofuse_ir import dims
from autofuse_ir.dims_bytecode import compile_cond, compile_dim, run, stack_depth
from autofuse_ir.dims_eval import bounds, decided, evaluate, free_symbols, holds, substitute
from autofuse_ir.dims_text import parse_cond, parse_dim, show_cond, show_dim
from autofuse_ir.errors import IrError
from dims_recipes import (
    INDEX,
    NAMES,
    Recipe,
    bindings,
    built_or_none,
    compute,
    conditions,
    edge_bindings,
    edge_recipes,
    outcome,
    recipes,
    written,
)
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(derandomize=True, database=None, deadline=None, max_examples=150)


@LAW
@given(recipes, bindings)
def test_normalising_keeps_the_value(recipe: Recipe, values: dict[str, int]) -> None:
    dim = built_or_none(recipe)
    try:
        expected = compute(recipe, values)
    except ZeroDivisionError:
        return
    if dim is not None:
        assert evaluate(dim, values) == expected


@LAW
@given(edge_recipes, edge_bindings)
def test_evaluation_near_the_ends_of_int64_is_right_or_refused(recipe: Recipe, values: dict[str, int]) -> None:
    dim = built_or_none(recipe)
    try:
        expected = compute(recipe, values)
    except ZeroDivisionError:
        return
    if dim is not None:
        assert outcome(lambda: evaluate(dim, values)) in (expected, "int64 overflow")


@LAW
@given(conditions, bindings)
def test_normalising_keeps_the_truth_and_negation_flips_it(recipe: Recipe, values: dict[str, int]) -> None:
    cond = built_or_none(recipe)
    try:
        expected = bool(compute(recipe, values))
    except ZeroDivisionError:
        return
    if cond is not None:
        assert holds(cond, values) is expected
        assert holds(dims.negate(cond), values) is not expected
        assert dims.negate(dims.negate(cond)) == cond


@LAW
@given(recipes)
def test_text_is_read_back_to_the_same_size(recipe: Recipe) -> None:
    dim = built_or_none(recipe)
    if dim is not None:
        assert parse_dim(show_dim(dim)) == dim
        assert parse_dim(written(recipe)) == dim


@LAW
@given(edge_recipes)
def test_text_of_extreme_constants_is_read_back(recipe: Recipe) -> None:
    dim = built_or_none(recipe)
    if dim is not None:
        assert parse_dim(show_dim(dim)) == dim


@LAW
@given(conditions)
def test_text_is_read_back_to_the_same_condition(recipe: Recipe) -> None:
    cond = built_or_none(recipe)
    if cond is not None:
        assert parse_cond(show_cond(cond)) is cond
        assert parse_cond(written(recipe)) is cond


@LAW
@given(st.one_of(recipes, edge_recipes), st.one_of(bindings, edge_bindings))
def test_bytecode_does_what_evaluation_does(recipe: Recipe, values: dict[str, int]) -> None:
    dim = built_or_none(recipe)
    if dim is not None:
        code = compile_dim(dim, INDEX)
        inputs = [values[name] for name in NAMES]
        assert outcome(lambda: run(code, inputs)) == outcome(lambda: evaluate(dim, values))
        assert 1 <= stack_depth(code) <= len(code)


@LAW
@given(conditions, bindings)
def test_condition_bytecode_does_what_evaluation_does(recipe: Recipe, values: dict[str, int]) -> None:
    cond = built_or_none(recipe)
    if cond is not None:
        code = compile_cond(cond, INDEX)
        inputs = [values[name] for name in NAMES]
        assert outcome(lambda: run(code, inputs)) == outcome(lambda: holds(cond, values))


@LAW
@given(recipes, st.dictionaries(st.sampled_from(NAMES), recipes, max_size=3), bindings)
def test_substitution_commutes_with_evaluation(
    recipe: Recipe, replacements: dict[str, Recipe], values: dict[str, int]
) -> None:
    dim = built_or_none(recipe)
    mapping = {name: built_or_none(replacement) for name, replacement in replacements.items()}
    if dim is None or None in mapping.values():
        return
    try:
        inner = {**values, **{name: evaluate(new, values) for name, new in mapping.items()}}
        expected = evaluate(dim, inner)
        replaced = substitute(dim, mapping)
    except IrError:
        return
    if all(abs(value) < 2**31 for value in inner.values()):
        assert evaluate(replaced, values) == expected


@LAW
@given(recipes, st.lists(bindings, min_size=2, max_size=4))
def test_bounds_contain_every_value(recipe: Recipe, samples: list[dict[str, int]]) -> None:
    dim = built_or_none(recipe)
    if dim is None:
        return
    ranges = {
        name: (min(sample[name] for sample in samples), max(sample[name] for sample in samples)) for name in NAMES
    }
    low, high = bounds(dim, ranges)
    for sample in samples:
        try:
            value = evaluate(dim, sample)
        except IrError:
            continue
        assert low <= value <= high


@LAW
@given(conditions, st.lists(bindings, min_size=2, max_size=4))
def test_what_ranges_decide_holds_at_every_point(recipe: Recipe, samples: list[dict[str, int]]) -> None:
    cond = built_or_none(recipe)
    if cond is None:
        return
    ranges = {
        name: (min(sample[name] for sample in samples), max(sample[name] for sample in samples)) for name in NAMES
    }
    verdict = decided(cond, ranges)
    if verdict is not None:
        for sample in samples:
            assert outcome(lambda at=sample: holds(cond, at)) in (int(verdict), "division by zero")


@LAW
@given(recipes, recipes)
def test_equality_hash_and_order_agree(first: Recipe, second: Recipe) -> None:
    left, again, right = built_or_none(first), built_or_none(first), built_or_none(second)
    if left is None or right is None:
        return
    assert left == again
    assert hash(left) == hash(again)
    assert left.sort_key() == again.sort_key()
    assert (left == right) == (left.sort_key() == right.sort_key()) == (show_dim(left) == show_dim(right))
    assert (left.sort_key() < right.sort_key()) + (right.sort_key() < left.sort_key()) == (left != right)
    assert pickle.loads(pickle.dumps(left)) == left
    assert copy.deepcopy(left) == left


@LAW
@given(recipes, recipes, recipes)
def test_sizes_form_a_commutative_ring(first: Recipe, second: Recipe, third: Recipe) -> None:
    x, y, z = built_or_none(first), built_or_none(second), built_or_none(third)
    if x is None or y is None or z is None:
        return
    assert x + y == y + x
    assert (x + y) + z == x + (y + z)
    assert x * y == y * x
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - x == 0
    assert x - y == -(y - x)


@LAW
@given(recipes, st.randoms(use_true_random=False))
def test_extrema_depend_on_no_order(recipe: Recipe, shuffler: Any) -> None:
    dim = built_or_none(recipe)
    if dim is None:
        return
    operands = [dim, dims.symbol("a"), dim + 1, dims.const(3), dims.dim_min(dims.symbol("b"), 2)]
    shuffled = list(operands)
    shuffler.shuffle(shuffled)
    assert dims.dim_min(*operands) == dims.dim_min(*shuffled)
    assert dims.dim_max(*operands) == dims.dim_max(*shuffled)


@LAW
@given(recipes)
def test_free_symbols_are_the_ones_evaluation_asks_for(recipe: Recipe) -> None:
    dim = built_or_none(recipe)
    if dim is None:
        return
    names = free_symbols(dim)
    assert list(names) == sorted(set(names))
    assert outcome(lambda: evaluate(dim, dict.fromkeys(names, 1))) != "a symbol without a value"
    assert substitute(dim, dict.fromkeys(set(NAMES) - set(names), dims.const(5))) is dim
