"""What makes two kernels one: their content, never their names."""

from pathlib import Path

import pytest
from attrs import evolve
from autofuse_codegen.content import content_of, shared
from autofuse_codegen.stage import emit
from autofuse_ir.artefact import read
from autofuse_ir.dims import symbol
from autofuse_ir.graph import Attr
from autofuse_ir.target import load_target

CASE = Path(__file__).parent / "cases" / "bias_gelu"


@pytest.fixture
def schedule():
    return read(CASE / "schedule.json")


def with_nodes(schedule, change):
    """The schedule with every node of every ImplGraph changed."""
    return evolve(
        schedule,
        alternatives=tuple(
            evolve(
                a,
                groups=tuple(
                    evolve(g, implementations=tuple(map(changed(change), g.implementations))) for g in a.groups
                ),
            )
            for a in schedule.alternatives
        ),
    )


def changed(change):
    return lambda impl: evolve(impl, nodes=tuple(map(change, impl.nodes)))


def scalars_of(value):
    def change(node):
        return evolve(node, attrs=(Attr("value", value),)) if node.op == "Scalar" else node

    return change


def renamed(schedule):
    named = evolve(schedule, name="other", arguments=tuple(evolve(a, name=f"{a.name}_2") for a in schedule.arguments))
    return with_nodes(named, lambda node: evolve(node, source=("elsewhere",)))


def test_names_and_sources_are_no_content(schedule):
    assert renamed(schedule) != schedule
    assert content_of(renamed(schedule)) == content_of(schedule)


@pytest.mark.parametrize("other", [0.0, -0.0, 1.0, float("nan"), float("inf")])
def test_every_scalar_is_content(schedule, other):
    contents = {content_of(with_nodes(schedule, scalars_of(value))) for value in (other, 0.5)}
    assert len(contents) == 2


def test_signed_zeros_and_types_of_equal_value_differ(schedule):
    values = (0.0, -0.0, 0, False)
    assert len({content_of(with_nodes(schedule, scalars_of(value))) for value in values}) == len(values)


def test_a_nan_is_equal_to_itself(schedule):
    first, second = (content_of(with_nodes(schedule, scalars_of(float("nan")))) for _ in range(2))
    assert first == second


def test_shapes_and_targets_are_content(schedule):
    wider = tuple(evolve(a, shape=(*a.shape, symbol("extra"))) for a in schedule.arguments)
    others = (evolve(schedule, arguments=wider), evolve(schedule, target="other"), evolve(schedule, symbols=("n",)))
    assert len({content_of(s) for s in (schedule, *others)}) == 4


def test_a_shared_bundle_has_its_own_name_and_the_first_one_s_sources(schedule):
    tiling, facts = (read(CASE / f"{part}.json") for part in ("tiling", "facts"))
    first = emit(schedule, tiling, facts, load_target("cpu"))
    second = shared(first, renamed(schedule))
    assert (second.name, second.arguments) == ("other", renamed(schedule).arguments)
    assert evolve(second, name=first.name, arguments=first.arguments) == first
