"""Reductions of one element: nothing is joined, the value passes through with all its bits."""

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.checks import verify
from autofuse_ir.dims import const
from autofuse_ir.facts import SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.target import load_target
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.stage import schedule


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
@pytest.mark.parametrize("value", [-0.0, np.nan, 2.5])
@pytest.mark.parametrize(("op", "axes"), [("Sum", ("z0",)), ("Max", ("z0", "z1")), ("Prod", ("z1",))])
def test_a_reduction_of_a_single_element_is_that_element(op, axes, value, target):
    b = AscGraphBuilder("k", dict.fromkeys(axes, 1) | {"z1": 1})
    shape, along = (const(1),) * len(b.axes), tuple(b.axes)
    b.store(b.reduce(op, b.load(b.input("x", dt.float32), shape, along), *axes), "y", (1,), (0,))
    facts = SymbolFacts((), (ValueFact("x", dt.float32, shape), ValueFact("y", dt.float32, (const(1),))))
    result = schedule(AscBackend("k", ("x",), ("y",), b.build(), ()), facts, load_target(target))
    verify(result)
    given = np.full((1,) * len(shape), value, np.float32)
    for impl in result.alternatives[0].groups[0].implementations:
        tiles = {variable.name: 1 for variable in impl.tile_variables}
        (found,) = interpret_impl(impl, [given], {}, tiles)
        assert found.view(np.uint32).reshape(-1) == given.view(np.uint32).reshape(-1)
