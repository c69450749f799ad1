"""Scenarios of the original's back end as generated code: on the emulated chip, against the reference.

Their numbers are those of the original's list; `test_backend_scenarios_schedule.py` has what is planned. One compile
serves every size of a scenario. The emulator refuses reads of what was not written, races, and calls that no chip
takes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer
from autofuse_testkit.networks import Network, drawn_inputs, one, softmax_of

Array = np.ndarray[Any, Any]
A2 = "ascend-a2"
F32, F16 = dt.float32, dt.float16


def check(
    build: Callable[[Network], str] | Graph,
    *points: Mapping[str, int],
    tolerance: float = 0.0,
    target: str = A2,
    largest_index: int = 5,
) -> Any:
    """Compile once, call for all ``points``; return what was compiled."""
    graph = build if isinstance(build, Graph) else one("scenario", build)
    fn = autofuse.compile(graph, target=target, fusion=FusionOptions(numerics="strict"))
    inferred, facts = infer(graph)
    reference = GraphInterpreter(inferred, {fact.name: fact.dtype for fact in facts.values})
    for sizes in points or ({},):
        given = drawn_inputs(graph, sizes, np.random.default_rng(4), below=largest_index)
        results = fn(*given.values())
        listed = results if isinstance(results, tuple) else (results,)
        for got, want in zip(listed, reference.outputs(given).values(), strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(
                np.asarray(got, np.float64), np.asarray(want, np.float64), rtol=tolerance, atol=tolerance
            )
    assert fn.stats.compiles == 1
    return fn


def test_01_abs_and_add_are_exact() -> None:
    def build(b: Network) -> str:
        return b.op("Add", b.op("Abs", b.input("x", (128, 7), F32)), b.input("y", (128, 7), F32))

    fn = check(build)
    assert len(fn.report.kernels) == 1


def test_02_one_binary_for_three_shapes_of_three_dims() -> None:
    """The original's shapes, and empty ones, which launch nothing."""

    def build(b: Network) -> str:
        x, y = (b.input(name, ("a", "b", "c"), F32) for name in "xy")
        return b.op("Abs", b.op("Add", x, y))

    shapes = ((32, 16, 16), (32, 16, 18), (32, 512, 15), (0, 3, 2), (1, 1, 1))
    fn = check(build, *({"a": a, "b": b, "c": c} for a, b, c in shapes))
    assert dict(fn.stats.calls_by_tier) == {"sim": len(shapes)}


def test_03_tails() -> None:
    def build(b: Network) -> str:
        return b.op("Mul", b.input("x", ("n", "m"), F32), b.input("r", ("m",), F32))

    check(build, *({"n": n, "m": m} for n in (95, 96, 97) for m in (31, 64)))


def test_04_kept_broadcasts() -> None:
    """20 x 32 of halves, and a sum along the middle of 128 x 2889 x 4 with a row that all outer rows share."""

    def build(b: Network) -> str:
        row = b.op("Maximum", b.input("r", (1, "m"), F16), b.number(0.5, F16))
        total = b.op("Add", b.op("Add", b.input("x", ("n", "m"), F16), row), row)
        return b.op("SelectV2", b.op("Less", total, b.input("c", ("n", 1), F16)), total, b.number(2.0, F16))

    check(build, {"n": 20, "m": 32}, {"n": 1000, "m": 40}, {"n": 3, "m": 5000})

    def reduced(b: Network) -> str:
        wide = b.op("Add", b.input("x", ("n", 2889, 4), F32), b.input("r", (1, 2889, 4), F32))
        return b.op("ReduceSumD", wide, axes=(1,))

    check(reduced, {"n": 4}, {"n": 128}, tolerance=1e-4)


@pytest.mark.parametrize("dtype", [dt.float16, dt.int8], ids=str)
def test_05_columns_of_narrow_elements(dtype: DType) -> None:
    def build(b: Network) -> str:
        return b.op("Maximum", b.input("x", ("n", "m"), dtype), b.input("c", ("n", 1), dtype))

    check(build, *({"n": 5, "m": m} for m in (1, 7, 32, 33, 64)))


def test_06_07_08_broadcasts_of_rows_columns_and_numbers() -> None:
    def build(b: Network) -> str:
        both = b.op("Mul", b.input("c", ("n", 1), F32), b.input("r", (1, "m"), F32))
        shares = b.op("LessEqual", b.number(0.5), both)
        return b.op("SelectV2", shares, b.op("Add", both, b.number(0.5)), b.op("Abs", both))

    check(build, {"n": 12, "m": 70}, {"n": 1, "m": 1}, {"n": 300, "m": 8})


def test_09_few_rows_of_a_wide_one() -> None:
    """4 x 512 K as in the original."""

    def build(b: Network) -> str:
        return b.op("Add", b.input("x", ("n", "m"), F16), b.input("r", (1, "m"), F16))

    check(build, {"n": 4, "m": 512 * 1024}, {"n": 4, "m": 100})


def test_10_12_a_sum_of_everything_and_what_follows_it() -> None:
    """Four operators behind the sum, one more than the original leaves in its kernel."""

    def build(b: Network) -> str:
        total = b.op("ReduceSumD", b.input("x", ("n", "m"), F32), axes=(0, 1), keep_dims=True)
        return b.op("Neg", b.op("Sqrt", b.op("Abs", b.op("Mul", total, b.number(0.5)))))

    fn = check(build, {"n": 128, "m": 64}, {"n": 1, "m": 1}, {"n": 300, "m": 1000}, tolerance=1e-4)
    assert len(fn.report.kernels) == 1


def test_10_a_sum_of_everything_that_a_row_keeps_from_being_one_line() -> None:
    """Blocks share whole leaves of rows where those fit; one block goes through longer rows in pieces."""

    def build(b: Network) -> str:
        x = b.op("Mul", b.input("x", ("n", "m"), F32), b.input("r", ("m",), F32))
        return b.op("RealDiv", x, b.op("ReduceSumD", b.op("Abs", x), axes=(0, 1), keep_dims=True))

    check(build, {"n": 257, "m": 2}, {"n": 100, "m": 1000}, {"n": 1, "m": 60_000}, tolerance=1e-5)


def test_11_13_14_reductions_that_share_what_they_read() -> None:
    def softmax(b: Network) -> str:
        return softmax_of(b, b.input("x", ("n", "m"), F32))

    fn = check(softmax, {"n": 9, "m": 100}, {"n": 1, "m": 1}, {"n": 2, "m": 60_000}, tolerance=1e-5)
    assert len(fn.report.kernels) == 1

    def apart(b: Network) -> str:
        return b.op("ReduceSumD", b.input("x", ("a", "b", "c", 10), F32), axes=(0, 2))

    check(apart, {"a": 3, "b": 5, "c": 2}, {"a": 40, "b": 2, "c": 3}, tolerance=1e-5)


@pytest.mark.parametrize("dtype", [dt.float16, dt.int32], ids=str)
def test_15_16_concats_along_either_axis(dtype: DType) -> None:
    def build(b: Network) -> str:
        columns = b.op("ConcatV2D", *(b.input(name, ("n", 1), dtype) for name in "xy"), concat_dim=1, N=2)
        return b.op("ConcatV2D", columns, b.input("z", ("k", 2), dtype), concat_dim=0, N=2)

    check(build, {"n": 37, "k": 3}, {"n": 1, "k": 100})


def test_18_a_pack_of_reductions() -> None:
    def build(b: Network) -> str:
        x, y = (b.input(name, ("n", "m"), F32) for name in "xy")
        return b.op("Pack", b.op("ReduceSumD", x, axes=(1,)), b.op("ReduceMaxD", y, axes=(1,)), axis=1, N=2)

    check(build, {"n": 5, "m": 70}, tolerance=1e-5)


def test_19_a_transpose_with_its_reader() -> None:
    def build(b: Network) -> str:
        x, y = b.input("x", (16, 6, 36), F32), b.input("y", (36, 16, 6), F32)
        return b.op("Mul", x, b.op("TransposeD", y, perm=(1, 2, 0)))

    check(build)


def test_20_a_gather_of_columns() -> None:
    """The original's example: 128 x 50 by 25 indices, and an addition."""

    def build(b: Network) -> str:
        table, index = b.input("t", ("n", 50), F32), b.input("i", ("k",), dt.int32)
        return b.op("Add", b.op("GatherV2", table, index, b.number(1, dt.int64)), b.input("y", ("n", "k"), F32))

    check(build, {"n": 128, "k": 25}, {"n": 1, "k": 1}, largest_index=50)


def test_22_24_many_values_in_few_buffers() -> None:
    def build(b: Network) -> str:
        x = b.input("x", ("n", 126), F32)
        for number in range(4):
            x = b.op("Maximum", b.op("Mul", x, b.input(f"x{number}", ("n", 126), F32)), b.number(-2.0))
        return b.op("Add", x, b.op("Abs", b.input("r", (1, 126), F32)))

    check(build, {"n": 7}, {"n": 2048})


def test_25_empty_tensors_succeed() -> None:
    def build(b: Network) -> str:
        return b.op("Add", b.input("x", ("n", "m"), F32), b.input("r", ("m",), F32))

    check(build, {"n": 0, "m": 5}, {"n": 5, "m": 0}, {"n": 0, "m": 0}, {"n": 40, "m": 200})
