"""Walking and rewriting graphs, and running passes over them."""

import pytest
from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Graph, Node, Value
from autofuse_ir.passes import Ran, pass_name, run_passes, run_until_stable, verifying
from autofuse_ir.rewrite import drop_unneeded, map_nodes, replace_values, replaced
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.walk import consumers, in_topological_order, needed_nodes, producers, read_by, values_of
from hypothesis import given
from hypothesis import strategies as st


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
    assert list(values_of(graph)) == ["x", "c", "neg", "unused", "twice"]
    assert producers(graph)["twice"].op == "Add"
    assert "x" not in producers(graph)
    assert {name: [n.name for n in nodes] for name, nodes in consumers(graph).items()} == {
        "x": ["neg"],
        "c": ["unused"],
        "neg": ["unused", "twice"],
        "unused": [],
        "twice": [],
    }
    assert read_by(graph.nodes[2]) == ("neg",)
    assert read_by(Node("n", "Op", (None, "a", None), ())) == ("a",)


def test_needed_nodes_are_those_the_results_depend_on(graph):
    assert [n.name for n in needed_nodes(graph)] == ["neg", "twice"]
    assert [n.name for n in needed_nodes(graph, ["unused"])] == ["neg", "unused"]


@given(st.permutations(range(8)))
def test_any_order_becomes_topological(order):
    chain = [Node(f"n{i}", "Op", (f"v{i - 1}",) if i % 3 else ("x",), (f"v{i}",)) for i in range(8)]
    found = in_topological_order([chain[i] for i in order], ["x"])
    assert sorted(n.name for n in found) == sorted(n.name for n in chain)
    known = {"x"}
    for node in found:
        assert set(node.inputs) <= known
        known.update(node.outputs)


def test_an_order_that_is_topological_stays():
    nodes = (Node("b", "Op", ("x",), ("b",)), Node("a", "Op", ("x",), ("a",)))
    assert in_topological_order(nodes, ["x"]) == nodes


def test_cycles_and_missing_values_are_errors():
    loop = [Node("a", "Op", ("vb",), ("va",)), Node("b", "Op", ("va",), ("vb",))]
    with pytest.raises(IrError, match="depends on it"):
        in_topological_order(loop, [])
    with pytest.raises(IrError, match="that nothing makes"):
        in_topological_order(loop[:1], [])


def test_nothing_changed_is_the_same_object(graph):
    assert replaced(graph, name="g", nodes=tuple(graph.nodes)) is graph
    assert map_nodes(graph, lambda node: node) is graph
    assert map_nodes(graph, lambda node: (node,)) is graph
    assert replace_values(graph, {"nobody": "x"}) is graph
    clean = drop_unneeded(graph)
    assert drop_unneeded(clean) is clean


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


def test_what_no_result_needs_is_dropped(graph, artefacts):
    found = drop_unneeded(graph)
    assert [n.name for n in found.nodes] == ["neg", "twice"]
    assert found.constants == ()
    assert found.inputs == graph.inputs
    shorter = drop_unneeded(evolve(artefacts.graph, outputs=artefacts.graph.outputs[:1]))
    assert (shorter.payloads, shorter.declared) == ((), ())


@frozen
class NegToAbs:
    """Neg(x) becomes Abs(x)."""

    def __call__(self, graph):
        return map_nodes(graph, lambda n: evolve(n, op="Abs") if n.op == "Neg" else n)


@frozen
class Rename:
    """The first node reads ``to``."""

    to: str

    def __call__(self, graph):
        return evolve(graph, nodes=(evolve(graph.nodes[0], inputs=(self.to,)), *graph.nodes[1:]))


def test_passes_run_in_order_and_observers_see_each(graph):
    seen: list[Ran] = []
    found = run_passes(graph, (drop_unneeded, NegToAbs(), NegToAbs()), (seen.append,))
    assert [n.op for n in found.nodes] == ["Abs", "Add"]
    assert [(ran.name, ran.has_changed) for ran in seen] == [
        ("drop_unneeded", True),
        ("NegToAbs", True),
        ("NegToAbs", False),
    ]
    assert all(ran.time_ns >= 0 for ran in seen)
    assert seen[1].before is seen[0].after
    assert pass_name(NegToAbs()) == "NegToAbs"


def test_verifying_names_the_pass_that_broke_the_graph(graph):
    assert run_passes(graph, (NegToAbs(),), (verifying,)).nodes[0].op == "Abs"
    with pytest.raises(IrError, match="made by nothing") as caught:
        run_passes(graph, (NegToAbs(), Rename("nowhere")), (verifying,))
    assert caught.value.where == "after Rename, Graph g"


def test_rounds_end_when_nothing_changes(graph):
    assert [n.op for n in run_until_stable(graph, (NegToAbs(), drop_unneeded), 3).nodes] == ["Abs", "Add"]
    with pytest.raises(IrError, match="after 3 rounds"):
        run_until_stable(graph, (Rename("x"),), 3)
