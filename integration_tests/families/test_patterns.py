"""Networks that must be one kernel each: all dims symbolic, one compile, right at every size from 0 up."""

from typing import Any

import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse.pipeline import Lowered
from autofuse_ir.fused_graph import AscBackend, ViewNode
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer
from autofuse_testkit.patterns import PATTERNS, Pattern

Array = np.ndarray[Any, Any]

POINTS = 50
RELATIVE = 2e-5
"""Of fp32 results; sums of a few hundred terms in another order than NumPy's."""


def lowered_for(pattern: Pattern, numerics: str = "auto") -> Lowered:
    return lower_graph(pattern.build(), chosen_target("cpu"), chosen_options(numerics=numerics))


def as_tuple(results: Any) -> tuple[Array, ...]:
    return tuple(map(np.asarray, results)) if isinstance(results, tuple) else (np.asarray(results),)


def points(pattern: Pattern, count: int = POINTS) -> list[dict[str, Array]]:
    rng = np.random.default_rng(7)
    return [pattern.inputs(pattern.sizes(rng, tiny=number < count // 4), rng) for number in range(count)]


@pytest.fixture(params=PATTERNS, ids=lambda pattern: pattern.name)
def pattern(request: pytest.FixtureRequest) -> Pattern:
    return request.param  # type: ignore[no-any-return]


def test_it_is_exactly_one_kernel(pattern: Pattern) -> None:
    nodes = [node for node in lowered_for(pattern).fused.nodes if not isinstance(node, ViewNode)]
    assert [type(node) for node in nodes] == [AscBackend]


def test_one_compile_is_right_at_every_size(pattern: Pattern) -> None:
    fn = load_lowered(lowered_for(pattern), chosen_target("cpu"), "jit")
    graph, facts = infer(pattern.build())
    reference = GraphInterpreter(graph, {fact.name: fact.dtype for fact in facts.values})
    for values in points(pattern):
        results = as_tuple(fn(*values.values()))
        with np.errstate(all="ignore"):
            wanted = reference.outputs(values)
        for (name, want), got in zip(wanted.items(), results, strict=True):
            shapes = {key: value.shape for key, value in values.items()}
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=RELATIVE, atol=RELATIVE, err_msg=f"{name} at {shapes}")
    assert fn.stats.compiles == 1
