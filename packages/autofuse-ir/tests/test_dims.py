import copy
import doctest
import os
import pickle
import subprocess
import sys
import threading

import pytest
from autofuse_ir import dims
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
    lt,
    mod,
    ne,
    negate,
    product,
    select,
    symbol,
    total,
)
from autofuse_ir.errors import IrError

x, y, z = symbol("x"), symbol("y"), symbol("z")


def shared_chain(length: int) -> Dim:
    """A size that uses each step twice: written out it has about 2 ** length words."""
    dim = x
    for step in range(length):
        dim = dim_max(2 * dim + step, floordiv(dim, symbol(f"s{step}")))
    return dim


def test_the_examples_of_the_module_are_right() -> None:
    assert doctest.testmod(dims).attempted > 0
    assert doctest.testmod(dims).failed == 0


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((6 * x + 3) // 3, 2 * x + 1),
        (floordiv(4 * x, 8), x // 2),
        (floordiv(4 * x + 3, 8), x // 2),
        (floordiv(x, 1), x),
        (floordiv(x, -1), -x),
        ((x // 2) // 3, x // 6),
        (((x + 1) // 2 + 1) // 3, (x + 3) // 6),
        (ceildiv(ceildiv(x, 2), 3), ceildiv(x, 6)),
        ((x + 3) // 4, ceildiv(x, 4)),
        ((x - 1) // 2 + 1, ceildiv(x, 2)),
        (-((-x) // 5), ceildiv(x, 5)),
        ((x + 9) // 4, (x + 1) // 4 + 2),
        (x // -3, (-x) // 3),
        (ceildiv(x * y, 1), x * y),
        (-((-x) // y), ceildiv(x, y)),
        ((6 * x) // (4 * y), (3 * x) // (2 * y)),
        (x // -y, (-x) // y),
        (mod(4 * x, 4), const(0)),
        (mod(5 * x + 7, 4), mod(x + 3, 4)),
        (mod(4 * x, 8), 4 * mod(x, 2)),
        (mod(mod(x, 12), 4), mod(x, 4)),
        (mod(mod(x, 3), 5), mod(x, 3)),
        (mod(x, 3) // 3, const(0)),
        (mod(x, -3), -mod(-x, 3)),
        (dim_min(x, x + 1), x),
        (dim_max(x, x + 1), x + 1),
        (dim_min(dim_min(x, 7), y, 5), dim_min(y, 5, x)),
        (dim_max(3, 5, -1), const(5)),
        (dim_min(x), x),
        (select(eq(3, 3), x, y), x),
        (select(eq(3, 4), x, y), y),
        (select(eq(x, 1), y, y), y),
        (select(ne(x, 1), y, z), select(eq(x, 1), z, y)),
        (select(lt(x, y), 1, z), select(negate(lt(x, y)), z, 1)),
        (product([2, x, "y"]), 2 * x * y),
        (total([x, 3, "y"]), x + y + 3),
        (product([]), const(1)),
        (total([]), const(0)),
    ],
)
def test_equal_sizes_have_one_form(size: Dim, expected: Dim) -> None:
    assert size == expected
    assert hash(size) == hash(expected)
    assert str(size) == str(expected)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(x // x, id="x // x at x == 0"),
        pytest.param((x * y) // y, id="(x*y) // y at y == 0"),
        pytest.param(mod(x, x), id="mod(x, x) at x == 0"),
        pytest.param((0 * x) // y, id="0 // y at y == 0"),
    ],
)
def test_what_has_no_value_at_zero_is_not_folded(size: Dim) -> None:
    assert not size.is_constant
    assert size != x


def test_remainders_of_remainders_are_kept_where_they_differ() -> None:
    assert mod(mod(x, 4), 3) != mod(x, 4)
    assert mod(mod(x, 4) + 1, 4) == mod(x + 1, 4)


def test_every_constant_divisor_but_zero_divides() -> None:
    for divide in (floordiv, ceildiv, mod):
        with pytest.raises(IrError, match="division by the constant zero"):
            divide(x, 0)
        with pytest.raises(IrError, match="division by the constant zero"):
            divide(3, y - y)
    assert [7 // const(2), -7 // const(2), const(7) % -2, ceildiv(-7, 2)] == [3, -4, -1, -3]


def test_operators_take_integers_on_either_side() -> None:
    assert (3 + x, 3 - x, 3 * x) == (x + 3, -x + 3, x * 3)
    assert (7 // x, 7 % x) == (floordiv(7, x), mod(7, x))
    assert +x is x
    for operate in (lambda: x + 1.5, lambda: "1" + x, lambda: x // 2.0):
        with pytest.raises(TypeError):
            operate()


def test_numpy_integers_are_integers() -> None:
    numpy = pytest.importorskip("numpy")
    assert numpy.int64(3) * x == 3 * x == x * numpy.int32(3)
    assert as_dim(numpy.int64(4)) == 4


def test_a_constant_equals_its_integer_and_hashes_alike() -> None:
    assert const(3) == 3
    assert hash(const(3)) == hash(3)
    assert const(3) != 4
    assert x != 3
    assert const(0).constant_value == 0
    assert x.constant_value is None
    assert (x - x).is_constant


def test_as_dim_takes_sizes_integers_and_text_only() -> None:
    assert as_dim(x) is x
    assert as_dim(5) == const(5)
    assert as_dim("2*x + 1") == 2 * x + 1
    for wrong in (1.5, None, [1], b"x"):
        with pytest.raises(IrError, match="a size cannot be made of"):
            as_dim(wrong)  # type: ignore[arg-type]


def test_constants_and_coefficients_stay_within_int64() -> None:
    assert const(INT64_MAX).constant_value == INT64_MAX
    assert (INT64_MIN * x - INT64_MIN * x) == 0
    for overflow in (
        lambda: const(INT64_MAX + 1),
        lambda: const(INT64_MIN - 1),
        lambda: const(INT64_MAX) + 1,
        lambda: INT64_MAX * x * 2,
        lambda: -(INT64_MIN * x),
        lambda: -const(INT64_MIN),
        lambda: (INT64_MAX * x + y + z + 1) + x,
    ):
        with pytest.raises(IrError, match="does not fit into int64"):
            overflow()


def test_runaway_sizes_are_refused_with_a_remedy() -> None:
    with pytest.raises(IrError, match=r"more than 200 operations\n  name an intermediate size"):
        shared_chain(101)
    with pytest.raises(IrError, match="more than 64 factors"):
        product([x] * 65)
    with pytest.raises(IrError, match="more than 1024 terms"):
        total(symbol(f"n{number}") for number in range(1025))
    with pytest.raises(IrError, match="more than 1024 terms"):
        product(total(symbol(f"n{row}.{column}") for column in range(4)) for row in range(6))
    with pytest.raises(IrError, match="symbol's name"):
        symbol("")
    with pytest.raises(IrError, match="symbol's name"):
        symbol("n" * 1025)


def test_sizes_conditions_and_atoms_are_immutable() -> None:
    cond = eq(x, 1)
    for thing, name in ((x, "terms"), (x.atom, "name"), (cond, "left")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(thing, name, None)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(thing, name)
    with pytest.raises(TypeError):
        Dim()


def test_truth_of_a_size_or_condition_is_an_error_rather_than_a_guess() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(x)
    with pytest.raises(TypeError, match="no truth value"):
        bool(eq(x, y))


def test_copies_are_equal_and_share_their_atoms() -> None:
    size = select(eq(x, 1), ceildiv(y, 4), dim_min(x, y, 3)) * mod(x, z)
    for twin in (copy.copy(size), copy.deepcopy(size), pickle.loads(pickle.dumps(size))):
        assert twin == size
        assert twin.terms[0][0][0] is size.terms[0][0][0]
    assert pickle.loads(pickle.dumps(dims.TRUE)) is dims.TRUE


def test_equality_and_hash_of_shared_parts_do_not_grow_exponentially() -> None:
    # Written out, these have 2 ** 90 words: this test would never end.
    first, second = shared_chain(90), shared_chain(90)
    assert first == second
    assert hash(first) == hash(second)
    assert first != shared_chain(89)
    assert first.sort_key() == second.sort_key()
    assert "words" in str(first)


def test_threads_intern_one_atom() -> None:
    found: list[Dim] = []
    barrier = threading.Barrier(8)

    def make() -> None:
        barrier.wait()
        found.extend(floordiv(symbol(f"thread{number}"), y) for number in range(200))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1600
    assert len(set(found)) == 200


def test_forms_and_order_are_the_same_under_every_hash_seed() -> None:
    program = """
from autofuse_ir.dims import *
names = [symbol(n) for n in ("b", "a", "a b", "select", "z9", "z10")]
made = [p + q * 3 for p in names for q in names]
made += [dim_min(*names), dim_max(*made[:9]), product(names[:4]) // made[3], select(eq(made[1], made[2]), 1, made[4])]
made += [select(all_of(lt(p, q), any_of(eq(p, 1), ne(q, 2))), p, q) for p in names for q in names[1:]]
print("\\n".join(str(d) for d in sorted(set(made), key=Dim.sort_key)))
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) > 50


def test_importing_sizes_loads_no_heavy_package() -> None:
    heavy = "{'jinja2', 'numpy', 'onnx', 'sympy'}"
    program = f"import sys, autofuse_ir.dims; print(sorted({heavy} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
