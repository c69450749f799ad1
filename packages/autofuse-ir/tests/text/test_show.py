"""The text forms are as documented: golden files of every contract."""

from attrs import evolve
from autofuse_ir.parse import parse
from autofuse_ir.target import load_target, target_names
from autofuse_ir.text import show


def test_text_of_every_contract(artefacts, golden):
    shown = (*artefacts.contracts, artefacts.asc_graph, artefacts.impl_graph)
    for artefact in shown:
        golden(show(artefact), f"{type(artefact).__name__}.txt")


def test_the_forms_that_are_read_back_are_read_back(artefacts):
    assert parse(show(artefacts.graph)) == artefacts.graph
    assert parse(show(artefacts.asc_graph)) == artefacts.asc_graph


def test_the_text_of_a_target_has_every_number():
    for name in target_names():
        target = load_target(name)
        text = show(target)
        for row in (*target.quantities, target.local_memory):
            assert f" {row.name} " in text
            assert row.source in text
        for cost in target.costs:
            assert f"{cost.per_element!r} cycles an element + {cost.per_call!r}" in text


def test_equal_artefacts_have_equal_texts(artefacts):
    assert show(evolve(artefacts.program)) == show(artefacts.program)
