import pytest
from autofuse_ir import dims
from autofuse_ir.dims import Cond, Dim
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.errors import IrError
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.solver.from_dim import from_dim
from autofuse_tiling.solver.interpret import evaluate_integer
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("n", "m", "k")
INDEX = {name: at for at, name in enumerate(NAMES)}

LEAVES = st.sampled_from([dims.symbol(name) for name in NAMES]) | st.integers(-9, 40).map(dims.const)


def conditions(of: st.SearchStrategy[Dim]) -> st.SearchStrategy[Cond]:
    compare = st.builds(lambda test, a, b: test(a, b), st.sampled_from([dims.eq, dims.ne, dims.lt, dims.le]), of, of)
    joined = st.builds(lambda join, a, b: join(a, b), st.sampled_from([dims.all_of, dims.any_of]), compare, compare)
    return compare | joined


def larger(of: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    operators = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        dims.dim_min,
        dims.dim_max,
        lambda a, b: dims.floordiv(a, dims.dim_max(b, 1)),
        lambda a, b: dims.ceildiv(a, dims.dim_max(b, 1)),
        lambda a, b: dims.mod(a, dims.dim_max(b, 1)),
    ]
    binary = st.builds(lambda operator, a, b: operator(a, b), st.sampled_from(operators), of, of)
    return binary | st.builds(dims.select, conditions(of), of, of)


@settings(derandomize=True, database=None, deadline=None)
@given(st.recursive(LEAVES, larger, max_leaves=8), st.tuples(*[st.integers(0, 50)] * 3))
def test_the_expression_has_the_value_of_the_size(dim: Dim, values: tuple[int, ...]) -> None:
    try:
        expected = evaluate(dim, dict(zip(NAMES, values, strict=True)))
    except IrError:  # the size itself leaves int64
        return
    assert evaluate_integer(from_dim(dim, INDEX), values) == expected


def test_a_select_whose_other_arm_divides_by_zero_has_its_value() -> None:
    n, m = dims.symbol("n"), dims.symbol("m")
    size = dims.select(dims.eq(m, 0), n, n // m)
    assert evaluate_integer(from_dim(size, INDEX), (7, 0, 0)) == 7
    assert evaluate_integer(from_dim(size, INDEX), (7, 2, 0)) == 3


def test_a_product_that_overflows_saturates() -> None:
    n, m = dims.symbol("n"), dims.symbol("m")
    assert evaluate_integer(from_dim(n * m * 8 + 5, INDEX), (2**31 - 1, 2**31 - 1, 0)) == 2**63 - 1


def test_an_unknown_symbol_is_named() -> None:
    with pytest.raises(TilingError, match="'batch'"):
        from_dim(dims.symbol("batch") * 2, INDEX)


def test_a_size_that_shares_too_much_is_refused() -> None:
    size = dims.symbol("n")
    for step in range(20):
        size = dims.ceildiv(size * size + step, dims.dim_max(size, 1))
    with pytest.raises(TilingError, match="words"):
        from_dim(size, INDEX)
