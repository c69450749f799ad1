"""Element types on emulated Ascend chips: integers have the CPU's bits and errors, float64 is the host's."""

from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph

Array = np.ndarray[Any, Any]
TARGETS = ("ascend-a2", "ascend-350")


def results(graph: Graph, target: str, *arrays: Array) -> tuple[int, list[Array]]:
    """Return how many kernels ``graph`` has on ``target``, and its results."""
    fn = autofuse.compile(graph, target=target)
    found = fn(*arrays)
    return len(fn.program.kernels), list(found) if isinstance(found, (tuple, list)) else [found]


def check(graph: Graph, target: str, *arrays: Array) -> int:
    kernels, found = results(graph, target, *arrays)
    for one, other in zip(found, results(graph, "cpu", *arrays)[1], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    return kernels


def long_integers() -> Graph:
    b = GraphBuilder("long_integers")
    x, y = b.input("x", ("n", "m"), dt.int64), b.input("y", ("n", "m"), dt.int64)
    total = b.op("Maximum", b.op("Add", b.op("Mul", x, y), x), y)
    chosen = b.op("SelectV2", b.op("Less", total, x), b.op("FloorDiv", x, y), b.op("Sub", x, y))
    rows = b.op("ReduceSumD", total, axes=(1,), keep_dims=False)
    return b.build({"chosen": chosen, "rows": rows, "shifted": b.op("LeftShift", x, b.op("BitwiseAnd", y, x))})


def quotients(dtype: dt.DType) -> Graph:
    b = GraphBuilder(f"quotients_{dtype.name}")
    x, y = b.input("x", ("n",), dtype), b.input("y", ("n",), dtype)
    return b.build({"quotient": b.op("FloorDiv", x, y), "rest": b.op("FloorMod", x, y)})


def positions(dtype: dt.DType) -> Graph:
    b = GraphBuilder(f"positions_{dtype.name}")
    x = b.input("x", ("n", "m"), dtype)
    return b.build({"first": b.op("ArgMax", b.op("Abs", x), axis=1, keepdims=False)})


def doubles() -> Graph:
    b = GraphBuilder("doubles")
    x, y = b.input("x", ("n",), dt.float64), b.input("y", ("n",), dt.float32)
    wide = b.op("Add", b.op("Abs", x), x)
    return b.build({"wide": wide, "narrow": b.op("Exp", b.op("Abs", y))})


def integers(dtype: type, *shape: int) -> Array:
    limits = np.iinfo(dtype)
    found = np.random.default_rng(3).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    found[..., 0] = limits.min
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_long_integers_wrap_as_on_the_cpu(target: str) -> None:
    x = integers(np.int64, 9, 70)
    y = np.where(x % 5 == 0, np.int64(-1), x >> 31) | 1
    assert check(long_integers(), target, x, y) >= 1


@pytest.mark.parametrize("dtype", [dt.int32, dt.uint8], ids=lambda d: d.text)
def test_quotients_are_exact(dtype: dt.DType) -> None:
    x = integers(np.dtype(dtype.numpy_name).type, 4_000)
    y = np.roll(x, 7) | x.dtype.type(1)
    assert check(quotients(dtype), "ascend-a2", x, y) >= 1


def test_division_by_zero_is_the_error_of_the_cpu() -> None:
    x, y = np.arange(1_000, dtype=np.int32), np.ones(1_000, np.int32)
    y[777] = 0
    errors = []
    for target in ("ascend-a2", "cpu"):
        fn = autofuse.compile(quotients(dt.int32), target=target)
        with pytest.raises(Exception, match="divided by zero") as caught:
            fn(x, y)
        errors.append(type(caught.value))
    assert errors[0] is errors[1]


@pytest.mark.parametrize("dtype", [dt.float32, dt.int64, dt.uint8], ids=lambda d: d.text)
def test_positions_of_extremes_are_found_in_every_type(dtype: dt.DType) -> None:
    x = np.random.default_rng(4).integers(0, 9, (40, 300)).astype(dtype.numpy_name)
    assert check(positions(dtype), "ascend-a2", x) >= 1


@pytest.mark.parametrize("target", TARGETS)
def test_float64_is_left_to_the_host(target: str) -> None:
    x, y = np.linspace(-3, 3, 50), np.zeros(50, np.float32)
    assert check(doubles(), target, x, y) == 1
