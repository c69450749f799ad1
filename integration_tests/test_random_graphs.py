"""Random graphs of every operator that fuses: compiled kernels, the interpreter and the reference agree.

Each graph is compiled once and called with several sizes. Operators whose element is defined exactly agree bit by bit
under strict numerics. The others (polynomials, composites; under "auto" everything in 16 bits) may be off by some ULP
each: the reference is evaluated again with each of their results moved by that much, and the distance of those runs is
what a result may be off by. Such values feed no operator that jumps or has a pole, where no distance would be too far.
"""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Constant, Graph, Node
from autofuse_reference.arrays import numpy_dtype, to_tensor_data
from autofuse_reference.compare import compare
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer
from autofuse_testkit.drawn_values import is_inexact
from autofuse_testkit.random_graphs import MOST_ELEMENTS, SIZES, Drawing, Drawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]

_FUZZING = (settings.default or settings()).max_examples >= 1000
EXAMPLES = 1000 if _FUZZING else 20
"""Graphs of each kind of numerics; compiling one takes about a second."""
OFF_BY = 4.0
"""How many ULP an operator may be off where its element is not defined exactly."""


def moved(graph: Graph, dtypes: dict[str, DType], rounds_halves: bool, rng: np.random.Generator) -> Graph:
    """The graph with every result that is not exact moved by ``OFF_BY`` ULP, up or down."""
    nodes: list[Node] = []
    constants = list(graph.constants)
    for node in graph.nodes:
        renamed = {n: f"{n} before" for n in node.outputs if n and is_inexact(node.op, dtypes[n], rounds_halves)}
        nodes.append(evolve(node, outputs=tuple(renamed.get(n, n) for n in node.outputs)))
        for name, before in renamed.items():
            dtype = dtypes[name]
            fraction = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}[dtype.name]
            factor = np.asarray(1 + rng.choice((-1, 1)) * OFF_BY * 2.0**-fraction).astype(numpy_dtype(dtype))
            constants.append(Constant(f"{name} factor", to_tensor_data(factor)))
            nodes.append(Node(f"{name} moved", "Mul", (before, f"{name} factor"), (name,), (), "moved"))
    return evolve(graph, nodes=tuple(nodes), constants=tuple(constants))


def content(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], special: bool) -> Array:
    if dtype == dt.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        limits = np.iinfo(numpy_dtype(dtype))
        values = rng.integers(max(-9, limits.min), 10, shape).astype(numpy_dtype(dtype))
        extremes = np.asarray([limits.min, limits.max], values.dtype)
        return np.where(rng.random(shape) < 0.1, rng.choice(extremes), values)
    values = np.where(rng.random(shape) < 0.5, rng.integers(-8, 9, shape) / 2, rng.normal(0, 2, shape))
    if special:
        rare = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-30], shape)
        values = np.where(rng.random(shape) < 0.15, rare, values)
    return values.astype(numpy_dtype(dtype))


def laid_out(array: Array, layout: str) -> Array:
    """The same content in memory that is walked otherwise."""
    match layout:
        case "transposed" if array.ndim:
            return np.ascontiguousarray(array.T).T
        case "reversed" if array.ndim:
            return array[::-1].copy()[::-1]
        case "spread" if array.ndim:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        case _:
            return array


def calls(drawn: Drawn, seed: int) -> Iterator[dict[str, Array]]:
    """Arguments of some calls: sizes that go together, content, memory layouts."""
    rng = np.random.default_rng(seed)
    symbols = [d for d in drawn.base if isinstance(d, str)]
    for _ in range(3 if symbols else 1):
        sizes: dict[int | str, int] = {d: d for d in drawn.base if isinstance(d, int)}
        room = MOST_ELEMENTS // max(1, prod(sizes[d] for d in drawn.base if isinstance(d, int)))
        for symbol in symbols:
            sizes[symbol] = int(rng.choice([s for s in SIZES if s <= max(room, 2)]))
            room //= max(1, sizes[symbol])
            sizes[f"m{symbol[1:]}"] = int(rng.choice((1, sizes[symbol])))
        special = bool(rng.integers(2))
        found = {}
        for name, dtype, shape in drawn.inputs:
            actual = tuple(d if isinstance(d, int) else sizes[d] for d in shape)
            layout = str(rng.choice(("plain", "plain", "transposed", "reversed", "spread")))
            found[name] = laid_out(content(rng, dtype, actual, special), layout)
        yield found


@pytest.mark.parametrize("numerics", ["strict", "auto"])
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(1, 12))
def test_kernels_the_interpreter_and_the_reference_agree(seed: int, steps: int, numerics: str) -> None:
    check(seed, steps, numerics)


def check(seed: int, steps: int, numerics: str) -> None:
    drawn = Drawing(seed, steps, numerics).drawn()
    target = chosen_target("cpu")
    lowered = lower_graph(drawn.graph, target, chosen_options(numerics=numerics))
    compiled, interpreted = (load_lowered(lowered, target, tier) for tier in ("jit", "interpreter"))
    graph, facts = infer(drawn.graph)
    dtypes = {fact.name: fact.dtype for fact in facts.values}
    rounds = numerics == "strict"
    reference = GraphInterpreter(graph, dtypes)
    runs = [GraphInterpreter(moved(graph, dtypes, rounds, np.random.default_rng(i)), dtypes) for i in range(4)]
    for values in calls(drawn, seed):
        arguments = list(values.values())
        results = [np.asarray(a) for a in as_tuple(compiled(*arguments))]
        again = [np.asarray(a) for a in as_tuple(interpreted(*arguments))]
        with np.errstate(all="ignore"):
            wanted = reference.outputs(values)
            others = [run.outputs(values) for run in runs] if drawn.loose else []
        for (name, want), got, second in zip(wanted.items(), results, again, strict=True):
            assert got.dtype == want.dtype == second.dtype
            assert got.shape == want.shape == second.shape
            allowed = 0.0
            if name in drawn.loose:
                distances = (compare(other[name], want).max_ulp for other in others)
                allowed = max(distances, default=0.0) * 4 + OFF_BY
            assert compare(got, want, allowed_ulp=allowed).equal, (name, allowed, "kernels against the reference")
            assert compare(second, want, allowed_ulp=allowed).equal, (name, allowed, "interpreter against reference")
            assert compare(got, second, allowed_ulp=allowed).equal, (name, allowed, "kernels against the interpreter")


def as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)
