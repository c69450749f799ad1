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
}
"""Several pieces of a row, which hold 64 partial results of an inner reduction or one of an outer."""


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


@pytest.mark.parametrize("name", ["running_sum", "running_both_ways"])
def test_scans_of_longer_rows_give_up_second_copies(kernel_case, name):
    """A scanned axis goes in one piece; rows of scans share a tile, as many as fit."""
    result = only_template(kernel_case.scheduled("ascend-a2"), "common")
    double, single = result.alternatives[0].groups[0].implementations
    assert {b.copies for b in double.buffers} == {1, 2}
    assert {b.copies for b in single.buffers} == {1}
    for impl in (double, single):
        assert evaluate(impl.tile_variables[0].hi, {"n": 100, "m": 7}) == 100


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
