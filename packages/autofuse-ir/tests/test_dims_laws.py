"""Laws of symbolic sizes, on expressions drawn at random and computed a second time with plain Python integers."""

import copy
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autofuse_ir import dims
from autofuse_ir.dims import INT64_MAX, INT64_MIN, Cond, Dim
from autofuse_ir.dims_bytecode import Op, compile_cond, compile_dim, run, stack_depth
from autofuse_ir.dims_c import C_PRELUDE, c_cond, c_text
from autofuse_ir.dims_eval import bounds, decided, evaluate, free_symbols, holds, substitute
from autofuse_ir.dims_text import parse_cond, parse_dim, show_cond, show_dim
from autofuse_ir.errors import IrError
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("a", "b", "c.d", "in put", "min")
INDEX = {name: position for position, name in enumerate(NAMES)}
LAW = settings(derandomize=True, database=None, deadline=None, max_examples=150)

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


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    found: list[Any] = []

    @settings(derandomize=True, database=None, deadline=None, max_examples=count)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


INTERPRETER = """
static af_i64 af_run(const af_i64* code, af_i64 words, const af_i64* values, af_i64* stack) {
  af_i64 top = 0;
  for (af_i64 at = 0; at < words;) {
    af_i64 op = code[at++];
    af_i64 y = top > 0 ? stack[top - 1] : 0, x = top > 1 ? stack[top - 2] : 0;
    switch (op) {
      case CONST: stack[top++] = code[at++]; continue;
      case SYM: stack[top++] = values[code[at++]]; continue;
      case JZ: --top; at = y ? at + 1 : code[at]; continue;
      case JMP: at = code[at]; continue;
      case NEG: stack[top - 1] = -y; continue;
      case NOT: stack[top - 1] = !y; continue;
      case ADD: x = x + y; break;
      case SUB: x = x - y; break;
      case MUL: x = x * y; break;
      case FLOORDIV: x = af_floordiv(x, y); break;
      case CEILDIV: x = af_ceildiv(x, y); break;
      case MOD: x = af_mod(x, y); break;
      case MIN: x = af_min(x, y); break;
      case MAX: x = af_max(x, y); break;
      case EQ: x = x == y; break;
      case NE: x = x != y; break;
      case LE: x = x <= y; break;
      case LT: x = x < y; break;
      case AND: x = x && y; break;
      case OR: x = x || y; break;
    }
    stack[--top - 1] = x;
  }
  return stack[0];
}
"""


@pytest.mark.parametrize(
    "command",
    [
        ["gcc", "-xc", "-std=c99", "-pedantic-errors"],
        ["g++", "-xc++", "-std=c++17", "-fsanitize=undefined", "-fno-sanitize-recover=all"],
    ],
    ids=["c99", "c++17"],
)
def test_compiled_expressions_and_bytecode_compute_what_evaluation_does(command: list[str], tmp_path: Path) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    sizes = [dim for dim in map(built_or_none, drawn(recipes, 100) + drawn(edge_recipes, 80)) if dim is not None]
    truths = [cond for cond in map(built_or_none, drawn(conditions, 40)) if cond is not None]
    points = drawn(bindings, 6) + drawn(edge_bindings, 6)
    name_of = {name: f"v[{position}]" for name, position in INDEX.items()}.__getitem__
    cases: list[tuple[str, tuple[int, ...], Callable[[dict[str, int]], int]]] = [
        (c_text(dim, name_of), compile_dim(dim, INDEX), lambda at, dim=dim: evaluate(dim, at)) for dim in sizes
    ]
    cases += [
        (c_cond(cond, name_of), compile_cond(cond, INDEX), lambda at, cond=cond: holds(cond, at)) for cond in truths
    ]

    functions, checks, count = "", "", 0
    for number, (text, code, value_at) in enumerate(cases):
        words = ", ".join(literal(word) for word in code)
        functions += f"static af_i64 f{number}(const af_i64* v) {{ (void)v; return {text}; }}\n"
        functions += f"static const af_i64 c{number}[] = {{{words}}};\n"
        for point in points:
            expected = outcome(lambda value_at=value_at, point=point: value_at(point))
            if isinstance(expected, int):
                values = ", ".join(literal(point[name]) for name in NAMES)
                checks += f"  {{ const af_i64 v[] = {{{values}}};\n"
                checks += f"    check({number}, f{number}(v), {literal(expected)});\n"
                checks += f"    af_i64 stack[{stack_depth(code)}];\n"
                checks += f"    check({number}, af_run(c{number}, {len(code)}, v, stack), {literal(expected)}); }}\n"
                count += 1
    assert count > 1000
    source = "#include <stdio.h>\ntypedef long long af_i64;\n" + C_PRELUDE
    source += "enum {" + ", ".join(f"{op.name} = {op.value}" for op in Op) + "};\n" + INTERPRETER
    source += "static int wrong = 0;\nstatic void check(int number, af_i64 got, af_i64 expected) {\n"
    source += '  if (got != expected) { wrong = 1; printf("%d: %lld, not %lld\\n", number, got, expected); }\n}\n'
    source += f"{functions}int main(void) {{\n{checks}  return wrong;\n}}\n"
    file, program = tmp_path / "sizes.source", tmp_path / "sizes"
    file.write_text(source, encoding="utf-8")
    options = ["-O0", "-Wall", "-Wextra", "-Wno-unused", "-Wno-bool-compare", "-Werror"]
    built = subprocess.run(
        [*command, *options, str(file), "-o", str(program)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[:4000]
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    lines = [f"{line}  {cases[int(line.split(':')[0])][0]}" for line in ran.stdout.splitlines()[:10]]
    assert ran.returncode == 0, "\n".join(lines) + ran.stderr[:2000]


def literal(value: int) -> str:
    return "(-9223372036854775807LL - 1)" if value == INT64_MIN else f"{value}LL"
