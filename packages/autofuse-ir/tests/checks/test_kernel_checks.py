"""Each invariant of an AscGraph, an ImplGraph and a schedule, broken one at a time."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscNode, Axis, AxisKind
from autofuse_ir.checks import findings
from autofuse_ir.dims import FALSE, ceildiv, const, symbol
from autofuse_ir.graph import Attr
from autofuse_ir.schedule import (
    Buffer,
    ImplGraph,
    Location,
    Phase,
    Placement,
    QueuePosition,
    ScheduleGroup,
    Segment,
    TileRole,
    TileVariable,
    TilingCase,
    TilingGroup,
)


def node(graph, name, **fields):
    """``graph`` with fields of one of its nodes changed."""
    return evolve(graph, nodes=tuple(evolve(n, **fields) if n.name == name else n for n in graph.nodes))


def without(graph, name):
    return evolve(graph, nodes=tuple(n for n in graph.nodes if n.name != name))


ONE, ZERO = (const(1), const(1)), (const(0), const(0))


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda g: evolve(g, axes=(g.axes[0], g.axes[0])), "there are two"),
        (lambda g: evolve(g, axes=(g.axes[0], Axis("z1", AxisKind.MERGED, const(8), ("z0",)))), "split or merged"),
        (lambda g: evolve(g, nodes=(*g.nodes, g.nodes[0])), "there are two"),
        (lambda g: evolve(g, nodes=g.nodes[::-1]), "is not made before it"),
        (lambda g: node(g, "sum", op="Gelu"), "no operator 'Gelu'"),
        (lambda g: node(g, "sum", inputs=("x",)), "takes 2 inputs, not 1"),
        (lambda g: node(g, "one", attrs=()), "attribute 'value' is None"),
        (lambda g: node(g, "in0", attrs=(Attr("index", True),)), "attribute 'index' is True"),
        (lambda g: node(g, "one", dtype=dt.float64), "not of one dtype"),
        (lambda g: node(g, "sum", op="LogicalAnd"), "computes on logical types, not on f32"),
        (lambda g: node(g, "scaled", dtype=dt.float16), "but Mul makes f32"),
        (lambda g: node(g, "sum", op="Lt"), "but Lt makes b8"),
        (lambda g: node(g, "sum", repeats=(const(8),)), "1 repeats and 2 strides for 2 axes"),
        (lambda g: node(g, "sum", repeats=(symbol("m"), const(8))), "is m, neither batch nor 1"),
        (lambda g: node(g, "one", strides=(const(1), const(0))), "though it is 1 wide"),
        (lambda g: node(g, "x", access=None), "Load needs access"),
        (lambda g: node(g, "sum", access=AccessMap((), ())), "Add takes no access"),
        (lambda g: node(g, "x", access=AccessMap((const(8),), ())), "0 indices for 1 dims"),
        (lambda g: node(g, "row", access=AccessMap((const(8),), (AccessDim("q", const(1), const(0)),))), "'q'"),
        (lambda g: node(g, "x", access=AccessMap((const(8),), (AccessDim("z1", const(1), const(0)),))), "along z0"),
        (lambda g: node(g, "sum", inputs=("in0", "bias")), "computes on memory"),
        (lambda g: node(g, "row", inputs=("x",)), "does not read a Data node"),
        (lambda g: node(g, "out0", inputs=("sum",)), "not written by a Store"),
        (lambda g: node(g, "sum", inputs=("x", "row")), "repeat 1 along z0, where the node has batch"),
        (lambda g: node(g, "bias", attrs=(Attr("axis", "z1"),)), "along z0"),
        (lambda g: node(g, "in1", attrs=(Attr("index", 2),)), "indices are 0, 2"),
    ],
)
def test_a_broken_asc_graph_is_found(artefacts, breaking, text):
    found = findings(breaking(artefacts.asc_graph))
    assert any(text in f"{finding.where}: {finding.what}" for finding in found), found


def test_a_mask_must_be_bool(artefacts):
    extra = AscNode("pick", "Select", ("x", "x", "bias"), dt.float32, *_wide(artefacts))
    graph = evolve(artefacts.asc_graph, nodes=(*artefacts.asc_graph.nodes[:-2], extra, *artefacts.asc_graph.nodes[-2:]))
    assert [f.what for f in findings(graph)] == ["its mask is f32, not b8"]


def _wide(artefacts):
    wide = next(n for n in artefacts.asc_graph.nodes if n.name == "sum")
    return wide.repeats, wide.strides


def phase(graph, **fields):
    return evolve(graph, phases=(evolve(graph.phases[0], **fields),))


def buffer(graph, name, **fields):
    return evolve(graph, buffers=tuple(evolve(b, **fields) if b.name == name else b for b in graph.buffers))


def place(graph, name, **fields):
    return evolve(graph, placements=tuple(evolve(p, **fields) if p.node == name else p for p in graph.placements))


def tile(graph, **fields):
    return evolve(graph, tile_variables=(evolve(graph.tile_variables[0], **fields), graph.tile_variables[1]))


def axes(graph, position, axis):
    return evolve(graph, axes=(*graph.axes[:position], axis, *graph.axes[position + 1 :]))


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda g: evolve(g, axes=(*g.axes[:2], *g.axes[3:])), "'z0T' is not defined before it"),
        (lambda g: axes(g, 2, evolve(g.axes[2], parents=("z0", "z1"))), "2 parents do not make it tile_outer"),
        (lambda g: axes(g, 3, evolve(g.axes[3], kind=AxisKind.TILE_OUTER)), "2 tile_outer and 0 tile_inner"),
        (lambda g: evolve(g, axes=(*g.axes, g.axes[-1])), "there are two"),
        (lambda g: evolve(g, roots=("z0", "q")), "it is no axis"),
        (lambda g: evolve(g, roots=("z0", "z0")), "root 'z0': it is listed twice"),
        (lambda g: evolve(g, tile_variables=g.tile_variables * 2), "tile 'z0t_size': there are two of them"),
        (lambda g: phase(g, segments=g.phases[0].segments[:-1]), "no segment evaluates it"),
        (lambda g: phase(g, segments=(*g.phases[0].segments, g.phases[0].segments[0])), "more than once"),
        (lambda g: phase(g, segments=g.phases[0].segments[::-1]), "is evaluated before"),
        (lambda g: phase(g, segments=(Segment(("one",), ("z0t", "z1")), *g.phases[0].segments)), "nothing to evaluate"),
        (lambda g: phase(g, segments=(Segment(("q",), ("z0t", "z1")), *g.phases[0].segments)), "no such node"),
        (lambda g: phase(g, loops=("z0TB", "z0Tb", "z1")), "'z1' is walked twice"),
        (lambda g: phase(g, loops=("z0TB",)), "root 'z0' is walked 0 times"),
        (lambda g: phase(g, loops=("z0TB", "z0Tb", "z0")), "root 'z0' is walked 2 times"),
        (lambda g: phase(g, loops=("z0TB", "z0Tb", "q")), "'q' is no axis"),
        (lambda g: phase(g, block="z1"), "none of its loops"),
        (lambda g: phase(g, backwards=("z1",)), "'z1' runs backwards, and is no loop"),
        (lambda g: phase(g, backwards=("z0TB",)), "'z0TB' runs backwards, and is no loop that one block"),
        (lambda g: tile(g, axis="z1"), "no inner half"),
        (lambda g: tile(g, name="m"), "the size of 'z0t' is z0t_size"),
        (lambda g: tile(g, multiple=0), "multiple 0"),
        (lambda g: evolve(g, placements=g.placements[1:]), "has no place"),
        (lambda g: evolve(g, placements=(*g.placements, g.placements[0])), "two places"),
        (lambda g: evolve(g, placements=(*g.placements, Placement("one", Location.REGISTER))), "is not evaluated"),
        (lambda g: place(g, "x", buffer=None), "needs buffer"),
        (lambda g: place(g, "x", location=Location.GLOBAL), "takes no buffer"),
        (lambda g: place(g, "x", buffer="q"), "no local buffer 'q'"),
        (lambda g: place(g, "x", location=Location.REGISTER, buffer=None), "lives in registers"),
        (lambda g: buffer(g, "x_buf", copies=0), "0 copies"),
        (lambda g: buffer(g, "x_buf", bytes=const(-1)), "-1 bytes"),
        (lambda g: buffer(g, "x_buf", lifetime="q"), "lifetime 'q'"),
        (lambda g: buffer(g, "x_buf", location=Location.REGISTER), "not in register"),
        (lambda g: evolve(g, buffers=(*g.buffers, g.buffers[0])), "there are two"),
        (lambda g: buffer(g, "bias_buf", reuses="sum_buf"), "leads nowhere"),
        (lambda g: buffer(g, "bias_buf", reuses="q"), "leads nowhere"),
        (lambda g: buffer(g, "sum_buf", reuses="row_buf", bytes=const(65)), "does not fit into 'row_buf'"),
        (lambda g: buffer(g, "bias_buf", reuses="x_buf"), "'x_buf' is still alive"),
        (lambda g: evolve(g, index_bits=16), "16 is neither"),
        (lambda g: node(g, "sum", op="Gelu"), "no operator"),
    ],
)
def test_a_broken_impl_graph_is_found(artefacts, breaking, text):
    found = findings(breaking(artefacts.impl_graph))
    assert any(text in f"{finding.where}: {finding.what}" for finding in found), found


def test_an_impl_graph_may_widen_where_it_reads(artefacts):
    graph = artefacts.impl_graph
    segments = tuple(s for s in graph.phases[0].segments if s.nodes != ("bias",))
    narrow = phase(without(node(graph, "sum", inputs=("x", "row")), "bias"), segments=segments)
    narrow = evolve(
        narrow,
        placements=tuple(p for p in graph.placements if p.node != "bias"),
        buffers=tuple(evolve(b, reuses=None) for b in graph.buffers if b.name != "bias_buf"),
    )
    assert findings(narrow) == ()


def test_values_made_in_one_segment_cannot_share_memory(artefacts):
    graph = artefacts.impl_graph
    first, second, *rest = graph.phases[0].segments
    merged = phase(graph, segments=(Segment(first.nodes + second.nodes, first.axes), *rest))
    assert findings(merged) == ()
    assert any("still alive" in f.what for f in findings(buffer(merged, "row_buf", reuses="x_buf")))


def test_axes_that_were_merged_and_split_are_walked_once(artefacts):
    merged = Axis("m", AxisKind.MERGED, symbol("batch") * 8, ("z0", "z1"))
    halves = (
        Axis("mB", AxisKind.BLOCK_OUTER, symbol("batch") * 8 // symbol("s"), ("m",)),
        Axis("mb", AxisKind.BLOCK_INNER, symbol("s"), ("m",)),
    )
    graph = evolve(artefacts.impl_graph, axes=(*artefacts.impl_graph.axes, merged, *halves))
    segments = tuple(evolve(s, axes=("mb",)) for s in graph.phases[0].segments)
    assert findings(phase(graph, loops=("mB",), block="mB", segments=segments)) == ()


def scan_in_pieces(reverse):
    """A scan along z0 of [z0, z1], in pieces of z0; its state is a row."""
    b = AscGraphBuilder("scan", {"z0": "n", "z1": 8})
    x = b.load(b.input("x", dt.float32), ("n", 8), ("z0", "z1"), "x0")
    b.store(b.scan("CumSum", x, "z0", reverse=reverse, name="scan"), "y", ("n", 8), ("z0", "z1"))
    graph, t = b.build(), symbol("t")
    halves = (
        Axis("z0T", AxisKind.TILE_OUTER, ceildiv(symbol("n"), t), ("z0",)),
        Axis("z0t", AxisKind.TILE_INNER, t, ("z0",)),
    )
    (store,) = (n.name for n in graph.nodes if n.op == "Store")
    return ImplGraph(
        name="scan",
        case=TilingCase("z0", ("z0",)),
        template="by hand",
        group=TilingGroup(y=("z1",), n=("z0",)),
        roots=("z0", "z1"),
        axes=(*graph.axes, *halves),
        nodes=graph.nodes,
        tile_variables=(TileVariable("t", "z0t", TileRole.LOCAL, 1, symbol("n"), 1),),
        phases=(Phase(("z0T",), None, (Segment(("x0", "scan", store), ("z0t", "z1")),), backwards=("z0T",) * reverse),),
        buffers=(Buffer("state", Location.LOCAL, QueuePosition.VECCALC, const(32), 1),),
        placements=(
            Placement("x0", Location.REGISTER),
            Placement("scan", Location.REGISTER),
            Placement(store, Location.GLOBAL),
        ),
        index_bits=64,
        accumulators=(Placement("scan", Location.LOCAL, "state"),),
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_goes_through_its_pieces_in_order_and_keeps_its_state(reverse):
    graph = scan_in_pieces(reverse)
    assert findings(graph) == ()
    turned = findings(phase(graph, backwards=() if reverse else ("z0T",)))
    assert [f.what for f in turned] == [
        f"it goes from the {'last' if reverse else 'first'} element on, loop 'z0T' the other way"
    ]
    spread = findings(phase(graph, block="z0T", backwards=()))
    assert [f.what for f in spread] == ["blocks share its axis 'z0'"]
    for places in ((), (Placement("scan", Location.REGISTER),)):
        lost = findings(evolve(graph, accumulators=places))
        assert ["its state has no place" in f.what for f in lost] == [True]


def test_nothing_is_reduced_from_the_last_element_on():
    graph = scan_in_pieces(True)
    b = AscGraphBuilder("scan", {"z0": "n", "z1": 8})
    x = b.load(b.input("x", dt.float32), ("n", 8), ("z0", "z1"), "x0")
    total = b.reduce("Sum", x, "z0", name="total")
    node = next(n for n in b.build().nodes if n.name == total)
    (phase_of_scan,) = graph.phases
    (segment,) = phase_of_scan.segments
    joined = evolve(
        graph,
        nodes=(*graph.nodes[:2], node, *graph.nodes[2:]),
        phases=(evolve(phase_of_scan, segments=(evolve(segment, nodes=(*segment.nodes, "total")),)),),
        placements=(*graph.placements, Placement("total", Location.REGISTER)),
    )
    assert [f.what for f in findings(joined)] == ["loop 'z0T' brings the elements that it joins from the last one on"]


def test_phases_that_share_a_loop_go_through_it_one_way():
    graph = scan_in_pieces(True)
    (first,) = graph.phases
    again = evolve(graph, phases=(first, Phase(("z0T",), None, (), shared=1)))
    assert [f.what for f in findings(again)] == ["it shares loop 'z0T' with a phase that goes through it the other way"]


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda s: evolve(s, arguments=(s.arguments[1], *s.arguments)), "their indices are [1, 0, 1]"),
        (lambda s: evolve(s, arguments=(s.arguments[0], s.arguments[2])), "the kernel has no Data 1"),
        (lambda s: evolve(s, arguments=(*s.arguments[:2], evolve(s.arguments[2], dtype=dt.int8))), "argument is i8"),
        (lambda s: evolve(s, alternatives=(evolve(s.alternatives[0], applies=FALSE),)), "none applies to all sizes"),
        (lambda s: evolve(s, alternatives=s.alternatives * 2), "alternative 'general': there are two of them"),
        (lambda s: evolve(s, alternatives=s.alternatives * 2), "implementation 'k0_general_z0': there are two of them"),
        (
            lambda s: evolve(s, alternatives=(evolve(s.alternatives[0], groups=(ScheduleGroup("k0", ()),)),)),
            "group 'k0': it has no implementation",
        ),
        (lambda s: evolve(s, symbols=()), "'batch' is not declared"),
    ],
)
def test_a_broken_schedule_is_found(artefacts, breaking, text):
    found = findings(breaking(artefacts.schedule))
    assert any(text in f"{finding.where}: {finding.what}" for finding in found), found


def test_a_broken_implementation_is_found_in_its_schedule(artefacts):
    schedule = artefacts.schedule
    extra = Buffer("extra", Location.LOCAL, QueuePosition.VECIN, const(1), 0)
    group = schedule.alternatives[0].groups[0]
    broken = evolve(artefacts.impl_graph, buffers=(*artefacts.impl_graph.buffers, extra))
    alternative = evolve(schedule.alternatives[0], groups=(evolve(group, implementations=(broken,)),))
    found = findings(evolve(schedule, alternatives=(alternative,)))
    assert [f.where for f in found] == ["k0_general_z0, buffer 'extra'"]
