"""Gathers, concatenations, halves, transposes and running sums on emulated Ascend chips, with the CPU's bits.

No chip was at hand: what runs here is the emulator, with all of its checks.
"""

from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.status import StatusError
from autofuse_reference.arrays import to_tensor_data
from autofuse_testkit.patterns import PATTERNS

STRICT = FusionOptions(numerics="strict")
SIZES = {
    "embedding-add-layer-norm": ({"n": 2, "s": 9, "m": 45, "v": 7}, {"n": 1, "s": 1, "m": 1, "v": 1}),
    "rotary": ({"n": 3, "s": 5, "d": 23}, {"n": 1, "s": 1, "d": 1}, {"n": 2, "s": 40, "d": 64}),
    "concat-of-three": ({"n": 3, "p": 4, "q": 7, "k": 13}, {"n": 1, "p": 0, "q": 1, "k": 1}),
    "int8-dequantise-relu-quantise": ({"n": 7, "m": 301}, {"n": 1, "m": 1}),
}


def turned_sums() -> Graph:
    """A transpose, a reversal by a scan from the end, and running sums of both."""
    b = GraphBuilder("turned_sums")
    x, y = b.input("x", ("m", "n"), dt.float32), b.input("y", ("n", "m"), dt.float32)
    total = b.op("Add", b.op("TransposeD", x, perm=(1, 0)), y)
    return b.build(
        {
            "t": total,
            "s": b.op(
                "Cumsum", total, b.constant(to_tensor_data(np.asarray(1, np.int64))), exclusive=False, reverse=True
            ),
        }
    )


def rows_at(ids: Any) -> tuple[Graph, list[Any]]:
    """A gather of rows, and its arguments."""
    b = GraphBuilder("rows_at")
    words, at = b.input("words", ("v", "m"), dt.float32), b.input("ids", ("n",), dt.int64)
    found = b.op("GatherV2", words, at, b.constant(to_tensor_data(np.asarray(0, np.int64))))
    table = np.arange(35, dtype=np.float32).reshape(5, 7)
    return b.build({"y": b.op("Abs", found)}), [table, np.asarray(ids, np.int64)]


def same(graph: Graph, target: str, calls: list[list[Any]]) -> Any:
    """Compare results on ``target`` with those of the CPU, bit for bit."""
    fn = autofuse.compile(graph, target=target, fusion=STRICT)
    cpu = autofuse.compile(graph, target="cpu", fusion=STRICT)
    for arguments in calls:
        results, expected = (f(*arguments) for f in (fn, cpu))
        pairs = zip(*((r if isinstance(r, tuple) else (r,)) for r in (results, expected)), strict=True)
        for found, wanted in pairs:
            np.testing.assert_array_equal(found, wanted)
    return fn


@pytest.mark.parametrize("name", sorted(SIZES))
def test_networks_of_views_have_the_bits_of_the_cpu(name: str) -> None:
    pattern = next(p for p in PATTERNS if p.name == name)
    rng = np.random.default_rng(5)
    calls = [list(pattern.inputs(sizes, rng).values()) for sizes in SIZES[name]]
    fn = same(pattern.build(), "ascend-a2", calls)
    assert len(fn.report.kernels) == 1


def test_transposes_and_running_sums_on_the_350() -> None:
    rng = np.random.default_rng(6)
    shapes = ((1, 1), (9, 33), (70, 12))
    calls = [
        [rng.standard_normal(s).astype(np.float32), rng.standard_normal(s[::-1]).astype(np.float32)] for s in shapes
    ]
    fn = same(turned_sums(), "ascend-350", calls)
    assert len(fn.report.kernels) == 1


def test_an_index_out_of_range_is_the_same_error_as_on_the_cpu() -> None:
    graph, arguments = rows_at([0, 4, 2])
    functions = [autofuse.compile(graph, target=target) for target in ("cpu", "ascend-a2")]
    for fn in functions:
        np.testing.assert_array_equal(fn(*arguments), arguments[0][arguments[1]])
    for wrong in (5, -6, 2**40):
        told = []
        for fn in functions:
            with pytest.raises(StatusError) as caught:
                fn(arguments[0], np.asarray([1, wrong, 2], np.int64))
            told.append((caught.value.status, caught.value.what))
        assert told[0] == told[1]
