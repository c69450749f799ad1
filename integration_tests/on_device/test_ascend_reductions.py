"""Networks with reductions on emulated Ascend chips: one kernel, one compile, and the reference's values at all sizes.

Some of the sizes have rows that local memory cannot hold, or too few rows for all cores.
"""

from collections.abc import Callable, Mapping
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import Graph
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer
from autofuse_testkit.networks import Network, normal, one
from autofuse_testkit.patterns import PATTERNS, Pattern

Array = np.ndarray[Any, Any]
Sizes = Mapping[str, int]

LARGEST = 10**6
TOLERANCE = 3e-5
LONG: dict[str, tuple[Sizes, ...]] = {
    "n,m": ({"n": 3, "m": 20_000}, {"n": 1, "m": 150_000}, {"n": 700, "m": 33}),
    "m,n": ({"n": 20_000, "m": 3}, {"n": 700, "m": 33}),
}


def squared_error() -> Graph:
    """The mean over everything."""

    def build(b: Network) -> str:
        x, y = b.input("x", ("n", "m"), dt.float32), b.input("y", ("n", "m"), dt.float32)
        return b.op("ReduceMeanD", b.op("Square", b.op("Sub", x, y)), axes=(0, 1), keep_dims=False)

    return one("squared_error", build)


def below_peak() -> Graph:
    """Each column less its largest element, in half."""

    def build(b: Network) -> str:
        x = b.input("x", ("n", "m"), dt.float16)
        return b.op("Sub", x, b.op("ReduceMaxD", x, axes=(0,), keep_dims=True))

    return one("below_peak", build)


def _pair(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    return {name: normal(rng, sizes["n"], sizes["m"]) for name in ("x", "y")}


def _half(sizes: Sizes, rng: np.random.Generator) -> dict[str, Array]:
    return {"x": normal(rng, sizes["n"], sizes["m"], dtype=dt.float16)}


@frozen
class Case:
    """A pattern, and sizes besides those that it draws."""

    pattern: Pattern
    more: tuple[Sizes, ...] = ()


def pattern(name: str, build: Callable[[], Graph], inputs: Callable[..., dict[str, Array]]) -> Pattern:
    return Pattern(name, build, inputs, {"n": (1, 70), "m": (1, 300)})


_REDUCING = ("softmax", "norm")
CASES: dict[str, Case] = {
    **{
        p.name: Case(p, LONG["n,m"] if set(p.symbols) == {"n", "m"} else ())
        for p in PATTERNS
        if any(word in p.name for word in _REDUCING)
    },
    "squared-error": Case(pattern("squared-error", squared_error, _pair), (*LONG["n,m"], *LONG["m,n"])),
    "below-peak": Case(pattern("below-peak", below_peak, _half), LONG["m,n"]),
}
ALWAYS = (("softmax", "ascend-a2"), ("layer-norm-residual", "ascend-a2"), ("squared-error", "ascend-350"))


def each_case() -> list[Any]:
    pairs = [(name, target) for name in sorted(CASES) for target in ("ascend-a2", "ascend-350")]
    return [pytest.param(*pair, marks=[] if pair in ALWAYS else pytest.mark.whole) for pair in pairs]


@pytest.mark.parametrize(("name", "target"), each_case())
def test_one_kernel_gives_the_values_of_the_reference(name: str, target: str) -> None:
    case = CASES[name]
    built = case.pattern.build()
    built = evolve(built, symbols=tuple(evolve(symbol, hi=LARGEST) for symbol in built.symbols))
    graph, facts = infer(built)
    reference = GraphInterpreter(graph, {fact.name: fact.dtype for fact in facts.values})
    fn = autofuse.compile(built, target=target)
    rng = np.random.default_rng(11)
    drawn = [case.pattern.sizes(rng, tiny=number < 4) for number in range(8)]
    for sizes in (*drawn, *case.more):
        values = case.pattern.inputs(sizes, rng)
        wanted = list(reference.outputs(values).values())
        results = fn(*(values[value.name] for value in graph.inputs))
        found = results if isinstance(results, tuple) else (results,)
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_allclose(
                np.asarray(got, np.float64), np.asarray(want, np.float64), TOLERANCE, TOLERANCE, err_msg=str(sizes)
            )
    assert len(fn.report.kernels) == 1
    assert fn.stats.compiles == 1
