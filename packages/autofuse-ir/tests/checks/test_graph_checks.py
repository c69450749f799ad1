"""Each invariant of a Graph, of facts and of a FusedGraph, broken one at a time."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.checks import findings
from autofuse_ir.dims import FALSE, const, symbol
from autofuse_ir.facts import Divisible, Guard, GuardKind, InputDim, SymbolFact, ValueFact
from autofuse_ir.fused_graph import FusedAscBackend
from autofuse_ir.graph import Attr, GraphOutput, Node, Symbol, Value

SYMBOLIC = Attr("dst_type", symbol("batch"))


def change_node(graph, position, **fields):
    nodes = list(graph.nodes)
    nodes[position] = evolve(nodes[position], **fields)
    return evolve(graph, nodes=tuple(nodes))


def only(artefact, text):
    """Every finding is about the one thing that was broken."""
    found = findings(artefact)
    assert found
    assert all(text in f"{finding.where}: {finding.what}" for finding in found), found


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda g: evolve(g, nodes=(g.nodes[0], *g.nodes)), "/mlp/Add"),
        (lambda g: evolve(g, constants=(*g.constants, *g.constants)), "'bias': it is made more than once"),
        (lambda g: evolve(g, inputs=(*g.inputs, Value("", dt.int8, ()))), "has no name"),
        (
            lambda g: change_node(g, 0, op="Cast", inputs=("x",), attrs=(Attr("dst_type", symbol("batch")),)),
            "name a dtype",
        ),
        (lambda g: evolve(g, nodes=g.nodes[::-1]), "made further down"),
        (lambda g: change_node(g, 0, inputs=("x", "bia")), "made by nothing"),
        (lambda g: evolve(g, outputs=(GraphOutput("y", "nothing"),)), "nothing makes its value"),
        (lambda g: evolve(g, outputs=(g.outputs[0], g.outputs[0])), "there are two"),
        (lambda g: change_node(g, 1, payload="p1"), "no payload 'p1'"),
        (lambda g: change_node(g, 0, op="Plus"), "no operator 'Plus'"),
        (lambda g: change_node(g, 0, inputs=("x",)), "1 inputs do not fit"),
        (lambda g: change_node(g, 0, attrs=(Attr("alpha", 1.0),)), "unknown attribute 'alpha'"),
        (lambda g: change_node(g, 0, attrs=(Attr("a", (symbol("m"),)),)), "a"),
        (lambda g: evolve(g, inputs=(Value("x", dt.int32, g.inputs[0].shape),)), "must have one dtype"),
        (lambda g: evolve(g, declared=(*g.declared, Value("/mlp/Add", dt.int32, None))), "declared as i32"),
        (lambda g: evolve(g, declared=(*g.declared, Value("ghost", dt.int32, None))), "no node makes it"),
        (lambda g: evolve(g, symbols=g.symbols[1:]), "'batch' is not declared"),
        (lambda g: evolve(g, symbols=(*g.symbols, Symbol("m", 3, 2))), "is no range"),
        (lambda g: evolve(g, symbols=(*g.symbols, Symbol("m", -1, 2))), "is no range"),
        (lambda g: evolve(g, symbols=(*g.symbols, Symbol("m", 0, 2, 3))), "outside [0, 2]"),
        (lambda g: evolve(g, inputs=(Value("x", dt.float32, (const(-1),)),)), "a dim is negative"),
        (lambda g: evolve(g, payloads=(*g.payloads, *g.payloads)), "there are two"),
    ],
)
def test_a_broken_graph_is_found(artefacts, breaking, text):
    only(breaking(artefacts.graph), text)


def test_declared_dims_may_be_unknown(artefacts):
    graph = artefacts.graph
    declared = (Value("picked_rows", dt.float32, (symbol("anything"), const(8))),)
    assert findings(evolve(graph, declared=declared)) == ()


def test_an_unknown_operator_with_a_payload_is_for_a_host(artefacts):
    assert findings(change_node(artefacts.graph, 1, op="MyOwnOperator")) == ()


def test_a_host_operator_with_a_payload_may_take_dtypes_that_only_its_backend_knows(artefacts):
    odd = Node("pool", "MaxPool", ("x",), ("pooled",), (Attr("kernel_shape", (2,)),), payload="p0")
    graph = evolve(artefacts.graph, inputs=(Value("x", dt.opaque, None),), nodes=(odd,), outputs=(), declared=())
    assert findings(graph) == ()
    only(evolve(graph, nodes=(evolve(odd, payload=None),)), "is opaque")


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda f: evolve(f, symbols=(*f.symbols, f.symbols[0])), "listed twice"),
        (lambda f: evolve(f, values=(*f.values, f.values[0])), "listed twice"),
        (lambda f: evolve(f, symbols=(*f.symbols, SymbolFact("m", 0, 4, 5, ()))), "hint 5"),
        (lambda f: evolve(f, values=(*f.values, ValueFact("v", dt.int8, (symbol("m"),)))), "'m' is not declared"),
        (lambda f: evolve(f, symbols=(*f.symbols, SymbolFact("m", 0, 4, 4, (InputDim("q", 0),)))), "no listed value"),
        (lambda f: evolve(f, symbols=(*f.symbols, SymbolFact("m", 0, 4, 4, (InputDim("x", 2),)))), "no dim 2"),
        (lambda f: evolve(f, values=(*f.values, ValueFact("v", dt.int64, (const(1),), ()))), "0 elements are known"),
        (
            lambda f: evolve(f, values=(*f.values, ValueFact("v", dt.float32, (), (const(1),)))),
            "only integers",
        ),
        (lambda f: evolve(f, guards=(Guard(GuardKind.ASSERT, FALSE, "op", ""),)), "never holds"),
        (lambda f: evolve(f, equalities=(FALSE,)), "never holds"),
        (lambda f: evolve(f, divisible=(Divisible(symbol("batch"), 0),)), "0 is no divisor"),
    ],
)
def test_broken_facts_are_found(artefacts, breaking, text):
    found = findings(breaking(artefacts.facts))
    assert found
    assert all(text in f"{finding.where}: {finding.what} {finding.fix}" for finding in found), found


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda g: evolve(g, nodes=(*g.nodes, g.nodes[1])), "more than once"),
        (lambda g: evolve(g, nodes=(g.nodes[3], *g.nodes[:3])), "further down"),
        (lambda g: evolve(g, nodes=g.nodes[:3]), "nothing makes its value 'picked_rows'"),
        (lambda g: evolve(g, facts=evolve(g.facts, values=g.facts.values[:3] + g.facts.values[4:])), "'flat'"),
        (lambda g: change_node(g, 1, name="k0"), "node 'k0': there are two of them"),
        (lambda g: evolve(g, outputs=(g.outputs[0], g.outputs[0])), "output 'y': there are two of them"),
        (lambda g: change_node(g, 3, outputs=("picked_rows", "ghost")), "no operator makes its output 'ghost'"),
        (lambda g: change_node(g, 0, inputs=("x",)), "2 Data nodes for 1"),
        (lambda g: change_node(g, 2, elements=(symbol("m"),)), "'m' is not declared"),
        (lambda g: change_node(g, 3, inputs=()), "reads '/mlp/Add', which is no input"),
        (lambda g: change_node(g, 3, reasons=()), "has no reason"),
        (lambda g: evolve(g, payloads=()), "has no payload 'p0'"),
        (lambda g: evolve(g, inputs=(g.inputs[0], g.inputs[0])), "more than once"),
    ],
)
def test_a_broken_fused_graph_is_found(artefacts, breaking, text):
    found = findings(breaking(artefacts.fused_graph))
    assert any(text in f"{finding.where}: {finding.what}" for finding in found), found


def test_a_kernel_whose_argument_has_another_dtype_is_found(artefacts):
    facts = artefacts.facts
    other = evolve(facts, values=tuple(evolve(v, dtype=dt.int32) if v.name == "x" else v for v in facts.values))
    only(evolve(artefacts.fused_graph, facts=other), "Data 0 is f32, but 'x' is i32")


def test_parts_of_a_fused_kernel_pass_internal_values_in_order(artefacts):
    graph = artefacts.fused_graph
    first = evolve(graph.nodes[0], name="p0", outputs=("flat",))
    second = evolve(graph.nodes[0], name="p1", inputs=("flat", "bias"))
    fused = FusedAscBackend("k0", ("x", "bias"), ("/mlp/Add",), (first, second), ("flat",))
    whole = evolve(graph, nodes=(fused, *graph.nodes[2:]))
    assert findings(whole) == ()
    only(evolve(whole, nodes=(evolve(fused, parts=(second, first)), *graph.nodes[2:])), "reads 'flat' too early")
    only(evolve(whole, nodes=(evolve(fused, internal=("flat", "shape")), *graph.nodes[3:])), "no part makes 'shape'")
    only(evolve(whole, nodes=(evolve(fused, internal=()), *graph.nodes[2:])), "neither an output nor internal")
