"""verify() accepts what is well formed and reports everything that is not, with the text around it."""

import pytest
from attrs import evolve
from autofuse_ir.checks import findings, verify
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Node
from autofuse_ir.target import load_target, target_names


def test_well_formed_artefacts_have_no_findings(artefacts):
    for artefact in (*artefacts.contracts, artefacts.asc_graph, artefacts.impl_graph):
        assert findings(artefact) == ()


def test_shipped_targets_have_no_findings():
    for name in target_names():
        assert findings(load_target(name)) == ()


def test_all_findings_come_in_one_error_with_the_text_around_each(artefacts):
    broken = evolve(
        artefacts.graph,
        nodes=(
            evolve(artefacts.graph.nodes[0], inputs=("x", "nowhere")),
            Node("odd", "NoSuchOperator", ("x",), ("z",), source="model.onnx, node odd"),
            *artefacts.graph.nodes[1:],
        ),
    )
    with pytest.raises(IrError) as caught:
        verify(broken)
    message = str(caught.value)
    assert message.startswith("Graph add_bias: 2 invariants do not hold")
    assert "input 'nowhere' is made by nothing" in message
    assert "there is no operator 'NoSuchOperator'" in message
    assert "model.onnx, node odd" in message
    assert "    > " in message
    assert "%z = NoSuchOperator(%x)" in message
    assert "payload @p0" in message  # two lines above the offender


def test_a_long_list_of_findings_is_cut(artefacts):
    nodes = tuple(Node(f"n{i}", "NoSuchOperator", ("x",), (f"v{i}",)) for i in range(30))
    with pytest.raises(IrError, match="30 invariants do not hold") as caught:
        verify(evolve(artefacts.graph, nodes=nodes + artefacts.graph.nodes))
    assert "and 10 more" in str(caught.value)
