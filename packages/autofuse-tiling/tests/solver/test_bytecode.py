import math
from collections.abc import Callable

import pytest
from autofuse_tiling.solver import bytecode as bc
from autofuse_tiling.solver.bytecode import Expression, Instruction, Kind, Op
from autofuse_tiling.solver.c_functions import c_expression
from autofuse_tiling.solver.encode import header_text
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.solver.interpret import evaluate_integer, evaluate_real
from autofuse_tiling.solver.native import Models, NativeSolver, build
from autofuse_tiling.solver.problem import Constraint, Pipe, Problem
from hypothesis import given, settings
from hypothesis import strategies as st

LARGEST, SMALLEST = 2**63 - 1, -(2**63)
SIZES = st.one_of(
    st.integers(SMALLEST, LARGEST),
    st.sampled_from([0, 1, -1, 2, 2**31 - 1, 2**31, 2**62, LARGEST, SMALLEST, SMALLEST + 1]),
    st.integers(-50, 50),
)
LAWS = settings(derandomize=True, database=None, deadline=None)


def clamp(value: int) -> int:
    return max(SMALLEST, min(LARGEST, value))


INTEGER_LAWS: dict[str, tuple[Callable[[Expression, Expression], Expression], Callable[[int, int], int]]] = {
    "add": (lambda a, b: a + b, lambda a, b: clamp(a + b)),
    "sub": (lambda a, b: a - b, lambda a, b: clamp(a - b)),
    "mul": (lambda a, b: a * b, lambda a, b: clamp(a * b)),
    "floordiv": (lambda a, b: a // b, lambda a, b: clamp(a // b) if b else 0),
    "ceildiv": (bc.ceildiv, lambda a, b: clamp(-((-a) // b)) if b else 0),
    "mod": (lambda a, b: a % b, lambda a, b: a % b if b else a),
    "min": (bc.minimum, min),
    "max": (bc.maximum, max),
    "eq": (bc.equal, lambda a, b: int(a == b)),
    "ne": (bc.not_equal, lambda a, b: int(a != b)),
    "lt": (bc.less, lambda a, b: int(a < b)),
    "le": (bc.less_equal, lambda a, b: int(a <= b)),
    "select": (lambda a, b: bc.select(bc.less(a, b), a * 2, b), lambda a, b: clamp(a * 2) if a < b else b),
}


def ieee_divide(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


REAL_LAWS: dict[str, tuple[Callable[[Expression, Expression], Expression], Callable[[float, float], float]]] = {
    "add": (lambda a, b: a + b, lambda a, b: a + b),
    "sub": (lambda a, b: a - b, lambda a, b: a - b),
    "mul": (lambda a, b: a * b, lambda a, b: a * b),
    "div": (lambda a, b: a / b, ieee_divide),
    "min": (bc.minimum, lambda a, b: b if b < a else a),
    "max": (bc.maximum, lambda a, b: b if a < b else a),
    "lt": (lambda a, b: bc.to_real(bc.less(a, b)), lambda a, b: float(a < b)),
    "le": (lambda a, b: bc.to_real(bc.less_equal(a, b)), lambda a, b: float(a <= b)),
    "select": (lambda a, b: bc.select(bc.less(a, b), a, 0.5), lambda a, b: a if a < b else 0.5),
}


def problem_of(usages: list[Expression], costs: list[Expression], symbols: int) -> Problem:
    constraints = tuple(Constraint(f"c{at}", usage, bc.integer(0)) for at, usage in enumerate(usages))
    pipes = tuple(Pipe(f"p{at}", cost) for at, cost in enumerate(costs))
    return Problem(tuple(f"s{at}" for at in range(symbols)), (), constraints, bc.real(0.0), pipes)


def same_double(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def test_integer_operators_saturate_and_divide_as_stated_in_python_and_cpp(native: NativeSolver) -> None:
    a, b = bc.load(0), bc.load(1)
    expressions = [make(a, b) for make, _ in INTEGER_LAWS.values()]
    models = Models([problem_of(expressions, [], 2)])
    assert native.prepare(models)

    @LAWS
    @given(SIZES, SIZES)
    def check(x: int, y: int) -> None:
        found = native.usages(models, (x, y))
        for (name, (_, law)), expression, (usage, _) in zip(INTEGER_LAWS.items(), expressions, found, strict=True):
            expected = law(x, y)
            assert evaluate_integer(expression, (x, y)) == expected, (name, x, y)
            assert usage == expected, (name, x, y)

    check()


def test_real_operators_are_ieee_in_python_and_cpp(native: NativeSolver) -> None:
    constants = [0.0, -0.0, 1.0, -2.5, 0.1, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 2.0**53 + 2]
    pairs = [(x, y) for x in constants for y in constants]
    for name, (make, law) in REAL_LAWS.items():
        for start in range(0, len(pairs), 16):
            part = pairs[start : start + 16]
            expressions = [make(bc.real(x), bc.real(y)) for x, y in part]
            models = Models([problem_of([], expressions, 0)])
            assert native.prepare(models)
            found = native.costs(models, ())[1:]
            for (x, y), expression, cost in zip(part, expressions, found, strict=True):
                expected = law(x, y)
                assert same_double(evaluate_real(expression, ()), expected), (name, x, y)
                assert same_double(cost, expected), (name, x, y)


def test_integers_become_the_nearest_double(native: NativeSolver) -> None:
    models = Models([problem_of([], [bc.to_real(bc.load(0))], 1)])
    assert native.prepare(models)
    for value in (0, -1, 2**53 + 1, 2**53 + 3, LARGEST, SMALLEST, 2**62 + 1):
        assert native.costs(models, (value,))[1] == float(value) == evaluate_real(bc.to_real(bc.load(0)), (value,))


def test_numbers_of_the_operators_are_those_of_the_header() -> None:
    text = header_text()
    for op in Op:
        assert f"AF_OP_{op.name} = {op.value}," in text


def test_a_flaw_is_named() -> None:
    assert bc.flaw(bc.load(2), 2) == "instruction 0 loads value 2 of 2"
    assert bc.flaw(Expression(Kind.INTEGER, (Instruction(Op.ADD),)), 0) == "instruction 0 (ADD) lacks operands"
    assert "2 integers" in str(bc.flaw(Expression(Kind.INTEGER, bc.integer(1).code * 2), 0))
    assert "more than 48" in str(bc.flaw(Expression(Kind.INTEGER, bc.integer(1).code * 60), 0))
    assert bc.flaw(bc.load(1), 2) is None


def test_a_malformed_problem_is_refused_with_every_flaw() -> None:
    with pytest.raises(TilingError) as error:
        problem_of([bc.load(1), bc.real(1.0)], [], 1)
    assert "usage of c0: instruction 0 loads value 1 of 1" in str(error.value)
    assert "usage of c1: is of kind double, not int64" in str(error.value)


def test_operators_refuse_operands_of_the_wrong_kind() -> None:
    with pytest.raises(TilingError, match="FLOORDIV does not take"):
        bc.real(1.0) // bc.integer(2)
    with pytest.raises(TilingError, match="does not fit int64"):
        bc.integer(2**63)


def test_the_cpp_check_refuses_what_would_overrun(native: NativeSolver) -> None:
    expression = bc.select(bc.less(bc.load(0), bc.load(1)), bc.load(0), bc.integer(7))

    def accepted(word: int, value: int) -> bool:
        models = Models([problem_of([expression], [], 2)])
        models.array[0].bytecode.contents.code[word] = value
        return native.prepare(models)

    assert accepted(0, Op.LOAD)
    assert not accepted(0, 99)  # unknown operator
    assert not accepted(0, -1)
    assert not accepted(1, 2)  # value beyond the symbols
    assert not accepted(1, -1)
    assert accepted(4, Op.ADD)  # in place of LT: well formed
    assert not accepted(4, Op.TO_REAL)  # leaves SELECT without its condition
    assert not accepted(0, Op.ADD)  # lacks operands


@LAWS
@given(st.data())
def test_the_cpp_check_makes_any_code_safe_to_run(native_any: NativeSolver, data: st.DataObject) -> None:
    expression = bc.select(bc.less(bc.load(0), bc.load(1)), bc.load(0) * 3, bc.integer(7))
    models = Models([problem_of([expression], [bc.to_real(bc.load(0)) * 0.5], 2)])
    tables = models.array[0].bytecode.contents
    words = st.integers(-2, 27) | st.integers(-(2**31), 2**31 - 1)
    for at, word in data.draw(st.dictionaries(st.integers(0, tables.code_count - 1), words, max_size=4)).items():
        tables.code[at] = word
    for at, word in data.draw(st.dictionaries(st.integers(0, 6), words, max_size=2)).items():
        tables.starts[at] = word
    if native_any.prepare(models):
        native_any.usages(models, (5, 6))
        native_any.costs(models, (5, 6))


@pytest.fixture(scope="module")
def native_any(tmp_path_factory: pytest.TempPathFactory) -> NativeSolver:
    return build(tmp_path_factory.mktemp("any"))


def test_the_printed_form_calls_the_saturating_functions() -> None:
    n, tile = bc.load(0), bc.load(1)
    assert c_expression(bc.ceildiv(n, tile) * 32) == "af_size_mul(af_size_ceildiv(values[0], values[1]), 32LL)"
    assert c_expression(bc.to_real(n) * 0.5 + 3.0) == (
        "((static_cast<double>(values[0]) * 0x1.0000000000000p-1) + 0x1.8000000000000p+1)"
    )
    assert c_expression(bc.integer(SMALLEST)) == "AF_I64_MIN"
