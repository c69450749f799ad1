"""Which axes decide about a value, however wide it is."""

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import Bounds
from autofuse_ir.dependence import dependences


def builder() -> AscGraphBuilder:
    return AscGraphBuilder("k", {"z0": "n", "z1": "m"})


def test_what_was_broadcast_is_wide_and_depends_on_what_it_was_before() -> None:
    b = builder()
    row = b.load(b.input("r", dt.float32), ("m",), ("z1",), "row")
    wide = b.broadcast(b.op("Exp", row), "z0", "wide")
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"), "x0")
    b.store(b.op("Add", x, wide, name="sum"), "y", ("n", "m"), ("z0", "z1"))
    found = dependences(b.build().nodes)
    assert found["wide"] == {"z1"}
    assert found["sum"] == found["x0"] == {"z0", "z1"}
    assert found["r"] == found["x"] == set()


def test_numbers_depend_on_nothing_and_positions_on_their_axis() -> None:
    b = builder()
    number = b.broadcast(b.broadcast(b.cast(b.size("n"), dt.int32), "z1"), "z0", "number")
    mask = b.op("Lt", b.broadcast(b.axis_index("z1", dt.int32), "z0"), number, name="mask")
    b.store(mask, "y", ("n", "m"), ("z0", "z1"))
    found = dependences(b.build().nodes)
    assert found["number"] == set()
    assert found["mask"] == {"z1"}


def test_a_reduction_no_longer_depends_on_what_it_joins_and_a_scan_does() -> None:
    b = builder()
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    b.store(b.reduce("Sum", x, "z1", name="sum"), "total", ("n",), ("z0",))
    row = b.broadcast(b.load(b.input("r", dt.float32), ("n",), ("z0",)), "z1")
    b.store(b.scan("CumSum", row, "z1", name="scan"), "y", ("n", "m"), ("z0", "z1"))
    found = dependences(b.build().nodes)
    assert found["sum"] == {"z0"}
    assert found["scan"] == {"z0", "z1"}, "one more element is joined with each step"


def test_a_gather_depends_on_what_its_indices_do() -> None:
    b = builder()
    index = b.load(b.input("i", dt.int32), ("n",), ("z0",))
    table = b.input("t", dt.float32)
    picked = b.load(table, (7, "m"), (Operand(0), "z1"), indices=(index,), bounds=Bounds.ERROR, name="picked")
    b.store(picked, "y", ("n", "m"), ("z0", "z1"))
    assert dependences(b.build().nodes)["picked"] == {"z0", "z1"}
