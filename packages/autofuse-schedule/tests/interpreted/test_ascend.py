"""Schedules of reductions for unified buffers, executed as planned, give the bits of the graphs they came from."""

import pytest
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.schedule import Location, Sync, local_bytes
from autofuse_schedule.force import only_template, template_names

NAMES = (
    "softmax",
    "layer_norm",
    "column_sum",
    "column_softmax",
    "middle_variance",
    "batch_norm",
    "full_sum",
    "full_normalise",
    "rms_norm_half",
    "integer_reductions",
    "arg_max",
    "masked_softmax",
    "embedding_norm",
    "padded_row_sum",
    "running_sum",
    "running_columns",
    "running_both_ways",
    "running_middle",
    "running_softmax",
    "softmax_running",
    "integral_image",
    "running_columns_of_norms",
    "group_norm",
    "outer_product_sum",
    "weighted_normalise",
)
SIZES = ((0, 2, 2), (3, 0, 2), (1, 1, 1), (2, 3, 2))
LONG = {
    "weighted_normalise": (3, 150, 1),
    "softmax": (2, 4500, 1),
    "column_softmax": (70, 9, 1),
    "batch_norm": (67, 2, 3),
    "group_norm": (1, 70, 2),
    "running_sum": (3, 61, 1),
    "running_columns": (17, 5, 1),
    "running_middle": (2, 19, 9),
    "running_softmax": (2, 4500, 1),
    "softmax_running": (2, 4500, 1),
    "integral_image": (7, 29, 1),
    "running_columns_of_norms": (13, 67, 1),
}
"""Several pieces of a row, which hold 64 partial results of an inner reduction or one of an outer, or a block."""


@pytest.mark.parametrize("target", ["ascend-a2", "ascend-350"])
@pytest.mark.parametrize("name", NAMES)
def test_every_template_gives_the_bits_of_its_graph(kernel_case, name, target):
    result = kernel_case.scheduled(target)
    points = (*SIZES, *([LONG[name]] if name in LONG and target == "ascend-a2" else []))
    for template in template_names(result):
        for impl in only_template(result, template).alternatives[0].groups[0].implementations:
            for seed, point in enumerate(points):
                sizes = dict(zip(("n", "m", "k"), point, strict=True))
                kernel_case.check(impl, {s: sizes[s] for s in result.symbols}, seed)


@pytest.mark.parametrize("name", ["softmax"])
def test_long_rows_go_through_local_memory_in_pieces(kernel_case, name):
    result = only_template(kernel_case.scheduled("ascend-a2"), "common")
    (impl,) = result.alternatives[0].groups[0].implementations
    assert [phase.loops for phase in impl.phases] == [("z0TB", "z0Tb", "z1T")] * 3
    assert [phase.shared for phase in impl.phases] == [0, 2, 2]
    assert [phase.sync for phase in impl.phases] == [Sync.BLOCK, Sync.BLOCK, Sync.NONE]
    tile = {"z0t_size": 8, "z1t_size": 512}
    long, longer = (evaluate(local_bytes(impl.buffers), {"m": m, **tile}) for m in (100_000, 1 << 20))
    assert long == longer
    lasting = {buffer.name for buffer in impl.buffers if buffer.lifetime == "z0Tb"}
    reductions = [node.name for node in impl.nodes if node.op in ("Max", "Sum")]
    assert lasting == {f"{name}_{what}" for name in reductions for what in ("buf", "acc")}


@pytest.mark.parametrize("name", ["softmax"])
def test_what_is_loaded_once_stays_in_local_memory(kernel_case, name):
    result = only_template(kernel_case.scheduled("ascend-a2"), "all-load")
    for impl in result.alternatives[0].groups[0].implementations:
        assert [node.op for node in impl.nodes].count("Load") == 1
        assert all(p.location is Location.LOCAL for p in impl.placements if p.node.startswith("load"))
    double, single = (
        {b.copies for b in i.buffers if b.name.startswith("load")}
        for i in result.alternatives[0].groups[0].implementations
    )
    assert (double, single) == ({2}, {1})


@pytest.mark.parametrize("name", ["softmax"])
def test_queues_of_a_later_phase_take_over_those_of_an_earlier_one(kernel_case, name):
    result = only_template(kernel_case.scheduled("ascend-a2"), "common")
    (impl,) = result.alternatives[0].groups[0].implementations
    loads = [b for b in impl.buffers if b.name.startswith("load")]
    assert [b.reuses for b in loads] == [None, *(b.name for b in loads[:-1])]


@pytest.mark.parametrize("name", ["running_both_ways"])
def test_rows_that_cannot_go_in_pieces_give_up_second_copies(kernel_case, name):
    """What runs backwards needs the end of what it reads first; rows share a tile, as many as fit."""
    result = only_template(kernel_case.scheduled("ascend-a2"), "common")
    double, single = result.alternatives[0].groups[0].implementations
    assert {b.copies for b in double.buffers} == {1, 2}
    assert {b.copies for b in single.buffers} == {1}
    for impl in (double, single):
        assert evaluate(impl.tile_variables[0].hi, {"n": 100, "m": 7}) == 100


def pieces_of(case, target="ascend-a2"):
    """The implementations that take an axis in pieces, by case."""
    result = only_template(case.scheduled(target), "common")
    found = result.alternatives[0].groups[0].implementations
    return {impl.case.name: impl for impl in found if any(phase.loops[-1:] == ("z1T",) for phase in impl.phases)}


@pytest.mark.parametrize("name", ["running_sum"])
def test_scans_of_long_rows_go_on_from_piece_to_piece(kernel_case, name):
    impl = pieces_of(kernel_case)["z0_z1"]
    (phase,) = impl.phases
    assert (phase.loops, phase.backwards) == (("z0TB", "z0Tb", "z1T"), ())
    tile = {"z0t_size": 16, "z1t_size": 512}
    long, longer = (evaluate(local_bytes(impl.buffers), {"m": m, **tile}) for m in (100_000, 1 << 20))
    assert long == longer
    (state,) = (b for b in impl.buffers if b.lifetime == "z0Tb")
    assert evaluate(state.bytes, tile) == 16 * 4


@pytest.mark.parametrize("name", ["running_middle"])
def test_scans_from_the_end_take_the_last_piece_first(kernel_case, name):
    found = pieces_of(kernel_case)
    assert found.keys() == {"z0_z1", "z2_z1"}
    for impl in found.values():
        (phase,) = impl.phases
        assert phase.backwards == ("z1T",)
        (state,) = (b for b in impl.buffers if b.name.endswith("_acc"))
        tile = {"z0t_size": 3, "z1t_size": 7, "z2t_size": 5}
        rows = {"z0_z1": 3 * 16, "z2_z1": 8}[impl.case.name]
        assert evaluate(state.bytes, {"k": 9, **tile}) == rows * 4, "rows of one length start at whole blocks"


@pytest.mark.parametrize("name", ["running_softmax"])
def test_each_sweep_makes_the_running_sums_that_it_reads(kernel_case, name):
    impl = pieces_of(kernel_case)["z0_z1"]
    assert [phase.loops for phase in impl.phases] == [("z0TB", "z0Tb", "z1T")] * 3
    by_name = {node.name: node.op for node in impl.nodes}
    scans = [[by_name[n] for s in phase.segments for n in s.nodes].count("CumSum") for phase in impl.phases]
    assert scans == [1, 1, 1]


@pytest.mark.parametrize("name", ["softmax_running"])
def test_sweeps_of_one_kernel_run_in_different_directions(kernel_case, name):
    impl = pieces_of(kernel_case)["z0_z1"]
    assert [phase.backwards for phase in impl.phases] == [(), (), ("z1T",)]


@pytest.mark.parametrize("name", ["integral_image", "running_columns_of_norms"])
def test_an_axis_that_does_not_go_in_pieces_stays_whole_in_the_tile(kernel_case, name):
    impl = pieces_of(kernel_case)["whole_z1"]
    assert {a for phase in impl.phases for s in phase.segments for a in s.axes} == {"z0", "z1t"}


@pytest.mark.parametrize("name", ["weighted_normalise"])
def test_one_block_takes_all_pieces_where_nothing_is_kept_and_rows_differ(kernel_case, name):
    """Blocks share whole leaves of the outermost axis, which do not fit where rows are long."""
    result = only_template(kernel_case.scheduled("ascend-a2"), "common")
    by_rows, by_columns = result.alternatives[0].groups[0].implementations
    assert [phase.loops for phase in by_rows.phases] == [("z0T",), (), ("z0T",)]
    assert [phase.loops for phase in by_columns.phases] == [("z0", "z1T"), (), ("z0", "z1T")]
    assert {phase.block for impl in (by_rows, by_columns) for phase in impl.phases} == {None}
    (total,) = (b for b in by_columns.buffers if b.name.endswith("_acc"))
    assert total.lifetime == "z1", "an axis that no loop renews"
