"""Arithmetic, comparison, logic, select, rounding, integer division and shifts against NumPy, bit for bit."""

import itertools

import numpy as np
import pytest

INTS = {f"{k}{b}": np.dtype(f"{k}{b // 8}") for k in "iu" for b in (8, 16, 32, 64)}
FLOATS = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
NUMBERS = INTS | FLOATS
DIVIDE_BY_ZERO, NEGATIVE_POWER = 1, 8


def pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Operands: all pairs of edge values, then random ones; a size with a tail."""
    rng = np.random.default_rng(11)
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        info = np.finfo(dtype)
        edges = np.array(
            [
                0.0,
                tiny,
                3 * tiny,
                info.tiny,
                0.1,
                0.5,
                1,
                1.5,
                2,
                2.5,
                3.7,
                1e6 + 0.5,
                2.0**23 + 1,
                2.0**52 + 1,
                1e30,
                info.max,
                np.inf,
                np.nan,
            ],
            dtype,
        )
        edges = np.concatenate([edges, -edges])
        random = np.concatenate(
            [
                rng.normal(size=3000) * 10.0 ** rng.integers(-3, 4, 3000),
                rng.integers(0, 2**63, 2003, dtype=np.uint64).astype(f"u{dtype.itemsize}").view(dtype),
            ]
        ).astype(dtype)
    else:
        info = np.iinfo(dtype)
        edges = np.array(
            [
                v
                for v in (info.min, info.min + 1, -7, -3, -2, -1, 0, 1, 2, 3, 7, 9, 31, 33, 64, info.max - 1, info.max)
                if info.min <= v <= info.max
            ],
            dtype,
        )
        random = rng.integers(info.min, info.max, 4001, dtype=dtype, endpoint=True)
        random = np.concatenate([random, random >> dtype.type(info.bits // 2)])
    a, b = np.meshgrid(edges, edges)
    other = random[rng.permutation(random.size)]
    return np.concatenate([a.ravel(), random]), np.concatenate([b.ravel(), other])


def assert_same(got: np.ndarray, want: np.ndarray, *operands: np.ndarray) -> None:
    """Equal bits; any NaN equals any other."""
    bits = np.dtype(f"u{got.dtype.itemsize}")
    wrong = got.view(bits) != np.ascontiguousarray(want).view(bits)
    if got.dtype.kind == "f":
        wrong &= ~(np.isnan(got) & np.isnan(want))
    first = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), [(*(o[i] for o in operands), got[i], want[i]) for i in first]


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["add", "sub", "mul"], NUMBERS)))
def test_arithmetic_rounds_once_and_wraps(kernels, name, dtype) -> None:
    a, b = pairs(NUMBERS[dtype])
    with np.errstate(all="ignore"):
        want = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name](a, b)
    assert_same(kernels(f"{name}_{dtype}", a, b, out=np.empty_like(a)), want, a, b)


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["neg", "abs", "sign"], NUMBERS)))
def test_signs_follow_numpy(kernels, name, dtype) -> None:
    a, _ = pairs(NUMBERS[dtype])
    with np.errstate(all="ignore"):
        want = {"neg": np.negative, "abs": np.abs, "sign": np.sign}[name](a)
    assert_same(kernels(f"{name}_{dtype}", a, out=np.empty_like(a)), want, a)


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["min", "max"], NUMBERS)))
def test_minimum_and_maximum_keep_nan_and_take_the_first_of_equals(kernels, name, dtype) -> None:
    a, b = pairs(NUMBERS[dtype])
    with np.errstate(all="ignore"):
        want = np.where(b < a if name == "min" else b > a, b, a)
        if dtype in FLOATS:
            want = np.where(np.isnan(b), b, want)
        numpy_way = {"min": np.minimum, "max": np.maximum}[name](a, b)
    assert_same(kernels(f"{name}_{dtype}", a, b, out=np.empty_like(a)), want, a, b)
    np.testing.assert_array_equal(want, numpy_way)  # equal as values; NumPy leaves the sign of a zero open


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["min", "max"], FLOATS)))
def test_minimum_and_maximum_keep_the_bits_of_nan_and_of_two_the_second(kernels, name, dtype) -> None:
    bits = np.dtype(f"u{FLOATS[dtype].itemsize}")
    quiet = np.finfo(FLOATS[dtype]).nmant - 1
    nan = np.array(np.inf, FLOATS[dtype]).view(bits) | np.array([1, 5, 1 << quiet, 1 << quiet | 3], bits)
    nan = np.concatenate([nan, nan | bits.type(1 << (8 * bits.itemsize - 1))])
    plain = np.array([0.0, -0.0, 1.0, -np.inf, np.inf], FLOATS[dtype]).view(bits)
    a, b = (grid.ravel().copy() for grid in np.meshgrid(nan, np.concatenate([nan, plain])))
    second_is_nan = np.isnan(b.view(FLOATS[dtype]))
    for first, second, want in ((a, b, np.where(second_is_nan, b, a)), (b, a, a)):
        np.testing.assert_array_equal(kernels(f"{name}_{dtype}", first, second, out=np.empty_like(a)), want)


@pytest.mark.parametrize(
    ("name", "dtype"),
    list(
        itertools.product(
            ["div", "copysign", "fmod", "remainder", "floor_divide", "reciprocal", "sqrt", "rsqrt"], FLOATS
        )
    ),
)
def test_float_operations_follow_numpy_bit_for_bit(kernels, name, dtype) -> None:
    a, b = pairs(FLOATS[dtype])
    one = a.dtype.type(1)
    how = {
        "div": np.divide,
        "copysign": np.copysign,
        "fmod": np.fmod,
        "remainder": np.remainder,
        "floor_divide": np.floor_divide,
        "reciprocal": lambda x: one / x,
        "sqrt": np.sqrt,
        "rsqrt": lambda x: one / np.sqrt(x),
    }[name]
    operands = (a,) if name in ("reciprocal", "sqrt", "rsqrt") else (a, b)
    with np.errstate(all="ignore"):
        want = how(*operands)
    assert_same(kernels(f"{name}_{dtype}", *operands, out=np.empty_like(a)), want, *operands)


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["floor", "ceil", "trunc", "rint"], FLOATS)))
def test_rounding_keeps_minus_zero_nan_and_large_values(kernels, name, dtype) -> None:
    a, _ = pairs(FLOATS[dtype])
    halves = np.arange(-300, 300, dtype=a.dtype) / 4
    a = np.concatenate([a, halves, np.nextafter(halves, a.dtype.type(np.inf))])
    assert_same(kernels(f"{name}_{dtype}", a, out=np.empty_like(a)), getattr(np, name)(a), a)


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["eq", "ne", "lt", "le", "gt", "ge"], NUMBERS)))
def test_comparisons_store_zero_or_one(kernels, name, dtype) -> None:
    a, b = pairs(NUMBERS[dtype])
    how = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
    out = np.full(a.size, 2, np.uint8).view(np.bool_)
    assert_same(kernels(f"{name}_{dtype}", a, b, out=out), how[name](a, b), a, b)


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(["isnan", "isinf", "isfinite", "signbit"], FLOATS)))
def test_classification_follows_numpy(kernels, name, dtype) -> None:
    a, _ = pairs(FLOATS[dtype])
    assert_same(kernels(f"{name}_{dtype}", a, out=np.empty(a.size, np.bool_)), getattr(np, name)(a), a)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor", "eq", "lt", "max"])
def test_logic_of_bools(kernels, name) -> None:
    a, b = np.arange(1003) % 2 == 1, np.arange(1003) % 3 == 1
    how = {"eq": np.equal, "lt": np.less, "max": np.maximum}.get(name) or getattr(np, name)
    assert_same(kernels(f"{name}_bool", a, b, out=np.empty_like(a)), how(a, b))


def test_not_of_bools(kernels) -> None:
    a = np.arange(1003) % 3 == 1
    assert_same(kernels("logical_not_bool", a, out=np.empty_like(a)), ~a)


def test_logic_joins_masks_of_different_lane_widths_and_stored_bools(kernels) -> None:
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=1024).astype(np.float32), rng.normal(size=1024), rng.integers(0, 2, 1024) == 1
    got = kernels("mixed_logic", x, y, z, out=np.empty(1024, np.bool_))
    assert_same(got, ((x < 0) & (y > 0)) | z)


@pytest.mark.parametrize(
    ("predicate", "value"), list(itertools.product(["bool", "i16", "f32", "i64"], ["u8", "f16", "f32", "f64"]))
)
def test_select_takes_predicates_of_any_width(kernels, predicate, value) -> None:
    rng = np.random.default_rng(5)
    p = {"bool": np.bool_, "i16": np.int16, "f32": np.float32, "i64": np.int64}[predicate]
    v = {"u8": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}[value]
    x, y = rng.integers(0, 2, 1003).astype(p), rng.integers(0, 2, 1003).astype(p)
    a, b = rng.integers(0, 200, 1003).astype(v), rng.integers(0, 200, 1003).astype(v)
    assert_same(kernels(f"select_{predicate}_{value}", x, y, a, b, out=np.empty_like(a)), np.where(x < y, a, b))


def truncated(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quotient towards zero and its remainder, zero where b is zero, in exact arithmetic."""
    q = [
        0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    r = [0 if y == 0 else x - k * y for x, y, k in zip(a.tolist(), b.tolist(), q, strict=True)]
    mask = 2 ** (8 * a.dtype.itemsize) - 1
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return np.array([v & mask for v in q], unsigned).view(a.dtype), np.array([v & mask for v in r], unsigned).view(
        a.dtype
    )


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_in_both_roundings(kernels, dtype) -> None:
    a, b = pairs(INTS[dtype])
    quotient, remainder = truncated(a, b)
    with np.errstate(all="ignore"):
        wants = {
            "int_div_trunc": quotient,
            "int_mod_trunc": remainder,
            "int_div_floor": np.floor_divide(a, b),
            "int_mod_floor": np.remainder(a, b),
        }
    for name, want in wants.items():
        out = np.empty_like(a)
        assert kernels.with_status(f"{name}_{dtype}", a, b, out=out) == DIVIDE_BY_ZERO
        assert_same(out, want, a, b)


@pytest.mark.parametrize("size", [3, 8, 13])
def test_dead_lanes_of_a_tail_raise_no_status(kernels, size) -> None:
    a, b, out = np.full(size, 6, np.int32), np.full(size, 3, np.int32), np.empty(size, np.int32)
    assert kernels.with_status("int_div_trunc_i32", a, b, out=out) == 0
    b[size - 1] = 0
    assert kernels.with_status("int_div_trunc_i32", a, b, out=out) == DIVIDE_BY_ZERO


@pytest.mark.parametrize("dtype", INTS)
def test_integer_powers_wrap(kernels, dtype) -> None:
    a, b = pairs(INTS[dtype])
    b = np.abs(b) % INTS[dtype].type(70)
    b = np.where(b < 0, 0, b).astype(a.dtype)
    out = np.empty_like(a)
    assert kernels.with_status(f"int_pow_{dtype}", a, b, out=out) == 0
    mask = 2 ** (8 * a.dtype.itemsize)
    want = np.array([pow(x, y, mask) for x, y in zip(a.tolist(), b.tolist(), strict=True)], f"u{a.dtype.itemsize}")
    assert_same(out, want.view(a.dtype), a, b)


def test_negative_integer_powers_raise_a_status_and_truncate(kernels) -> None:
    a = np.array([1, -1, -1, 0, 2, -5, 7], np.int32)
    b = np.array([-3, -3, -4, -1, -1, -2, 2], np.int32)
    out = np.empty_like(a)
    assert kernels.with_status("int_pow_i32", a, b, out=out) == NEGATIVE_POWER
    np.testing.assert_array_equal(out, [1, -1, 1, 0, 0, 0, 49])


@pytest.mark.parametrize(
    ("name", "dtype"), list(itertools.product(["bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"], INTS))
)
def test_bits_and_shifts_follow_numpy(kernels, name, dtype) -> None:
    a, b = pairs(INTS[dtype])
    how = {
        "bit_and": np.bitwise_and,
        "bit_or": np.bitwise_or,
        "bit_xor": np.bitwise_xor,
        "shift_left": np.left_shift,
        "shift_right": np.right_shift,
    }[name]
    assert_same(kernels(f"{name}_{dtype}", a, b, out=np.empty_like(a)), how(a, b), a, b)
    assert_same(kernels(f"bit_not_{dtype}", a, out=np.empty_like(a)), ~a, a)
