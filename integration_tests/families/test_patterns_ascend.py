"""The networks that are one kernel, scheduled for Ascend and executed as planned, in buffers of exactly those bytes.

Sizes that an index must hold are declared: an undeclared dim may have 2^31 - 1 elements, and two of them joined more.
"""

import math
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.fused_graph import AscBackend, ViewNode
from autofuse_ir.target import load_target
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_testkit.patterns import PATTERNS, Pattern
from autofuse_tiling.evaluate import choose
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]

LARGEST = 10**6
POINTS = {"ascend-a2": 50, "ascend-350": 8}
TINY = 0.75
"""Share of the points with sizes of a few elements: 0, 1 and tails of blocks are among them."""


@pytest.mark.parametrize("target_name", POINTS)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_one_kernel_runs_as_planned(pattern: Pattern, target_name: str) -> None:
    target = load_target(target_name)
    built = pattern.build()
    graph, facts = infer(evolve(built, symbols=tuple(evolve(symbol, hi=LARGEST) for symbol in built.symbols)))
    fused = fuse(graph, facts, target, FusionOptions())
    (node,) = (node for node in fused.nodes if not isinstance(node, ViewNode))
    assert isinstance(node, AscBackend)
    scheduled = schedule(node, fused.facts, target)
    model = tile(scheduled, fused.facts, target)
    graphs = {i.name: i for a in scheduled.alternatives for group in a.groups for i in group.implementations}
    reference = GraphInterpreter(graph, {fact.name: fact.dtype for fact in facts.values})
    rng = np.random.default_rng(11)
    ran = 0
    count = POINTS[target_name]
    for number in range(count):
        values = pattern.inputs(pattern.sizes(rng, tiny=number < TINY * count), rng)
        wanted = list(reference.outputs(values).values())
        if any(want.size == 0 for want in wanted):
            continue  # a program does not launch such kernels
        sizes = bound(graph.inputs, values)
        chosen = choose(model, {symbol: sizes[symbol] for symbol in model.symbols}, target.cores)
        inputs = [values[name] for name in node.inputs]
        results = interpret_impl(graphs[chosen.implementation], inputs, sizes, chosen.sizes, seed=number)
        for got, want in zip(results, wanted, strict=True):
            np.testing.assert_allclose(got.reshape(want.shape), want, rtol=2e-5, atol=2e-5)
        ran += 1
    assert ran


def bound(inputs: tuple[Any, ...], values: dict[str, Array]) -> dict[str, int]:
    """The size symbols, from the dims of the arguments that are one."""
    sizes: dict[str, int] = {}
    for value in inputs:
        for dim, actual in zip(value.shape, values[value.name].shape, strict=True):
            (symbol, *_) = free_symbols(dim) or ("",)
            if str(dim) == symbol:
                sizes[symbol] = actual
    for value in inputs:
        shape = tuple(evaluate(dim, sizes) for dim in value.shape)
        assert math.prod(shape) == values[value.name].size
    return sizes
