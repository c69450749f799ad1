"""af_cast: every pair of dtypes against NumPy and ml_dtypes, out-of-range values against the documented rule."""

import functools
import itertools
import math

import ml_dtypes
import numpy as np
import pytest

DTYPES = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
INTS = [name for name, dtype in DTYPES.items() if dtype.kind in "iu"]
FLOATS = ["f16", "bf16", "f32", "f64"]
ROUNDING = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127)}


@functools.cache
def samples(name: str) -> np.ndarray:
    """Values of a dtype: all of 16 bits and less; edges, powers of two and their neighbours, and random bits else."""
    dtype = DTYPES[name]
    rng = np.random.default_rng(7)
    if name == "bool":
        return np.array([False, True] * 9)
    if dtype.itemsize <= 2:
        bits = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
        return bits.view(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [s * 2**k + d for k in range(info.bits) for d in (-3, -1, 0, 1, 3) for s in (1, -1)]
        halves = [
            2**k + 2**j + d
            for k in range(9, info.bits)
            for j in (k - 8, k - 9, k - 11, k - 12)
            if j >= 0
            for d in (-1, 0, 1)
        ]
        kept = [v for v in (*edges, *halves) if info.min <= v <= info.max]
        random = rng.integers(info.min, info.max, 3000, dtype=dtype, endpoint=True)
        return np.concatenate([np.array(kept, dtype), random, random >> rng.integers(0, info.bits, 3000).astype(dtype)])
    unsigned = f"u{dtype.itemsize}"
    random = rng.integers(0, np.iinfo(unsigned).max, 4000, dtype=unsigned, endpoint=True).view(dtype)
    grid = np.concatenate([np.arange(2**16, dtype=np.uint16).view(np.float16).astype(dtype), halfway_bfloat16(dtype)])
    powers = np.ldexp(dtype.type(1), np.arange(-20, 66)).astype(dtype)
    near = np.concatenate(
        [powers, np.nextafter(powers, dtype.type(0)), np.nextafter(powers, dtype.type(np.inf)), powers - 1]
    )
    ties = near[:, None] * np.array([1, 1 + 2.0**-8, 1 + 2.0**-9, 1 + 2.0**-11, 1 + 2.0**-12, 1.5], dtype)
    edge_ties = np.array([65519.996, 65520, 65504, 2.0**-24, 2.0**-25, 3.0e-8, 2.0**-133, 2.0**-134, 3.39e38], dtype)
    values = np.concatenate([random, grid, near, ties.ravel(), edge_ties, [0.0, np.inf, np.nan]]).astype(dtype)
    moved = np.concatenate(
        [values, np.nextafter(values, dtype.type(np.inf)), np.nextafter(values, -dtype.type(np.inf))]
    )
    return np.concatenate([moved, -moved]).astype(dtype)


def halfway_bfloat16(dtype: np.dtype) -> np.ndarray:
    """Values exactly between two neighbouring bfloat16 numbers, subnormal ones included."""
    bits = (np.arange(0, 2**15 - 2**7, 13, dtype=np.uint32) << 16) | 0x8000
    return bits.view(np.float32).astype(dtype)


def rounded_once(value: int | float, name: str) -> float:
    """A finite value rounded to nearest even to a float format, in exact integer arithmetic."""
    if value == 0:
        return float(value)
    digits, least, most = ROUNDING[name]
    numerator, denominator = value.as_integer_ratio()
    sign, numerator = (-1, -numerator) if numerator < 0 else (1, numerator)
    exponent = numerator.bit_length() - denominator.bit_length()
    if numerator * 2 ** max(0, -exponent) < denominator * 2 ** max(0, exponent):
        exponent -= 1
    unit = max(exponent, least) - digits + 1
    scaled_n, scaled_d = numerator * 2 ** max(0, -unit), denominator * 2 ** max(0, unit)
    units, rest = divmod(scaled_n, scaled_d)
    if 2 * rest > scaled_d or (2 * rest == scaled_d and units % 2):
        units += 1
    overflows = units.bit_length() + unit > most + 1
    return sign * (math.inf if overflows else math.ldexp(units, unit))


def expected_cast(values: np.ndarray, source: str, target: str) -> np.ndarray:
    to = DTYPES[target]
    with np.errstate(all="ignore"):
        if target == "bool":
            return values != DTYPES[source].type(0)
        if source in FLOATS and target in INTS:
            info = np.iinfo(to)
            wide = values.astype(np.float64)
            exact = [
                0 if math.isnan(v) else info.max if v > info.max else info.min if v < info.min else int(v)
                for v in wide.tolist()
            ]
            return np.array(exact, dtype=to)
        if target in ("f16", "bf16") and source in ("i32", "u32", "i64", "u64", "f64"):
            items = values.tolist()
            exact = [v if isinstance(v, float) and not math.isfinite(v) else rounded_once(v, target) for v in items]
            out = np.array(exact, np.float64).astype(to)
            if source == "f64":
                out = np.where((values == 0) & np.signbit(values), -np.array(0, to), out).astype(to)
                out = np.where((out == 0) & np.signbit(values), np.array(-0.0, to), out).astype(to)
            return out
        return values.astype(to)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)))
def test_every_pair_casts_as_numpy_and_out_of_range_saturates(kernels, source, target) -> None:
    values = samples(source)
    got = kernels(f"cast_{source}_{target}", values, out=np.empty(values.size, DTYPES[target]))
    want = expected_cast(values, source, target)
    if target in FLOATS:
        both_nan = np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64))
        bits = f"u{DTYPES[target].itemsize}"
        wrong = (got.view(bits) != want.view(bits)) & ~both_nan
    else:
        wrong = got.view(np.uint8 if target == "bool" else got.dtype) != want.view(
            np.uint8 if target == "bool" else want.dtype
        )
    first = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), [(values[i], got[i], want[i]) for i in first]


@pytest.mark.parametrize(("kernel", "dtype"), [("round_f16", np.float16), ("round_bf16", ml_dtypes.bfloat16)])
def test_rounding_to_a_half_equals_narrowing_and_widening(kernels, kernel, dtype) -> None:
    values = samples("f32")
    got = kernels(f"{kernel}_f32", values, out=np.empty_like(values))
    with np.errstate(all="ignore"):
        want = values.astype(dtype).astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    kept = ~np.isnan(want)
    np.testing.assert_array_equal(got.view(np.uint32)[kept], want.view(np.uint32)[kept])
