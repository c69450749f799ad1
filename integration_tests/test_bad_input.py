"""Compiled functions given bad and odd input: the right result, or one paragraph that says what is wrong."""

import re
from collections.abc import Callable
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.errors import AutofuseError
from autofuse_reference.arrays import to_tensor_data
from autofuse_testkit.compiled_graph import Outputs, compiled, scaled_sum
from numpy.lib.stride_tricks import as_strided

Array = np.ndarray[Any, Any]
TIERS = ("jit", "interpreter")
F = np.float32


@pytest.fixture(scope="module", params=TIERS)
def add(request: pytest.FixtureRequest) -> Any:
    """x [n, m] + y [n, 1] on every tier, n in 0..100, m in 1..50."""
    return compiled(scaled_sum, dims={"n": (0, 100), "m": (1, 50)}, tier=request.param)


X, Y = np.arange(20, dtype=F).reshape(4, 5), np.ones((4, 1), F)
READ_ONLY = np.broadcast_to(F(0), (4, 5))


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((X.astype(np.float64), Y), {}, "dtype float64"),
        ((X.astype(object), Y), {}, "dtype object"),
        ((X.astype(">f4"), Y), {}, "dtype >f4"),
        ((X[0], Y), {}, "1 dims"),
        ((F(3), Y), {}, "0 dims"),
        ((np.ones((101, 5), F), np.ones((101, 1), F)), {}, "0..100"),
        ((np.ones((4, 0), F), Y), {}, "1..50"),
        ((np.broadcast_to(F(1), (2**31, 5)), Y), {}, "2147483648"),
        ((X, np.ones((5, 1), F)), {}, "disagree on size n"),
        ((X, np.ones((4, 2), F)), {}, "1 is expected"),
        ((X,), {}, "'y' is missing"),
        ((X, Y, X), {}, "3 inputs"),
        ((X, Y), {"w": X}, "no input 'w'"),
        ((X, Y), {"x": X}, "twice"),
        (([[1.0]], Y), {}, "list"),
        ((None, Y), {}, "NoneType"),
        ((X, Y), {"out": READ_ONLY}, "read-only"),
        ((X, Y), {"out": np.empty((4, 6), F)}, "shape [4, 6]"),
        ((X, Y), {"out": np.empty((4, 5))}, "dtype float64"),
        ((X, Y), {"out": ()}, "0 arrays"),
        ((X, Y), {"out": "z"}, "str"),
    ],
)
def test_wrong_arguments_are_named_and_the_next_call_is_fine(
    add: Any, args: tuple[Any, ...], kwargs: dict[str, Any], words: str
) -> None:
    with pytest.raises(AutofuseError, match=re.escape(words)) as caught:
        add(*args, **kwargs)
    assert caught.value.exit_code == 2
    assert caught.value.where
    assert caught.value.fix
    np.testing.assert_array_equal(add(X, Y), X + Y)


def test_objects_that_fail_when_asked_are_no_arrays(add: Any) -> None:
    class Failing:
        def __dlpack_device__(self) -> tuple[int, int]:
            raise RuntimeError("no")

        def __dlpack__(self) -> object:
            raise RuntimeError("no")

    with pytest.raises(AutofuseError, match="not an array"):
        add(Failing(), Y)


def test_any_layout_of_inputs_and_outputs_gives_the_same_result(add: Any) -> None:
    unaligned = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(F).reshape(4, 5)
    views = (np.asfortranarray(X), X[::-1], X[:, ::-1], np.repeat(X, 2, 1)[:, ::2], np.broadcast_to(F(2), (4, 5)))
    for x in (*views, unaligned):
        np.testing.assert_array_equal(add(x, Y), x + Y)
    for out in (np.empty((4, 5), F, order="F"), np.empty((4, 5), F)[::-1, ::-1], X.copy()):
        np.testing.assert_array_equal(add(X, Y, out=out), X + Y)
    for shape in ((0, 5), (1, 1), (0, 1), (1, 50), (100, 1)):
        x, y = np.ones(shape, F), np.ones((shape[0], 1), F)
        np.testing.assert_array_equal(add(x, y), x + y)


@pytest.mark.parametrize("tier", TIERS)
def test_arrays_of_out_may_interleave_but_not_overlap(tier: str) -> None:
    def two(b: GraphBuilder) -> Outputs:
        x = b.input("x", ("n",), dt.float32)
        return {"a": b.op("Abs", x), "b": b.op("Neg", x)}

    fn = compiled(two, tier=tier)
    x = np.arange(5, dtype=F)
    pairs = np.zeros((5, 2), F)
    fn(x, out=(pairs[:, 0], pairs[:, 1]))
    np.testing.assert_array_equal(pairs, np.stack([x, -x], 1))
    fn(x, out=(pairs.reshape(-1)[4::-1], pairs.reshape(-1)[5:]))
    np.testing.assert_array_equal(pairs.reshape(-1), [*x[::-1], *-x])
    line = np.zeros(10, F)
    for outs in ((line[:5], line[4:9]), (line[::2], line[2:7]), (line[8::-2], line[2:7])):
        with pytest.raises(AutofuseError, match="share memory"):
            fn(x, out=outs)


@pytest.mark.parametrize("tier", TIERS)
def test_sizes_past_memory_and_past_int64_are_refused(tier: str) -> None:
    def outer(b: GraphBuilder) -> Outputs:
        x, y = b.input("x", ("n", 1), dt.float32), b.input("y", (1, "m"), dt.float32)
        return {"z": b.op("Add", x, y)}

    fn = compiled(outer, dims={"n": (0, 2**62), "m": (0, 2**62)}, tier=tier)
    for n, m in ((2**45, 2**45), (2**45, 2**10)):
        x, y = np.broadcast_to(F(1), (n, 1)), np.broadcast_to(F(1), (1, m))
        with pytest.raises(AutofuseError) as caught:
            fn(as_strided(x, (n, 1), (0, 4)), y)
        assert caught.value.exit_code == 2
    assert fn(np.ones((0, 1), F), np.broadcast_to(F(1), (1, 2**20))).shape == (0, 2**20)


@pytest.mark.parametrize("tier", TIERS)
def test_special_values_pass_as_in_numpy(tier: str) -> None:
    names = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "RealDiv": np.divide, "Maximum": np.maximum}

    def all_of(b: GraphBuilder) -> Outputs:
        x, y = b.input("x", ("n",), dt.float32), b.input("y", ("n",), dt.float32)
        return {name: b.op(name, x, y) for name in names}

    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1e-39, 3.4e38, -3.4e38, 1, -1], F)
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        wanted = [function(x, y) for function in names.values()]
    # NumPy leaves it to the machine which of two zeros is the larger; here it is the first.
    wanted[list(names).index("Maximum")] = np.where((x == 0) & (y == 0), x, np.maximum(x, y))
    for found, want in zip(compiled(all_of, tier=tier)(x, y), wanted, strict=True):
        np.testing.assert_array_equal(found, want)
        is_number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(want)[is_number])


@pytest.mark.parametrize("tier", TIERS)
def test_division_by_zero_raises_in_the_callers_thread(tier: str) -> None:
    def divide(b: GraphBuilder) -> Outputs:
        return {"z": b.op("FloorDiv", b.input("x", ("n",), dt.int32), b.input("y", ("n",), dt.int32))}

    fn = compiled(divide, tier=tier)
    x = np.full(1 << 20, 7, np.int32)
    y = np.ones(1 << 20, np.int32)
    y[[0, 77, -1]] = 0
    with pytest.raises(AutofuseError, match="zero"):
        fn(x, y)
    np.testing.assert_array_equal(fn(x, x), np.ones_like(x))


def odd_outputs(b: GraphBuilder) -> Outputs:
    x = b.input("x", ("n",), dt.float32)
    b.input("unused", ("m", "k"), dt.int32)
    c = b.constant(to_tensor_data(np.arange(3, dtype=F)), "c")
    a = b.op("Abs", x)
    return {"a": a, "again": a, "x": x, "x2": x, "c": c, "cc": b.op("Add", c, c)}


@pytest.mark.parametrize("tier", TIERS)
def test_results_have_memory_of_their_own(tier: str) -> None:
    fn = compiled(odd_outputs, tier=tier)
    x, unused = np.arange(5, dtype=F), np.zeros((0, 3), np.int32)
    results = fn(x, unused)
    for k, result in enumerate(results):
        assert not np.shares_memory(result, x)
        assert not any(np.shares_memory(result, other) for other in results[:k])
        result[...] = -1
    wanted = (x, x, x, x, np.arange(3, dtype=F), 2 * np.arange(3, dtype=F))
    for found, want in zip(fn(x, unused), wanted, strict=True):
        np.testing.assert_array_equal(found, want)
    assert compiled(lambda b: {}, tier=tier)() == ()


def _with_an_unread_sum(is_result: bool) -> Callable[[GraphBuilder], Outputs]:
    def network(b: GraphBuilder) -> Outputs:
        x, y = b.input("x", ("n",), dt.float32), b.input("y", ("m",), dt.float32)
        unread = b.op("Exp", b.op("Add", x, y, name="sum"))
        kept = b.op("Neg", x)
        return {"z": kept, "w": unread} if is_result else {"z": kept}

    return network


@pytest.mark.parametrize("tier", TIERS)
def test_what_nobody_reads_refuses_no_call(tier: str) -> None:
    three, four = np.ones(3, F), np.ones(4, F)
    run = compiled(_with_an_unread_sum(is_result=False), tier=tier)
    assert np.array_equal(np.ravel(run(three, four)), -three)
    read = compiled(_with_an_unread_sum(is_result=True), tier=tier)
    with pytest.raises(AutofuseError, match="sum"):
        read(three, four)
    assert autofuse.verify(run, samples=4).passed
