"""Faults that users of other compilers reported, as small inputs: sizes, views, and memory of inputs and outputs.

Every graph runs unfused, and fused under strict and auto numerics by the interpreter and by the compiler, compiled
once for all sizes. The wanted values are NumPy's, or written out. Each test cites where the fault was reported.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dims_eval import evaluate
from autofuse_testkit.every_path import every_path
from autofuse_testkit.networks import Network

F = np.float32
FLOAT16 = 1
LOWEST = -65504.0
"""The lowest number of float16."""

Outputs = Mapping[str, str]
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    autofuse.set_num_threads(1)


def random(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(F)


@pytest.mark.parametrize("rows", [2, 3])
def test_rows_split_and_joined_side_by_side_are_row_major(rows: int) -> None:
    """https://github.com/pytorch/pytorch/issues/102950 (a rewrite of split and concat breaks on axis -1)."""

    def joined(b: Network) -> Outputs:
        x = b.input("x", (rows, "m"), dt.float32)
        pieces = b.op_outputs("SplitVD", x, outputs=rows, size_splits=(1,) * rows, split_dim=0, num_split=rows)
        return {"y": b.op("ConcatV2D", *pieces, concat_dim=-1, N=rows)}

    every = every_path(joined)
    for width in (3, 1, 0, 71):
        x = random(rows, width)
        every.check((x,), x.reshape(1, -1))
    assert every.kernels == (1, 1)
    assert every.host_operators == ()


def test_sizes_that_are_one_at_run_time_broadcast() -> None:
    """https://github.com/pytorch/pytorch/issues/136640 ([1, 4] by [2, 4] fails an assertion)."""

    def product(b: Network) -> Outputs:
        both = [b.input(name, (f"4*{size}",), dt.float32) for name, size in (("x", "s0"), ("y", "s1"))]
        return {"z": b.op("Mul", *(b.op("Reshape", each, b.integers(-1, 4)) for each in both))}

    every = every_path(product)
    for s0, s1 in ((1, 2), (2, 1), (3, 3), (0, 1), (1, 0), (64, 1)):
        x, y = random(4 * s0), random(4 * s1)
        every.check((x, y), x.reshape(-1, 4) * y.reshape(-1, 4))
    for s0, s1 in ((2, 3), (0, 2)):
        every.refuse((random(4 * s0), random(4 * s1)), "broadcast|shape|size")
    every.check((random(8), random(8)), (random(8) * random(8)).reshape(2, 4))


def test_a_size_read_from_a_shape_needs_no_other_compile() -> None:
    """https://github.com/pytorch/pytorch/issues/123810 (it compiles for each size)."""

    def square(b: Network) -> Outputs:
        size = b.op("Shape", b.input("x", (2, "s0"), dt.float32), start=1, dtype=9)
        return {"y": b.op("Fill", b.op("ConcatV2D", size, size, concat_dim=0, N=2), b.number(LOWEST, dt.float16))}

    every = every_path(square)
    for s0 in (3, 4, 5, 64, 1, 0):
        every.check((np.zeros((2, s0), F),), np.full((s0, s0), LOWEST, np.float16))


def test_results_may_overwrite_an_input() -> None:
    """https://github.com/pydata/numexpr/issues/69 (out=a: a + 2 * b)."""

    def sums(b: Network) -> Outputs:
        a, other = b.input("a", ("n",), dt.int64), b.input("b", (), dt.int64)
        return {"y": b.op("Add", a, b.op("Mul", b.number(2, dt.int64), other))}

    every = every_path(sums)
    for count in (2, 1, 1000):
        a, two = np.ones(count, np.int64), np.array(2)
        every.check((a, two), np.full(count, 5))
        for name, path in every.paths.items():
            if name != "unfused":
                given = a.copy()
                path(given, two, out=given)
                np.testing.assert_array_equal(given, 5)


def test_the_shape_of_a_result_follows_the_input() -> None:
    """https://github.com/tinygrad/tinygrad/issues/5360, https://github.com/pytorch/pytorch/issues/86020."""

    def chain(b: Network) -> Outputs:
        t = b.op("Add", b.input("t", ("s0", 3), dt.float32), b.number(1))
        return {"one": t, "more": b.op("Tanh", b.op("Mul", t, t))}

    every = every_path(chain)
    for rows in (1, 2, 3, 4, 5, 6, 5, 0):
        t = random(rows, 3)
        every.check((t,), t + 1, np.tanh((t + 1) ** 2), tolerance=1e-6)
    assert every.kernels == (1, 1)


PROGRAM = """
import sys, autofuse, numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
b = GraphBuilder("square")
x = b.input("x", (), dt.float32)
fn = autofuse.compile(b.build({"y": b.op("Mul", x, x)}), tier="jit")
print(fn(np.array(1.5, np.float32)).item(), fn.stats.cache_hits)
"""


def test_a_second_process_loads_what_the_first_one_built(tmp_path: Path) -> None:
    """https://github.com/pytorch/pytorch/issues/145377 (the cached kernel of a tensor of rank 0 does not load)."""
    environment = {**os.environ, "AUTOFUSE_CACHE": str(tmp_path / "cache")}
    answers = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=100, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert [answer[0] for answer in answers] == ["2.25", "2.25"]
    assert int(answers[0][1]) == 0
    assert int(answers[1][1]) > 0


def test_a_table_extended_and_narrowed_is_read_once_or_the_report_says_why_not() -> None:
    """https://github.com/pytorch/pytorch/issues/125075 (two kernels read it twice)."""

    def extended(b: Network) -> Outputs:
        x = b.input("x", ("n", 768), dt.float32)
        longer = b.op("ConcatV2D", x, b.op("Fill", b.integers(6, 768), b.number(0)), concat_dim=0, N=2)
        return {"longer": longer, "half": b.op("Cast", x, dst_type=FLOAT16)}

    every = every_path(extended)
    for rows in (1, 0, 7, 301):
        x = random(rows, 768)
        every.check((x,), np.concatenate([x, np.zeros((6, 768), F)]), x.astype(np.float16))
    rows = 30522
    x = random(rows, 768)
    for function in every.compiled.values():
        longer, half = function(x)
        np.testing.assert_array_equal(longer[:rows], x)
        assert not longer[rows:].any()
        np.testing.assert_array_equal(half, x.astype(np.float16))
        report = function.report
        read, written = 4 * 768 * rows, 4 * 768 * (rows + 6) + 2 * 768 * rows
        # One launch may hold both operators without reading the table once: the bytes of the report say so.
        times, rest = divmod(evaluate(report.bytes_moved, {"n": rows}) - written, read)
        assert rest == 0
        assert report.launches <= times <= 2
        if report.launches > 1:
            (refusal,) = [r for r in report.refusals if r.tensor == "x"]
            assert refusal.detail, refusal
            assert evaluate(refusal.bytes_saved, {"n": rows}) == read


def test_strided_views_broadcast_for_any_number_of_threads() -> None:
    """https://github.com/pydata/numexpr/issues/30."""

    def sums(b: Network) -> Outputs:
        a = b.input("a", ("n", "m"), dt.float32)
        row, column = b.input("c", ("m",), dt.float32), b.input("d", ("n", 1), dt.float32)
        return {"row": b.op("Add", a, row), "column": b.op("Add", a, column)}

    every = every_path(sums)
    for rows, width in ((10, 10), (1000, 333)):
        whole = random(rows, width)
        for a in (whole[::2], whole.T[::2, ::-1], np.broadcast_to(whole[0], (7, width))):
            c, d = random(a.shape[1]), random(len(a), 1)
            for count in (1, 8):
                autofuse.set_num_threads(count)
                every.check((a, c, d), a + c, a + d)


def test_pieces_of_other_widths_are_stacked() -> None:
    """https://github.com/pytorch/pytorch/issues/178676 (an exception of the compiler)."""

    def stacked(b: Network) -> Outputs:
        x = b.input("x", ("s0", 6), dt.float32)
        pieces = b.op_outputs("SplitVD", x, outputs=2, size_splits=(2, 4), split_dim=1, num_split=2)
        rows = [b.op("Reshape", piece, b.integers(-1, 2)) for piece in pieces]
        return {"y": b.op("ConcatV2D", *rows, concat_dim=0, N=2)}

    every = every_path(stacked)
    for s0 in (1, 2, 5, 0, 111):
        x = random(s0, 6)
        every.check((x,), np.concatenate([x[:, :2].reshape(-1, 2), x[:, 2:].reshape(-1, 2)]))
    assert max(every.kernels) <= 2  # rows of the second piece lie askew of those of the first
    assert every.host_operators == ()


def test_reshape_copies_a_size_that_no_compiler_knows() -> None:
    """https://github.com/onnx/onnx/issues/7445 (a concat on another axis makes the inference fail)."""

    def flattened(b: Network) -> Outputs:
        both = [b.input(name, ("s0", width, 4), dt.float32) for name, width in (("x", 3), ("y", 5))]
        return {"z": b.op("Reshape", b.op("ConcatV2D", *both, concat_dim=1, N=2), b.integers(0, -1))}

    every = every_path(flattened)
    for function in every.compiled.values():
        (name,) = (output.value for output in function.lowered.graph.outputs)
        (shape,) = (value.shape for value in function.lowered.facts.values if value.name == name)
        assert [str(dim) for dim in shape or ()] == ["s0", "32"]
    for s0 in (1, 2, 9):
        x, y = random(s0, 3, 4), random(s0, 5, 4)
        every.check((x, y), np.concatenate([x, y], 1).reshape(s0, -1))
