"""Kernels that may be run in several ways: the tiling function picks one for the sizes of each call.

The ways of these tests do not compute the same, so that results tell which one ran.
"""

from collections.abc import Iterator

import autofuse
import numpy as np
import pytest
from attrs import evolve
from autofuse.compiler import load_lowered
from autofuse.pipeline import Lowered
from autofuse_codegen.content import content_of
from autofuse_codegen.stage import emit, link
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.checks import verify
from autofuse_ir.dims import TRUE, Cond, const, le, symbol
from autofuse_ir.graph import Graph
from autofuse_ir.schedule import Alternative, ImplGraph, ScheduleGroup, ScheduleResult
from autofuse_ir.target import load_target
from autofuse_ir.text import show
from autofuse_ir.tiling import Constraint
from autofuse_reference.impl_graph.groups import Chosen, interpret_schedule
from autofuse_schedule.force import only_alternative
from autofuse_testkit.joint import lowered, values_for
from autofuse_tiling.evaluate import decide
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.stage import tile

SIZES = ((0, 5), (1, 1), (2, 3), (7, 64), (65, 40), (1, 200_000), (3, 70_000), (700, 33))
CORES = 4


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    autofuse.set_num_threads(CORES)
    yield
    autofuse.set_num_threads(1)


def squares() -> Graph:
    """The sum of the squares of the sums of the rows."""
    b = GraphBuilder("squares")
    x = b.input("x", ("n", "m"), dt.float32)
    rows = b.op("ReduceSumD", x, axes=(1,), keep_dims=False)
    return b.build({"y": b.op("ReduceSumD", b.op("Mul", rows, rows), axes=(0,), keep_dims=False)})


def wanted(x: np.ndarray, way: str) -> np.ndarray:
    rows = x.astype(np.float64).sum(axis=1)
    return (rows * rows if way == "times" else rows + rows).sum(axis=0)


def marked(impl: ImplGraph) -> ImplGraph:
    """The same, with sums in place of products."""
    nodes = tuple(evolve(node, op="Add") if node.op == "Mul" else node for node in impl.nodes)
    return evolve(impl, name=f"{impl.name}_plus", nodes=nodes)


def two_ways(result: ScheduleResult, applies: Cond, templates: tuple[str, str] = ("", "")) -> ScheduleResult:
    """Return ``result`` with another way in front of its own, that adds; each with some template where there is one."""
    (times,) = result.alternatives

    def kept(group: ScheduleGroup, template: str) -> tuple[ImplGraph, ...]:
        return tuple(i for i in group.implementations if i.template == template) or group.implementations

    plus = tuple(evolve(g, implementations=tuple(map(marked, kept(g, templates[0])))) for g in times.groups)
    own = tuple(evolve(g, implementations=kept(g, templates[1])) for g in times.groups)
    return evolve(result, alternatives=(Alternative("plus", plus, applies), Alternative("times", own, TRUE)))


def remade(made: Lowered, result: ScheduleResult, target: str) -> Lowered:
    spec = load_target(target)
    verify(result)
    model = tile(result, made.fused.facts, spec)
    verify(model)
    bundle = emit(result, model, made.fused.facts, spec)
    program = link(made.fused, (bundle,), made.fused.facts, spec)
    return evolve(made, schedules=(result,), tilings=(model,), bundles=(bundle,), program=program)


def ran(found: np.ndarray, x: np.ndarray) -> set[str]:
    """Return the ways whose results ``found`` may be."""
    return {way for way in ("plus", "times") if np.allclose(found, wanted(x, way), rtol=1e-3, atol=1e-3)}


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
def test_an_alternative_runs_only_for_sizes_that_it_applies_to(target: str) -> None:
    made = lowered(squares(), True, target)
    (result,) = made.schedules
    chosen = remade(made, two_ways(result, le(symbol("n"), 7)), target)
    fn = load_lowered(chosen, load_target(target))
    for n, m in SIZES:
        (x,) = values_for(made.source, {"n": n, "m": m})
        way = "plus" if n <= 7 else "times"
        assert decide(chosen.tilings[0], {"n": n, "m": m}, CORES).alternative == way
        assert way in ran(np.asarray(fn(x)), x), (n, m)


@pytest.mark.parametrize("target", ["cpu", "ascend-a2"])
def test_of_those_that_apply_the_one_that_is_predicted_to_be_faster_runs(target: str) -> None:
    """Blocks share long rows in one of the ways alone; some sizes are better off with either."""
    made = lowered(squares(), True, target)
    (result,) = made.schedules
    chosen = remade(made, two_ways(result, TRUE, ("r-core", "common")), target)
    fn = load_lowered(chosen, load_target(target))
    cores = load_target(target).cores or CORES
    seen = set()
    for n, m in SIZES:
        (x,) = values_for(made.source, {"n": n, "m": m})
        way = decide(chosen.tilings[0], {"n": n, "m": m}, cores).alternative
        assert way in ran(np.asarray(fn(x)), x), (n, m)
        seen.add(way)
    assert seen == {"plus", "times"}


def test_the_interpreter_runs_the_alternative_whose_implementations_were_chosen() -> None:
    made = lowered(squares(), True)
    (result,) = made.schedules
    ways = two_ways(result, le(symbol("n"), 7))
    model = tile(ways, made.fused.facts, load_target("cpu"))
    for n, m in ((7, 64), (65, 40)):
        (x,) = values_for(made.source, {"n": n, "m": m})
        found = decide(model, {"n": n, "m": m}, CORES)
        chosen = {name: Chosen(choice.implementation, choice.sizes) for name, choice in found.groups.items()}
        (y,) = interpret_schedule(ways, [x], {"n": n, "m": m}, chosen)
        assert ran(y, x) == {found.alternative}


def test_an_alternative_can_be_forced() -> None:
    made = lowered(squares(), True)
    (result,) = made.schedules
    for way in ("plus", "times"):
        fn = load_lowered(remade(made, only_alternative(two_ways(result, TRUE), way), "cpu"), load_target("cpu"))
        (x,) = values_for(made.source, {"n": 65, "m": 40})
        assert ran(np.asarray(fn(x)), x) == {way}


def test_where_none_fits_the_error_is_that_of_the_last_one_that_applies() -> None:
    made = lowered(squares(), True)
    (result,) = made.schedules
    model = tile(two_ways(result, le(symbol("n"), 7)), made.fused.facts, load_target("cpu"))
    tight = tuple(
        evolve(case, constraints=(Constraint("workspace", const(1), const(0), f"none for {case.alternative}"),))
        for case in model.cases
    )
    for n in (3, 70):
        with pytest.raises(TilingError, match="none for times"):
            decide(evolve(model, cases=tight), {"n": n, "m": 9}, CORES)


def test_ways_and_their_conditions_are_part_of_what_a_kernel_is() -> None:
    made = lowered(squares(), True)
    (result,) = made.schedules
    one, other = two_ways(result, le(symbol("n"), 7)), two_ways(result, le(symbol("n"), 8))
    assert content_of(one) != content_of(other)
    model = tile(one, made.fused.facts, load_target("cpu"))
    assert "alternative plus where n <= 7" in show(one)
    assert "alternative plus where n <= 7" in show(model)
