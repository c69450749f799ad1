"""The text forms are as documented: golden files of every contract."""

from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Payload
from autofuse_ir.parse import parse
from autofuse_ir.target import load_target, target_names
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.text import show


def test_text_of_every_contract(artefacts, golden):
    shown = (*artefacts.contracts, artefacts.asc_graph, artefacts.impl_graph)
    for artefact in shown:
        golden(show(artefact), f"{type(artefact).__name__}.txt")


def test_the_forms_that_are_read_back_are_read_back(artefacts):
    assert parse(show(artefacts.graph)) == artefacts.graph
    assert parse(show(artefacts.asc_graph)) == artefacts.asc_graph


def test_in_brief_constants_are_sizes_and_payloads_are_counted():
    b = GraphBuilder("g")
    small = b.constant(TensorData(dt.float32, (8,), bytes(32)), "small")
    large = b.constant(TensorData(dt.float32, (3, 3), bytes(36)), "large")
    for size in (1000, 234):
        b.payload(Payload(f"p{size}", "host.Form", TensorData(dt.uint8, (size,), bytes(size))))
    graph = b.build({"y": b.op("Neg", small), "z": b.op("Neg", large)})
    text = show(graph, brief=True)
    assert show(graph).count("payload @") == 2
    assert "  constant %small: f32[8] = [0, 0," in text
    assert "  constant %large: f32[3, 3] of 36 bytes\n" in text
    assert '  payloads: 2 "host.Form" of 1,234 bytes\n' in text
    assert "@p1000" not in text


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
