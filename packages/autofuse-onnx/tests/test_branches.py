"""An If that is decided when compiling is replaced by its branch, and the model means the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from autofuse_ir.graph import Graph
from autofuse_onnx.frontend import import_model

Run = Callable[..., list[Any]]
Parse = Callable[[str, int], onnx.ModelProto]

TWO_LEVELS = """g (float[n] x, int64 rate) => (y, z) {
    high = Constant <value_int = 16000> ()
    c = Equal (rate, high)
    w = Neg (x)
    y = If (c) <
        then_branch = t () => (b) {
            a = Mul (x, w)
            d = Not (c)
            b = If (d) <then_branch = tt () => (p) { p = Abs (a) }, else_branch = te () => (q) { q = Add (a, w) }>
        },
        else_branch = e () => (r) <float[1] k = {3}> { r = Mul (x, k) }
    >
    z = If (c) <
        then_branch = t2 () => (o) { o = Identity (w) },
        else_branch = e2 () => (k) <float[1] k = {5}> { a = Neg (x) }
    >
}"""


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize("rate", [16000, 8000])
def test_a_known_input_decides_branches_at_every_level(
    parse: Parse, run_on_host: Run, run_whole: Run, rate: int
) -> None:
    model = parse(TWO_LEVELS, 17)
    x, known = np.float32([1, -2, 3]), np.asarray(rate)
    graph = import_model(model, values={"rate": known})
    assert "If" not in _ops(graph)
    assert [value.name for value in graph.inputs] == ["x"]
    expected = run_whole(model, {"x": x, "rate": known})
    for ours, theirs in zip(run_on_host(graph, {"x": x}), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_condition_of_the_run_stays_an_if(parse: Parse) -> None:
    assert _ops(import_model(parse(TWO_LEVELS, 17))).count("If") == 2


def test_branches_with_equal_names_inside_stay_apart(parse: Parse, run_on_host: Run) -> None:
    branch = "then_branch = t () => (o) { i = Neg (x) o = Add (i, i) }, else_branch = e () => (o) { o = Identity (x) }"
    text = f"""g (float[n] x) => (s) <bool c = {{1}}> {{
        y = If (c) <{branch}>
        z = If (c) <{branch}>
        s = Mul (y, z)
    }}"""
    graph = import_model(parse(text, 17))
    assert _ops(graph) == ["Neg", "Add", "Neg", "Add", "Mul"]
    assert run_on_host(graph, {"x": np.float32([3])})[0].tolist() == [36]
