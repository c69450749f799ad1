"""Walking and rewriting graphs."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph, Node, Value
from autofuse_ir.operators import Flag
from autofuse_ir.operators.table import all_operators
from autofuse_ir.rewrite import map_nodes, replace_values, replaced
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.walk import live, made_by, producers, read_by


@pytest.fixture
def graph():
    """x -> neg -> (twice = neg + neg), unused = neg * c."""
    b = GraphBuilder("g")
    x = b.input("x", ("n",), dt.float32)
    c = b.constant(TensorData(dt.float32, (), bytes(4)), "c")
    neg = b.op("Neg", x, name="neg")
    b.op("Mul", neg, c, name="unused")
    return b.build({"y": b.op("Add", neg, neg, name="twice")})


def test_values_are_made_and_read(graph):
    assert producers(graph)["twice"].op == "Add"
    assert "x" not in producers(graph)
    assert read_by(graph.nodes[2]) == ("neg",)
    assert read_by(Node("n", "Op", (None, "a", "a"), ())) == ("a",)
    assert made_by(Node("n", "Op", (), ("a", "", "b"))) == ("a", "b")


def test_live_nodes_are_those_that_results_depend_on_and_those_that_act(graph):
    assert [node.name for node in live(graph)] == ["neg", "twice"]
    b = GraphBuilder("g")
    x = b.input("x", (3,), dt.float32)
    first = b.op("Neg", x, name="first")
    b.op("Exp", first, name="unread")
    host = Node("unknown", "OnlyAFrontEndKnowsIt", (first,), ("made", ""))
    found = b.build({"y": x})
    assert live(found) == ()
    assert [n.name for n in live(evolve(found, nodes=(*found.nodes, host)))] == []
    acting = next(op.name for op in all_operators() if op.has(Flag.HOST) and op.has(Flag.IN_PLACE))
    update = Node("update", acting, (first,), ("made",))
    assert [n.name for n in live(evolve(found, nodes=(*found.nodes, update)))] == ["first", "update"]


def test_nothing_changed_is_the_same_object(graph):
    assert replaced(graph, name="g", nodes=tuple(graph.nodes)) is graph
    assert map_nodes(graph, lambda node: node) is graph
    assert map_nodes(graph, lambda node: (node,)) is graph
    assert replace_values(graph, {"nobody": "x"}) is graph


def test_nodes_can_be_changed_split_and_removed(graph):
    def rewrite(node):
        match node.op:
            case "Neg":
                return evolve(node, op="Abs")
            case "Mul":
                return ()
            case _:
                return (evolve(node, name="first", outputs=("first",)), node)

    assert [n.op for n in map_nodes(graph, rewrite).nodes] == ["Abs", "Add", "Add"]


def test_values_are_replaced_through_chains_and_results_keep_their_names(graph):
    found = replace_values(graph, {"twice": "neg", "neg": "x"})
    assert [n.inputs for n in found.nodes] == [("x",), ("x", "c"), ("x", "x")]
    assert [(o.name, o.value) for o in found.outputs] == [("y", "x")]
    assert found.nodes[0] is graph.nodes[0]


def test_a_cycle_of_replacements_ends():
    graph = Graph("g", (Value("a", dt.int8, ()),), (), (Node("n", "Op", ("a",), ("b",)),))
    assert replace_values(graph, {"a": "c", "c": "a"}).nodes[0].inputs == ("c",)
