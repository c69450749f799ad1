"""Loads and stores touch exactly the elements they are asked for."""

import ctypes
import itertools
import mmap

import numpy as np
import pytest

DTYPES = {"bool": "?", "u8": "u1", "i16": "i2", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8"}


def guarded(dtype: np.dtype, count: int, at_end: bool) -> tuple[mmap.mmap, np.ndarray]:
    """`count` elements that end (or begin) exactly at an inaccessible page: one byte too far is a crash."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(address, page, 0) == 0
    assert protect(address + 2 * page, page, 0) == 0
    start = 2 * page - count * dtype.itemsize if at_end else page
    return memory, np.frombuffer(memory, dtype, count, start)


@pytest.mark.parametrize(("name", "at_end"), list(itertools.product(DTYPES, [False, True])))
def test_tails_of_every_length_stay_inside_their_elements(kernels, name, at_end) -> None:
    dtype = np.dtype(DTYPES[name])
    lanes = kernels.library.lanes()
    for count in range(2 * lanes):
        _keep_a, source = guarded(dtype, count, at_end)
        _keep_b, target = guarded(dtype, count, at_end)
        source[:] = (np.arange(count) % 2 if name == "bool" else np.arange(1, count + 1)).astype(dtype)
        kernels(f"copy_{name}", source, out=target)
        np.testing.assert_array_equal(target, source)


@pytest.mark.parametrize("name", DTYPES)
def test_tail_stores_leave_their_neighbours_alone(kernels, name) -> None:
    dtype = np.dtype(DTYPES[name])
    lanes = kernels.library.lanes()
    for count in range(lanes):
        source = np.ones(count, dtype)
        out = np.zeros(count + 2 * lanes, dtype)
        kernels(f"copy_{name}", source, out=out[lanes : lanes + count])
        assert not out[:lanes].any()
        assert not out[lanes + count :].any()
        assert out[lanes : lanes + count].all()


@pytest.mark.parametrize("name", DTYPES)
def test_dead_lanes_hold_the_fill_value(kernels, name) -> None:
    dtype = np.dtype(DTYPES[name])
    lanes = kernels.library.lanes()
    for count, fill in itertools.product(range(lanes), [0, 1]):
        source, out, value = np.zeros(lanes, dtype), np.empty(lanes, dtype), np.full(1, fill, dtype)
        source[:count] = 1
        where = [ctypes.c_void_p(x.ctypes.data) for x in (source, out)]
        getattr(kernels.library, f"load_tail_{name}")(
            *where, ctypes.c_longlong(count), ctypes.c_void_p(value.ctypes.data)
        )
        np.testing.assert_array_equal(out, np.where(np.arange(lanes) < count, 1, fill).astype(dtype))


@pytest.mark.parametrize(("name", "step"), list(itertools.product(DTYPES, [-3, -1, 0, 1, 2, 5])))
def test_strided_loads_and_stores_walk_in_elements(kernels, name, step) -> None:
    dtype = np.dtype(DTYPES[name])
    lanes = kernels.library.lanes()
    size = lanes * 6
    source = (np.arange(size) % (2 if name == "bool" else 100)).astype(dtype)
    first = size - 1 if step < 0 else 0
    want = source[first + step * np.arange(lanes)]
    start = ctypes.c_void_p(source.ctypes.data + first * dtype.itemsize)
    out = np.zeros(2 * lanes, dtype)
    getattr(kernels.library, f"strided_{name}")(
        start, ctypes.c_void_p(out.ctypes.data), *map(ctypes.c_longlong, (step, 2))
    )
    np.testing.assert_array_equal(out[::2], want)
    assert not out[1::2].any()
    for count in range(lanes + 1):
        out[:] = 0
        arguments = map(ctypes.c_longlong, (step, 2, count))
        getattr(kernels.library, f"strided_tail_{name}")(start, ctypes.c_void_p(out.ctypes.data), *arguments)
        np.testing.assert_array_equal(out[: 2 * count : 2], want[:count])
        assert not out[2 * count :].any()


@pytest.mark.parametrize("name", DTYPES)
def test_non_temporal_stores_write_what_plain_ones_do(kernels, name) -> None:
    dtype = np.dtype(DTYPES[name])
    lanes = kernels.library.lanes()
    alignment = getattr(kernels.library, f"nt_alignment_{name}")()
    assert alignment <= 64
    raw = np.zeros(lanes * 16 * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    out = raw[start : start + lanes * 16 * dtype.itemsize].view(dtype)
    source = (np.arange(lanes * 16) % (2 if name == "bool" else 100)).astype(dtype)
    kernels(f"copy_nt_{name}", source, out=out)
    np.testing.assert_array_equal(out, source)


def test_iota_counts_and_wraps(kernels) -> None:
    lanes = kernels.library.lanes()
    out = np.empty(lanes, np.int32)
    start, step = 2**31 - 3, 2
    kernels.library.iota_i32(ctypes.c_void_p(out.ctypes.data), ctypes.c_int32(start), ctypes.c_int32(step))
    want = (start + step * np.arange(lanes, dtype=np.int64)).astype(np.uint32).view(np.int32)
    np.testing.assert_array_equal(out, want)
