"""Compile time grows about linearly with the graph, whatever its form."""

import gc
import math
import random
import time
from collections.abc import Callable

import pytest
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Graph
from autofuse_ir.target import TargetSpec, load_target
from autofuse_symshape.stage import infer


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
def test_time_grows_about_linearly(form: Callable[[int], Graph]) -> None:
    target = load_target("cpu")
    seconds = {}
    for count, times in ((800, 2), (4000, 1)):
        graph, facts = infer(form(count))
        seconds[count] = min(measured(graph, facts, target) for _ in range(times))
    assert seconds[4000] < 10
    assert math.log(seconds[4000] / seconds[800], 5) <= 1.3, seconds


def measured(graph: Graph, facts: SymbolFacts, target: TargetSpec) -> float:
    """CPU seconds of one run; what other tests left on the heap is not walked."""
    gc.collect()
    gc.freeze()
    start = time.process_time()
    fuse(graph, facts, target)
    return time.process_time() - start
