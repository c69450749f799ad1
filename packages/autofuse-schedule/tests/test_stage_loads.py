"""Loads of no rows state the scratch that their elements are gathered from; all others stay as they are."""

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import Bounds
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.transforms.stage_loads import STAGE_BYTES, StageLoads, check_stores


def loaded(memory, at, **options):
    b = AscGraphBuilder("g", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), memory, at, **options)
    b.store(b.op("Abs", x), "y", ("n", "m"), ("z0", "z1"))
    return b.build()


def stage_of(graph):
    return next(node.attr("scratch", 0) for node in StageLoads()(graph).nodes if node.op == "Load")


@pytest.mark.parametrize(
    ("memory", "at"),
    [
        (("m", "n"), ("z1", "z0")),
        (("n", "m"), ("z0", ("z1", -1, "m-1"))),
        (("n", "2*m"), ("z0", ("z1", 2, 0))),
        (("n", "m", "k"), ("z0", "z1", 0)),
        (("n", "m"), ("z0", ("z1", "select(m == 1, 0, 1)", 0))),
    ],
)
def test_what_is_no_row_gets_a_stage(memory, at):
    assert stage_of(loaded(memory, at)) == STAGE_BYTES


@pytest.mark.parametrize(
    ("memory", "at"),
    [
        (("n", "m"), ("z0", "z1")),
        (("n", "m+3"), (("z0", -1, "n-1"), ("z1", 1, 3))),
        (("k", "n", "m"), (2, "z0", "z1")),
    ],
)
def test_rows_stay_as_they_are(memory, at):
    graph = loaded(memory, at)
    assert StageLoads()(graph) is graph


def test_what_may_leave_the_data_has_a_stage_like_other_loads():
    assert stage_of(loaded(("m", "n"), ("z1", "z0"), bounds=Bounds.FILL, fill=0.0)) == STAGE_BYTES
    assert stage_of(loaded(("n", "m"), ("z0", ("z1", 1, -3)), bounds=Bounds.FILL, fill=0.0)) == 0


def gathered(memory, at, *axes):
    b = AscGraphBuilder("g", {"z0": "n", "z1": "m"})
    ids = b.load(b.input("ids", dt.int32), tuple(b.axes[axis] for axis in axes), axes)
    x = b.load(b.input("x", dt.float32), memory, at, indices=(ids,))
    b.store(b.op("Abs", x), "y", ("n", "m"), ("z0", "z1"))
    return b.build()


def test_an_index_for_each_element_of_a_row_has_a_stage():
    graph = gathered(("n", "k"), ("z0", Operand(0)), "z0", "z1")
    assert [node.attr("scratch", 0) for node in StageLoads()(graph).nodes if len(node.inputs) == 2] == [STAGE_BYTES]


@pytest.mark.parametrize(
    ("memory", "at", "axes"),
    [(("k", "m"), (Operand(0), "z1"), ("z0",)), (("k", "n"), (Operand(0), "z0"), ("z0", "z1"))],
)
def test_other_gathers_stay_as_they_are(memory, at, axes):
    graph = gathered(memory, at, *axes)
    assert StageLoads()(graph) is graph


def test_copies_fill_up_blocks_of_64_bits_with_zeros_alone():
    b = AscGraphBuilder("g", {"z0": "n"})
    at = (("z0", 1, -1),)
    loads = [
        b.load(b.input(f"x{i}", dt.int64), ("n",), at, bounds=Bounds.FILL, fill=fill) for i, fill in enumerate((0, 7))
    ]
    b.store(b.op("Add", *loads), "y", ("n",), ("z0",))
    staged = [node.attr("scratch", 0) for node in StageLoads()(b.build()).nodes if node.op == "Load"]
    assert staged == [0, STAGE_BYTES]


def test_a_store_across_rows_is_refused_with_what_to_do():
    b = AscGraphBuilder("g", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), ("n", "m"), ("z0", "z1"))
    b.store(b.op("Abs", x), "y", ("m", "n"), ("z1", "z0"))
    with pytest.raises(ScheduleError, match="ascend-a2 stores rows, and abs_2 is not stored along the innermost"):
        check_stores(b.build(), "ascend-a2")
    check_stores(loaded(("m", "n"), ("z1", "z0")), "ascend-a2")
