"""Passes on graphs with reductions, scans, positions and bounded loads."""

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AscGraph, Bounds
from autofuse_ir.checks import verify
from autofuse_ir.dims import as_dim
from autofuse_ir.reduction import reduced_axes
from autofuse_schedule.roles import levels
from autofuse_schedule.transforms.collapse_broadcasts import CollapseBroadcasts
from autofuse_schedule.transforms.drop_unit_axes import DropUnitAxes
from autofuse_schedule.transforms.drop_unread import DropUnread
from autofuse_schedule.transforms.insert_broadcasts import InsertBroadcasts
from autofuse_schedule.transforms.merge_axes import MergeAxes


def ops(graph: AscGraph) -> list[str]:
    verify(graph)
    return [node.op for node in graph.nodes]


def test_reducing_one_element_is_that_element():
    b = AscGraphBuilder("k", {"z0": "n", "z1": 1})
    x = b.load(b.input("x", dt.float32), ("n", 1), ("z0", "z1"))
    b.store(b.reduce("Max", x, "z1"), "y", ("n",), ("z0",))
    graph = DropUnitAxes()(b.build())
    assert ops(graph) == ["Data", "Load", "Store", "Output"]
    assert DropUnitAxes()(graph) is graph


def test_a_reduction_keeps_its_longer_axes():
    b = AscGraphBuilder("k", {"z0": "n", "z1": 1, "z2": "m"})
    x = b.load(b.input("x", dt.float32), ("n", 1, "m"), ("z0", "z1", "z2"))
    b.store(b.reduce("Sum", x, "z1", "z2"), "y", ("n",), ("z0",))
    graph = DropUnitAxes()(b.build())
    assert [reduced_axes(node) for node in graph.nodes if node.op == "Sum"] == [("z2",)]


def test_positions_and_scans_of_one_element_are_constants():
    b = AscGraphBuilder("k", {"z0": "n", "z1": 1})
    x = b.load(b.input("x", dt.float32), ("n", 1), ("z0", "z1"))
    sums = [b.scan("CumSum", x, "z1"), b.scan("CumSum", x, "z1", exclusive=True)]
    product = b.scan("CumProd", x, "z1", exclusive=True)
    position = b.cast(b.broadcast(b.axis_index("z1", dt.int64), "z0"), dt.float32)
    for number, value in enumerate((*sums, product, position)):
        b.store(value, f"y{number}", ("n",), ("z0",))
    graph = DropUnitAxes()(b.build())
    assert "CumSum" not in ops(graph)
    stores = {node.name: node.inputs[0] for node in graph.nodes if node.op == "Store"}
    values = {node.name: node.attr("value") for node in graph.nodes}
    assert stores["y0_store"] == x
    assert [values[stores[f"y{n}_store"]] for n in (1, 2)] == [0.0, 1.0]
    assert [node.attr("value") for node in graph.nodes if node.dtype == dt.int64 and node.op == "Scalar"] == [0]


def test_axes_merge_where_every_reduction_takes_both_or_neither():
    b = AscGraphBuilder("k", {"z0": "a", "z1": "b", "z2": "c", "z3": "d"})
    x = b.load(b.input("x", dt.float32), ("a", "b", "c", "d"), ("z0", "z1", "z2", "z3"))
    b.store(b.reduce("Sum", x, "z2", "z3"), "y", ("a", "b"), ("z0", "z1"))
    graph = MergeAxes()(b.build()).graph
    assert [(axis.name, axis.size) for axis in graph.axes] == [("z0z1", as_dim("a*b")), ("z2z3", as_dim("c*d"))]
    assert [reduced_axes(node) for node in graph.nodes if node.op == "Sum"] == [("z2z3",)]


def test_axes_that_are_counted_or_scanned_stay_apart():
    for scanned in (False, True):
        b = AscGraphBuilder("k", {"z0": "n", "z1": "m"})
        x = b.load(b.input("x", dt.int64), ("n", "m"), ("z0", "z1"))
        other = b.broadcast(b.axis_index("z1"), "z0")
        value = b.scan("CumSum", x, "z1") if scanned else b.op("Add", x, other)
        b.store(value, "y", ("n", "m"), ("z0", "z1"))
        graph = MergeAxes()(CollapseBroadcasts()(DropUnread()(b.build()))).graph
        assert [axis.name for axis in graph.axes] == ["z0", "z1"]


def test_filled_rows_merge_and_stay_filled():
    b = AscGraphBuilder("k", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n - 2", "m"), (("z0", 1, -2), "z1"), bounds=Bounds.FILL, fill=0.0)
    b.store(x, "y", ("n", "m"), ("z0", "z1"))
    graph = MergeAxes()(b.build()).graph
    load = next(node for node in graph.nodes if node.op == "Load")
    assert load.access.bounds is Bounds.FILL
    assert [(dim.axis, dim.offset) for dim in load.access.dims] == [("z0z1", as_dim("-2*m"))]
    assert load.attr("fill") == 0.0


def test_reductions_read_values_as_wide_as_what_they_reduce():
    b = AscGraphBuilder("k", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n",), ("z0",))
    b.store(b.reduce("Sum", b.broadcast(x, "z1"), "z1"), "y", ("n",), ("z0",))
    graph = InsertBroadcasts()(CollapseBroadcasts()(b.build()))
    assert ops(graph) == ["Data", "Load", "Broadcast", "Sum", "Store", "Output"]


def test_values_that_nobody_reads_are_dropped():
    b = AscGraphBuilder("k", {"z0": "n"})
    x = b.load(b.input("x", dt.float32), ("n",), ("z0",))
    b.reduce("Max", b.op("Exp", x), "z0")
    b.store(x, "y", ("n",), ("z0",))
    graph = DropUnread()(b.build())
    assert ops(graph) == ["Data", "Load", "Store", "Output"]
    assert DropUnread()(graph) is graph


def test_readers_of_reductions_and_scans_against_each_other_wait():
    b = AscGraphBuilder("k", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    forward = b.scan("CumSum", x, "z1", name="forward")
    backward = b.scan("CumSum", forward, "z1", reverse=True, name="backward")
    top = b.reduce("Max", backward, "z1", name="top")
    b.store(b.op("Sub", x, b.broadcast(top, "z1"), name="last"), "y", ("n", "m"), ("z0", "z1"))
    found = levels(b.build().nodes, ("z0", "z1"))
    assert [found[name] for name in ("forward", "backward", "top", "last")] == [0, 1, 2, 3]
