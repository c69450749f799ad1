"""The work of fusing grows about linearly with the graph, whatever its form."""

import math
import random
from collections.abc import Callable
from functools import partial

import pytest
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_symshape.stage import infer
from autofuse_testkit.work import calls_made


def chain(count: int) -> Graph:
    b = GraphBuilder("chain")
    value, row = b.input("x", ("n", 64), dt.float32), b.input("row", (64,), dt.float32)
    for number in range(count):
        value = b.op("Add", value, row) if number % 3 else b.op("Exp", value)
    return b.build(outputs={"y": value})


def tangle(count: int) -> Graph:
    draw = random.Random(1)
    b = GraphBuilder("tangle")
    values = [b.input("x", ("n", 64), dt.float32), b.input("z", ("n", 64), dt.float32)]
    for _ in range(count):
        near = values[-draw.randint(1, min(8, len(values)))]
        choice = draw.random()
        if choice < 0.1:
            values.append(b.op("Lgamma", near))
        elif choice < 0.4:
            values.append(b.op("Exp", near))
        else:
            values.append(b.op("Add", near, values[-draw.randint(1, min(30, len(values)))]))
    return b.build(outputs={"y": values[-1]})


def long_skips(count: int) -> Graph:
    """One mask that every layer reads, and host operators in between: each pair asks for a path across the graph."""
    b = GraphBuilder("skips")
    value, mask = b.input("x", ("n", 64), dt.float32), b.op("Abs", b.input("mask", ("n", 64), dt.float32))
    for _ in range(count // 3):
        value = b.op("Lgamma", b.op("Exp", b.op("Add", value, mask)))
    return b.build(outputs={"y": value})


@pytest.mark.parametrize("form", [chain, tangle, long_skips], ids=lambda form: form.__name__)
def test_work_grows_about_linearly(form: Callable[[int], Graph]) -> None:
    target = load_target("cpu")
    calls = {}
    for count in (400, 2000):
        graph, facts = infer(form(count))
        calls[count] = calls_made(partial(fuse, graph, facts, target))
    assert math.log(calls[2000] / calls[400], 5) <= 1.15, calls
