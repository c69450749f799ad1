"""Graphs that do not hold together are refused in words wherever a graph begins its way."""

from collections.abc import Callable

import autofuse
import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import as_dim
from autofuse_ir.errors import AutofuseError
from autofuse_ir.graph import Graph, GraphOutput, Symbol, Value
from autofuse_reference.run import run
from autofuse_symshape.stage import infer


def sound() -> Graph:
    """y = exp(x) + x."""
    b = GraphBuilder("two")
    x = b.input("x", ("n", 4), dt.float32)
    return b.build({"y": b.op("Add", b.op("Exp", x, name="e"), x, name="a")})


FIRST, SECOND = sound().nodes
(X,) = sound().inputs
BAD: dict[str, tuple[Graph, str]] = {
    "cycle": (evolve(sound(), nodes=(evolve(FIRST, inputs=("a",)), SECOND)), "further down"),
    "order": (evolve(sound(), nodes=(SECOND, FIRST)), "further down"),
    "reads itself": (evolve(sound(), nodes=(evolve(FIRST, inputs=("e",)), SECOND)), "further down"),
    "reads nothing": (evolve(sound(), nodes=(evolve(FIRST, inputs=("q",)), SECOND)), "made by nothing"),
    "value made twice": (evolve(sound(), nodes=(FIRST, evolve(SECOND, outputs=("e",)))), "more than once"),
    "input given twice": (evolve(sound(), inputs=(X, X)), "more than once"),
    "output of nothing": (evolve(sound(), outputs=(GraphOutput("y", "q"),)), "nothing makes its value 'q'"),
    "two outputs of one name": (evolve(sound(), outputs=sound().outputs * 2), "two of them"),
    "two nodes of one name": (evolve(sound(), nodes=(FIRST, evolve(SECOND, name="e"))), "two of them"),
    "input without a name": (
        evolve(sound(), inputs=(evolve(X, name=""),), nodes=(evolve(FIRST, inputs=("",)), SECOND)),
        "no name",
    ),
    "negative dim": (evolve(sound(), inputs=(evolve(X, shape=(as_dim(-3), as_dim(4))),)), "negative"),
    "size without a range": (evolve(sound(), symbols=()), "'n' is not declared"),
    "empty range": (evolve(sound(), symbols=(Symbol("n", 5, 2),)), r"5(\.\.|, )2"),
    "payload of nobody": (evolve(sound(), nodes=(evolve(FIRST, payload="p"), SECOND)), "no payload 'p'"),
    "declares nothing": (evolve(sound(), declared=(Value("z", dt.float32, ()),)), "no node makes it"),
}
PATHS: dict[str, Callable[[Graph], object]] = {
    "infer": infer,
    "run": lambda graph: run(graph, [np.ones((2, 4), np.float32)]),
    "compile": lambda graph: autofuse.compile(graph, tier="interpreter"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("case", BAD)
def test_what_does_not_hold_together_is_refused(case: str, path: str) -> None:
    graph, words = BAD[case]
    with pytest.raises(AutofuseError, match=words) as caught:
        PATHS[path](graph)
    assert caught.value.exit_code == 2
    assert caught.value.where


def test_a_range_that_leaves_out_the_models_own_hint_drops_it() -> None:
    graph = evolve(sound(), symbols=(Symbol("n", 0, 100, hint=64),))
    function = autofuse.compile(graph, dims={"n": (0, 10)}, tier="interpreter")
    np.testing.assert_array_equal(function(np.zeros((10, 4), np.float32)), np.ones((10, 4), np.float32))
    with pytest.raises(AutofuseError, match="64"):
        autofuse.compile(graph, dims={"n": (0, 10)}, hints={"n": 64}, tier="interpreter")
