"""Which parts of one launch become phases of one another, and what is left of what passes between them."""

from autofuse_ir import dtypes as dt
from autofuse_ir.builder import AscGraphBuilder
from autofuse_ir.dims import as_dim
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_schedule.in_phases import group_of_phases, in_phases

AXES = {"z0": "n", "z1": "a", "z2": "b"}
SHAPE = ("n", "a", "b")


def scaled(at=("z0", "z1", "z2"), shape=SHAPE, name="first", scans=False):
    """v = x - max(x) along a, stored along ``at``."""
    b = AscGraphBuilder(name, AXES)
    x = b.load(b.input("x", dt.float32), SHAPE, ("z0", "z1", "z2"))
    y = b.op("Sub", x, b.broadcast(b.reduce("Max", x, "z1"), "z1"))
    b.store(b.scan("CumSum", y, "z1") if scans else y, "v", shape, at)
    return AscBackend(name, ("x",), ("v",), b.build(), ("first",))


def summed(axis, shape=SHAPE, source="v", result="y", name="second", sizes=("n", "a", "b")):
    """The sum of ``source`` along position ``axis`` of its own axes."""
    names = [f"z{k}" for k in range(len(shape))]
    b = AscGraphBuilder(name, dict(zip(names, sizes, strict=True)))
    v = b.load(b.input(source, dt.float32), shape, tuple(names))
    kept = [k for k in range(len(names)) if k != axis]
    b.store(b.reduce("Sum", v, names[axis]), result, tuple(shape[k] for k in kept), tuple(names[k] for k in kept))
    return AscBackend(name, (source,), (result,), b.build(), (name,))


def joint(*parts, outputs=("y",)):
    made = [name for part in parts for name in part.outputs]
    inputs = tuple(dict.fromkeys(name for part in parts for name in part.inputs if name not in made))
    return FusedAscBackend("joint", inputs, outputs, parts, tuple(name for name in made if name not in outputs))


def ops(part):
    return [node.op for node in part.graph.nodes]


def test_a_reader_along_another_axis_of_the_same_rows_goes_on_with_them():
    found = in_phases(joint(scaled(), summed(2)))
    (part,) = found.node.parts
    assert found.phased == {part.name} == {"first_phases"}
    assert ops(part) == ["Data", "Load", "Max", "Broadcast", "Sub", "Sum", "Store", "Output"]
    assert (part.inputs, part.outputs) == (("x",), ("y",))
    group = group_of_phases(part.graph)
    assert (group.y, group.r, group.n) == (("z0",), ("z1", "z2"), ())


def test_what_others_read_is_stored_all_the_same():
    for outputs, others in ((("y", "v"), ()), (("y", "w"), (summed(0, result="w", name="third"),))):
        found = in_phases(joint(scaled(), summed(2), *others, outputs=outputs))
        part = next(part for part in found.node.parts if part.name in found.phased)
        assert part.outputs == ("v", "y")
        assert len(found.node.parts) == 1 + len(others)


def test_rows_that_share_no_axis_stay_apart():
    b = AscGraphBuilder("first", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    b.store(b.op("Sub", x, b.broadcast(b.reduce("Max", x, "z1"), "z1")), "v", ("n", "m"), ("z0", "z1"))
    first = AscBackend("first", ("x",), ("v",), b.build(), ("first",))
    assert in_phases(joint(first, summed(0, shape=("n", "m"), sizes=("n", "m")))) is None
    assert in_phases(joint(first, summed(1, shape=("n", "m"), sizes=("n", "m")))) is not None


def test_what_is_read_in_another_order_stays_apart():
    """No order of loops is that of both: the first walks n outside of a, the second a outside of n."""
    turned = scaled(at=("z1", "z0", "z2"), shape=("a", "n", "b"))
    assert in_phases(joint(turned, summed(2, shape=("a", "n", "b"), sizes=("a", "n", "b")))) is None
    assert in_phases(joint(turned, summed(2))) is None, "it reads as n x a what is a x n"


def test_scans_stay_apart():
    assert in_phases(joint(scaled(scans=True), summed(2))) is None


def test_an_axis_of_the_second_alone_stays_whole_behind_the_shared_ones():
    b = AscGraphBuilder("first", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    b.store(b.reduce("Sum", x, "z1"), "v", ("n",), ("z0",))
    first = AscBackend("first", ("x",), ("v",), b.build(), ("first",))
    b = AscGraphBuilder("second", {"z0": "n", "z1": "k"})
    w = b.load(b.input("w", dt.float32), ("n", "k"), ("z0", "z1"))
    v = b.load(b.input("v", dt.float32), ("n",), ("z0",))
    b.store(b.op("Mul", w, b.broadcast(v, "z1")), "y", ("n", "k"), ("z0", "z1"))
    second = AscBackend("second", ("w", "v"), ("y",), b.build(), ("second",))
    (part,) = in_phases(joint(first, second)).node.parts
    assert [axis.size for axis in part.graph.axes] == [as_dim("n"), as_dim("m"), as_dim("k")]
    assert part.inputs == ("x", "w")
    group = group_of_phases(part.graph)
    assert (group.y, group.r, len(group.n)) == (("z0",), ("z1",), 1)


def test_what_both_read_is_the_same_rows_in_both():
    """Where the second reads the data, too, its axis is the one that the first has reduced."""
    b = AscGraphBuilder("first", AXES)
    x = b.load(b.input("x", dt.float32), SHAPE, ("z0", "z1", "z2"))
    b.store(b.reduce("Sum", x, "z1"), "v", ("n", "b"), ("z0", "z2"))
    first = AscBackend("first", ("x",), ("v",), b.build(), ("first",))
    b = AscGraphBuilder("second", AXES)
    x = b.load(b.input("x", dt.float32), SHAPE, ("z0", "z1", "z2"))
    v = b.load(b.input("v", dt.float32), ("n", "b"), ("z0", "z2"))
    b.store(b.reduce("Max", b.op("Sub", x, b.broadcast(v, "z1")), "z2"), "y", ("n", "a"), ("z0", "z1"))
    second = AscBackend("second", ("x", "v"), ("y",), b.build(), ("second",))
    (part,) = in_phases(joint(first, second)).node.parts
    assert [axis.size for axis in part.graph.axes] == [as_dim("n"), as_dim("a"), as_dim("b")]
    assert ops(part).count("Data") == 1


def test_parts_in_a_row_are_one_graph_and_others_stand_behind_what_they_read():
    third = summed(1, shape=("n", "a"), source="y", result="w", name="third", sizes=("n", "a"))
    found = in_phases(joint(scaled(), summed(2), third, outputs=("w",)))
    assert [part.name for part in found.node.parts] == ["first_phases"]
    other = summed(1, shape=("n", "a*b"), name="other", result="u", sizes=("n", "a*b"))
    found = in_phases(joint(scaled(), other, summed(2), outputs=("y", "u")))
    assert [part.name for part in found.node.parts] == ["first_phases", "other"]


def test_axes_behind_one_that_some_results_lack_are_not_shared():
    """Blocks share the outermost axes: z2, which all results have, stands behind z1, which one of them lacks."""
    b = AscGraphBuilder("both", {"z0": "n", "z1": "a", "z2": "b", "z3": "c"})
    x = b.load(b.input("x", dt.float32), ("n", "a", "b", "c"), ("z0", "z1", "z2", "z3"))
    b.store(b.reduce("Sum", x, "z3"), "y", SHAPE, ("z0", "z1", "z2"))
    w = b.load(b.input("w", dt.float32), ("n", "b"), ("z0", "z2"))
    b.store(b.op("Exp", w), "u", ("n", "b"), ("z0", "z2"))
    group = group_of_phases(b.build())
    assert (group.y, group.n, group.r) == (("z0",), ("z1", "z2"), ("z3",))
