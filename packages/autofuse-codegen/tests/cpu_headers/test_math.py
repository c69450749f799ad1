"""Math functions: error bounds of math_bounds.toml, special values, and independence of lanes and tails."""

import ctypes
import math
import tomllib

import mpmath
import numpy as np
import pytest

ONE_ARGUMENT = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "tanh",
    "sigmoid",
    "erf",
    "erfc",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
]
TWO_ARGUMENTS = ["pow", "atan2"]
DTYPES = {"f32": np.float32, "f64": np.float64}
STRIDE = 1021  # of the 2^32 bit patterns of a float; prime, so that every bit takes part
SAMPLES = 200_000


@pytest.fixture(scope="session")
def bounds(include_dir) -> dict[tuple[str, str], float]:
    table = tomllib.loads((include_dir / "math_bounds.toml").read_text())
    return {(row["function"], row["dtype"]): row["max_ulp"] for row in table["bound"]}


def test_every_function_has_a_bound(bounds) -> None:
    names = {"float32": "f32", "float64": "f64"}
    assert {(f, names[d]) for f, d in bounds} == {(f, d) for f in ONE_ARGUMENT + TWO_ARGUMENTS for d in DTYPES}


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_floats_over_all_magnitudes_keep_the_bound(math_kernels, reference, bounds, name) -> None:
    at = ctypes.c_double()
    kernel = getattr(math_kernels.library, f"{name}_f32")
    worst = reference.worst_f32(name.encode(), kernel, ctypes.c_uint32(7), ctypes.c_uint32(STRIDE), ctypes.byref(at))
    assert worst <= bounds[name, "float32"], f"at {at.value!r}"


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_doubles_keep_the_bound(math_kernels, reference, bounds, name) -> None:
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("long double is no wider than double here")
    at = ctypes.c_double()
    kernel = getattr(math_kernels.library, f"{name}_f64")
    worst = reference.worst_f64(name.encode(), kernel, ctypes.c_longlong(SAMPLES), ctypes.byref(at))
    assert worst <= bounds[name, "float64"], f"at {at.value!r}"


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in TWO_ARGUMENTS for d in DTYPES])
def test_functions_of_two_arguments_keep_the_bound(math_kernels, reference, bounds, name, dtype) -> None:
    at = (ctypes.c_double * 2)()
    kernel = getattr(math_kernels.library, f"{name}_{dtype}")
    worst = getattr(reference, f"worst2_{dtype}")(name.encode(), kernel, ctypes.c_longlong(SAMPLES), at)
    assert worst <= bounds[name, np.dtype(DTYPES[dtype]).name], f"at {list(at)}"


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_doubles_agree_with_arbitrary_precision(math_kernels, bounds, name) -> None:
    rng = np.random.default_rng(17)
    x = np.concatenate(
        [
            rng.normal(size=60),
            rng.normal(size=40) * 30,
            np.ldexp(rng.normal(size=40), rng.integers(-80, 1000, 40)),
            rng.uniform(-1, 1, 40),
        ]
    )
    got = math_kernels(f"{name}_f64", x, out=np.empty_like(x))
    how = {
        "exp2": lambda v: mpmath.power(2, v),
        "sigmoid": lambda v: 1 / (1 + mpmath.exp(-v)),
        "rsqrt": lambda v: 1 / mpmath.sqrt(v),
        "log1p": mpmath.log1p,
        "log2": lambda v: mpmath.log(v, 2),
    }.get(name) or getattr(mpmath, name)
    with mpmath.workdps(60 if name not in ("sin", "cos", "tan") else 360):
        for value, result in zip(x.tolist(), got.tolist(), strict=True):
            if name == "sigmoid" and value < -1e4:
                assert result == 0
                continue
            if name in ("exp", "exp2", "expm1", "sinh", "cosh", "erf", "erfc") and abs(value) > 5000:
                continue  # too far for a big-number result; the C library covers it
            try:
                want = how(mpmath.mpf(value))
            except (ValueError, ZeroDivisionError):
                continue
            if isinstance(want, mpmath.mpc) or mpmath.isnan(want):
                assert math.isnan(result), value
            elif not mpmath.isinf(want) and abs(want) < mpmath.mpf(2) ** 1023:
                error = abs(want - mpmath.mpf(result)) / mpmath.mpf(math.ulp(float(want)))
                assert error <= bounds[name, "float64"], (value, result)


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5]
NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ONE_ARGUMENT for d in DTYPES])
def test_special_values_are_exact(math_kernels, name, dtype) -> None:
    kind = DTYPES[dtype]
    edges = [np.finfo(kind).max, np.finfo(kind).tiny, np.finfo(kind).smallest_subnormal]
    x = np.array(SPECIAL + edges + [-e for e in edges], kind)
    got = math_kernels(f"{name}_{dtype}", x, out=np.empty_like(x)).astype(np.float64)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        if name in ("erf", "erfc"):
            want = np.array([getattr(math, name)(v) for v in wide])
        elif name == "sigmoid":
            want = np.where(wide < 0, np.exp(wide) / (1 + np.exp(wide)), 1 / (1 + np.exp(-wide)))
            want = np.where(wide == -np.inf, 0, want)
        elif name == "rsqrt":
            want = 1 / np.sqrt(wide)
        else:
            want = getattr(np, NUMPY_NAMES.get(name, name))(wide)
        rounded = want.astype(kind)
    exact = np.isnan(want) | np.isinf(rounded) | (rounded == 0)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(got[exact], rounded[exact].astype(np.float64))
    zeros = exact & (want == 0)
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in TWO_ARGUMENTS for d in DTYPES])
def test_special_pairs_are_those_of_c(math_kernels, name, dtype) -> None:
    kind = DTYPES[dtype]
    values = [
        *SPECIAL,
        3.0,
        -3.0,
        2.5,
        -2.5,
        1e30,
        -1e30,
        16777217.0,
        np.finfo(kind).max,
        np.finfo(kind).smallest_subnormal,
    ]
    a, b = (np.ascontiguousarray(v.ravel()) for v in np.meshgrid(np.array(values, kind), np.array(values, kind)))
    got = math_kernels(f"{name}_{dtype}", a, b, out=np.empty_like(a))
    with np.errstate(all="ignore"):
        how = np.power if name == "pow" else np.arctan2
        want = how(a.astype(np.float64), b.astype(np.float64)).astype(kind)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    exact = np.isinf(want) | (want == 0)
    np.testing.assert_array_equal(got[exact], want[exact])
    sure = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[sure]), np.signbit(want[sure]))
    np.testing.assert_allclose(got[sure & ~exact], want[sure & ~exact], rtol=4 * np.finfo(kind).eps)


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ONE_ARGUMENT for d in DTYPES])
def test_bits_do_not_depend_on_lane_tail_or_neighbours(math_kernels, name, dtype) -> None:
    rng = np.random.default_rng(23)
    values = np.concatenate(
        [rng.normal(size=700) * 4, np.ldexp(rng.normal(size=300), rng.integers(-120, 120, 300)), SPECIAL]
    )
    x = values.astype(DTYPES[dtype])
    straight = math_kernels(f"{name}_{dtype}", x, out=np.empty_like(x))
    order = rng.permutation(x.size)
    shuffled = math_kernels(f"{name}_{dtype}", x[order], out=np.empty_like(x))
    alone = np.concatenate(
        [math_kernels(f"{name}_{dtype}", x[i : i + 1], out=np.empty(1, x.dtype)) for i in range(x.size)]
    )
    bits = f"u{x.dtype.itemsize}"
    kept = ~np.isnan(straight)
    np.testing.assert_array_equal(straight.view(bits)[order][kept[order]], shuffled.view(bits)[kept[order]])
    np.testing.assert_array_equal(straight.view(bits)[kept], alone.view(bits)[kept])
    np.testing.assert_array_equal(np.isnan(alone), ~kept)
