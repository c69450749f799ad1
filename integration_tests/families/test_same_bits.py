"""Under strict numerics the bits of a result depend on the program alone.

Not on whether operators share a kernel, on the number of threads, on the template a kernel was scheduled by, or on what
stands in the other rows of a batch.
"""

from collections.abc import Iterator
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import evolve
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse.pipeline import Lowered
from autofuse_codegen.stage import emit, link
from autofuse_fusion.options import FusionOptions
from autofuse_ir.schedule import ScheduleResult
from autofuse_testkit.patterns import PATTERNS, Pattern
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]

BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
WITH_REDUCTIONS = ("softmax-primitives", "layer-norm-residual", "rms-norm-primitives", "log-softmax")
ROWS, COLUMNS = 64, 9001
"""More than two leaves of the reduction tree, the last one neither full nor a multiple of any vector."""


@pytest.fixture(scope="module", params=WITH_REDUCTIONS)
def pattern(request: pytest.FixtureRequest) -> Pattern:
    return BY_NAME[request.param]


@pytest.fixture(scope="module")
def lowered(pattern: Pattern) -> Lowered:
    return lower_graph(pattern.build(), chosen_target("cpu"), chosen_options(numerics="strict"))


@pytest.fixture(scope="module")
def values(pattern: Pattern) -> dict[str, Array]:
    return pattern.inputs({"n": ROWS, "m": COLUMNS}, np.random.default_rng(3))


@pytest.fixture(scope="module")
def wanted(lowered: Lowered, values: dict[str, Array]) -> Array:
    autofuse.set_num_threads(1)
    return np.asarray(load_lowered(lowered, chosen_target("cpu"), "jit")(*values.values()))


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    autofuse.set_num_threads(1)


def test_any_number_of_threads(lowered: Lowered, values: dict[str, Array], wanted: Array) -> None:
    fn = load_lowered(lowered, chosen_target("cpu"), "jit")
    for count in (2, 3, 4, 8):
        autofuse.set_num_threads(count)
        same(fn(*values.values()), wanted)


def test_a_row_alone_and_in_a_batch(lowered: Lowered, values: dict[str, Array], wanted: Array) -> None:
    fn = load_lowered(lowered, chosen_target("cpu"), "jit")
    for count in (1, 4):
        autofuse.set_num_threads(count)
        for row in (0, 1, 37, ROWS - 1):
            alone = [v[row : row + 1] if v.ndim == 2 else v for v in values.values()]
            same(np.asarray(fn(*alone))[0], wanted[row])


def test_fused_or_not(pattern: Pattern, values: dict[str, Array], wanted: Array) -> None:
    options = chosen_options(FusionOptions(enable=False), numerics="strict")
    apart = lower_graph(pattern.build(), chosen_target("cpu"), options)
    same(load_lowered(apart, chosen_target("cpu"), "jit")(*values.values()), wanted)


def test_every_template(lowered: Lowered, values: dict[str, Array], wanted: Array) -> None:
    (schedule,) = lowered.schedules
    names = dict.fromkeys(i.template for a in schedule.alternatives for g in a.groups for i in g.implementations)
    assert set(names) == {"all-load", "common", "r-core"}
    for name in names:
        fn = load_lowered(forced(lowered, name), chosen_target("cpu"), "jit")
        for count in (1, 3):
            autofuse.set_num_threads(count)
            same(fn(*values.values()), wanted)
        small = [v[:2] if v.ndim == 2 else v for v in values.values()]
        same(fn(*small), wanted[:2])


def test_the_interpreter(lowered: Lowered, values: dict[str, Array], wanted: Array) -> None:
    """Sums, products, roots and quotients are exact in both; only exp and log are other polynomials there."""
    got = np.asarray(load_lowered(lowered, chosen_target("cpu"), "interpreter")(*values.values()))
    operators = {node.op for bundle in lowered.program.kernels for graph in bundle.graphs for node in graph.nodes}
    if operators & {"Exp", "Ln"}:
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    else:
        same(got, wanted)


def forced(lowered: Lowered, template: str) -> Lowered:
    """The program with kernels that have this template only."""
    target = chosen_target("cpu")
    schedules = tuple(only(schedule, template) for schedule in lowered.schedules)
    tilings = tuple(tile(schedule, lowered.fused.facts, target) for schedule in schedules)
    pairs = zip(schedules, tilings, strict=True)
    bundles = tuple(emit(schedule, tiling, lowered.fused.facts, target) for schedule, tiling in pairs)
    program = link(lowered.fused, bundles, lowered.fused.facts, target)
    return evolve(lowered, schedules=schedules, tilings=tilings, bundles=bundles, program=program)


def only(schedule: ScheduleResult, template: str) -> ScheduleResult:
    """The schedule without other templates."""
    alternatives = tuple(
        evolve(
            alternative,
            groups=tuple(
                evolve(g, implementations=tuple(i for i in g.implementations if i.template == template))
                for g in alternative.groups
            ),
        )
        for alternative in schedule.alternatives
    )
    return evolve(schedule, alternatives=alternatives)


def same(got: Any, wanted: Array) -> None:
    """Bit by bit."""
    np.testing.assert_array_equal(np.asarray(got).view(np.uint32), wanted.view(np.uint32))
