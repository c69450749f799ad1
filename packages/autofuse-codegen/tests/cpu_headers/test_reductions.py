"""Reductions, scans and bounded loads of the headers, against scalar definitions, for several instruction sets."""

import ctypes
import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

MARCHES = ("native", "x86-64-v3", "x86-64")
# name: element type, join, identity, partials, leaf
TREES = {
    "sum_f32": (np.float32, np.add, -0.0, 64, 4096),
    "chain_f32": (np.float32, np.add, -0.0, 1, 64),
    "max_f32": (np.float32, np.maximum, -np.inf, 64, 256),
    "sum_f64": (np.float64, np.add, -0.0, 32, 128),
    "prod_i32": (np.int32, np.multiply, 1, 64, 128),
    "min_u8": (np.uint8, np.minimum, 255, 256, 4096),
    "any_bool": (np.bool_, np.logical_or, False, 256, 4096),
    "all_bool": (np.bool_, np.logical_and, True, 256, 512),
}
LENGTHS = (0, 1, 2, 3, 63, 64, 65, 127, 129, 1000, 4095, 4096, 4097, 8192, 12289, 20001)


@functools.cache
def tree_order(length: int, partials: int, leaf: int) -> tuple[object, ...]:
    """The joins of a reduction over ``length`` elements, as nested pairs of element numbers (None: the identity)."""

    def halves(parts: list[object]) -> object:
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [(parts[j], parts[j + half]) for j in range(half)]
        return parts[0]

    level: list[object] = []
    for first in range(0, length, leaf):
        parts: list[object] = [None] * partials
        for number in range(first, min(first + leaf, length)):
            parts[(number - first) % partials] = (parts[(number - first) % partials], number)
        level.append(halves(parts))
    while len(level) > 1:
        level = [tuple(level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return tuple(level)


def by_definition(x: np.ndarray, name: str) -> np.ndarray:
    """The reduction of the last axis, joined as `tree_order` says."""
    dtype, join, identity, partials, leaf = TREES[name]
    order = tree_order(x.shape[-1], partials, leaf)
    if not order:
        return np.full(x.shape[:-1], 0 if join is np.add else identity, dtype)
    done: list[np.ndarray] = []
    pending: list[object] = [order[0]]
    while pending:  # post-order, without recursion: chains are thousands of elements deep
        node = pending.pop()
        match node:
            case None:
                done.append(np.full(x.shape[:-1], identity, dtype))
            case int():
                done.append(x[..., node])
            case "join":
                right, left = done.pop(), done.pop()
                done.append(join(left, right).astype(dtype))
            case (left, right):
                pending += ["join", right, left]
    return done[0]


def sample(name: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    dtype, random = np.dtype(TREES[name][0]), np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.random(shape) < (0.999 if name.startswith("all") else 0.001)
    if dtype.kind in "iu":
        return random.integers(1, np.iinfo(dtype).max, shape, dtype)
    return (random.standard_normal(shape) * 10.0 ** random.integers(-3, 4, shape)).astype(dtype)


def assert_same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(actual.view(f"u{actual.itemsize}"), expected.view(f"u{expected.itemsize}"))


Library = ctypes.CDLL


@pytest.fixture(scope="module", params=MARCHES)
def library(
    request: pytest.FixtureRequest, compile_source: Callable[..., Path], paste_headers: Callable[..., str], on_x86: bool
) -> Library:
    if request.param != "native" and not on_x86:
        pytest.skip("these levels are names of x86 instruction sets")
    names = ["af_reduce.h", "af_reduce_rows.h", "af_scan.h", "af_gather.h"]
    source = paste_headers(names) + (Path(__file__).parent / "reductions.inc").read_text()
    built = ctypes.CDLL(str(compile_source("reductions", source, march=request.param, more=["-O1"])))
    built.load_within_i16.restype = built.gather_f64.restype = ctypes.c_uint32
    return built


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def long(value: int) -> ctypes.c_longlong:
    return ctypes.c_longlong(value)


@pytest.mark.parametrize("name", TREES)
def test_rows_are_joined_by_the_tree_wherever_strips_start(library: Library, name: str) -> None:
    for length in LENGTHS:
        x = sample(name, (length,), length)
        expected = by_definition(x, name)
        for row, walk in itertools.product((max(1, length), 49, 7), (0, 1, 2)):
            out = np.zeros((), x.dtype)
            getattr(library, f"tree_{name}")(pointer(x), long(length), long(row), walk, pointer(out))
            assert_same_bits(out, expected)


@pytest.mark.parametrize("name", TREES)
def test_leaves_of_any_number_of_blocks_join_to_the_same_bits(library: Library, name: str) -> None:
    leaf = TREES[name][4]
    for length, blocks in itertools.product((0, 1, 4097, 20001), (1, 3)):
        x = sample(name, (length,), length)
        cut = max(1, -(-length // blocks // leaf)) * leaf
        memory, out = np.zeros(length // leaf + 1, x.dtype), np.zeros((), x.dtype)
        getattr(library, f"leaves_{name}")(pointer(x), long(length), long(cut), pointer(memory), pointer(out))
        assert_same_bits(out, by_definition(x, name))


@pytest.mark.parametrize("name", ["chain_f32", "sum_f64", "max_f32", "any_bool"])
def test_columns_are_joined_by_the_tree_in_the_memory_they_are_given(library: Library, name: str) -> None:
    count = getattr(library, f"state_rows_{name}")
    count.restype = ctypes.c_longlong
    for n, m in itertools.product((0, 1, 2, 63, 64, 65, 257, 700), (1, 5, 33)):
        x = sample(name, (n, m), n + m)
        needed = count(long(n)) * m
        memory = np.ones(needed + m, x.dtype)
        out = np.zeros(m, x.dtype)
        getattr(library, f"rows_{name}")(pointer(x), long(n), long(m), pointer(memory), pointer(out))
        assert_same_bits(out, by_definition(np.ascontiguousarray(x.T), name))
        assert memory[needed:].all()


def test_zeros_keep_their_sign_and_nan_goes_through(library: Library) -> None:
    minus = np.full(100, -0.0, np.float32)
    out = np.zeros((), np.float32)
    library.tree_sum_f32(pointer(minus), long(100), long(100), 1, pointer(out))
    assert np.signbit(out)
    library.tree_sum_f32(pointer(minus), long(0), long(1), 1, pointer(out))
    assert not np.signbit(out)
    minus[70] = np.nan
    library.tree_max_f32(pointer(minus), long(100), long(100), 1, pointer(out))
    assert np.isnan(out)


@pytest.mark.parametrize(("exclusive", "back"), list(itertools.product((False, True), repeat=2)))
def test_scans_join_one_element_after_the_other(library: Library, exclusive: bool, back: bool) -> None:
    for length in (0, 1, 2, 15, 16, 17, 100):
        x = sample("sum_f32", (length,), length)
        ordered = x[::-1] if back else x
        expected = np.add.accumulate(ordered)
        if exclusive and length:
            expected = np.concatenate([np.zeros(1, np.float32), expected[:-1]])
        out = np.zeros_like(x)
        library.scan_f32(pointer(x), long(length), exclusive, back, pointer(out))
        assert_same_bits(out, np.ascontiguousarray(expected[::-1] if back else expected))


@pytest.mark.parametrize("exclusive", [False, True])
def test_scans_along_an_outer_axis_carry_a_row(library: Library, exclusive: bool) -> None:
    for n, m in itertools.product((1, 2, 9), (1, 15, 16, 35)):
        x = sample("sum_f32", (n, m), n * m)
        expected = np.add.accumulate(x, axis=0)
        if exclusive:
            expected = np.concatenate([np.zeros((1, m), np.float32), expected[:-1]])
        out, memory = np.zeros_like(x), np.full(m, np.nan, np.float32)
        library.scan_rows_f32(pointer(x), long(n), long(m), exclusive, pointer(memory), pointer(out))
        assert_same_bits(out, expected)


def test_positions_inside_of_a_dim_are_an_interval(library: Library) -> None:
    out = np.zeros(2, np.int64)
    for first, step, size in itertools.product(range(-7, 8), (-3, -2, -1, 0, 1, 2, 5), (0, 1, 2, 6)):
        library.within(long(first), long(step), long(size), pointer(out))
        inside = [i for i in range(40) if 0 <= first + step * i < size]
        assert [i for i in range(40) if out[0] <= i < out[1]] == inside, (first, step, size)


@pytest.mark.parametrize("step", [-2, -1, 0, 1, 3])
def test_loads_that_leave_their_data_fill_and_report(library: Library, step: int) -> None:
    x = np.arange(100, 140, dtype=np.int16)
    for first, n in itertools.product((-5, 0, 3, 39, 60), (1, 7, 16, 33, 70)):
        at = first + step * np.arange(n)
        inside = (at >= 0) & (at < x.size)
        out = np.zeros(n, np.int16)
        status = library.load_within_i16(pointer(x), long(x.size), long(first), long(step), long(n), pointer(out))
        np.testing.assert_array_equal(out, np.where(inside, x[np.where(inside, at, 0)], 7))
        assert status == (0 if inside.all() else 2)


def test_gathers_check_every_index_before_they_read(library: Library) -> None:
    x = np.arange(50.0)
    for n in (1, 15, 16, 17, 40):
        index = np.random.default_rng(n).integers(0, 50, n).astype(np.uint64)
        out = np.zeros(n)
        assert library.gather_f64(pointer(x), long(50), pointer(index), long(n), pointer(out)) == 0
        np.testing.assert_array_equal(out, x[index])
        for wrong in (50, 2**63, 2**64 - 1):
            index[n // 2] = wrong
            assert library.gather_f64(pointer(x), long(50), pointer(index), long(n), pointer(out)) == 2
            assert out[n // 2] == 7
