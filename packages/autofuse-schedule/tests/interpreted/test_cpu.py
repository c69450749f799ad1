"""Schedules of reductions for CPUs, executed as planned, give the bits of the graphs they came from."""

import pytest
from attrs import evolve
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.schedule import Location
from autofuse_ir.target import load_target
from autofuse_schedule.errors import ScheduleError
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
    "transposed_sum",
    "transposed_softmax",
)
SIZES = ((0, 2, 2), (3, 0, 2), (1, 1, 1), (2, 3, 2), (3, 7, 5))
LONG = {
    "softmax": (2, 4500, 1),
    "column_sum": (150, 3, 1),
    "column_softmax": (70, 9, 1),
    "full_normalise": (2, 5000, 1),
    "middle_variance": (2, 130, 3),
    "batch_norm": (67, 2, 3),
}
"""More than one leaf: 4096 elements of a row, or 64 rows."""


@pytest.mark.parametrize("name", NAMES)
def test_every_template_gives_the_bits_of_its_graph(kernel_case, name):
    result = kernel_case.scheduled("cpu")
    for template in template_names(result):
        for impl in only_template(result, template).alternatives[0].groups[0].implementations:
            for seed, point in enumerate((*SIZES, *([LONG[name]] if name in LONG else []))):
                sizes = dict(zip(("n", "m", "k"), point, strict=True))
                kernel_case.check(impl, {s: sizes[s] for s in result.symbols}, seed)


@pytest.mark.parametrize("name", ["softmax", "column_softmax", "batch_norm"])
def test_reductions_have_three_templates_on_a_cpu(kernel_case, name):
    assert template_names(kernel_case.scheduled("cpu")) == ("all-load", "common", "r-core")


@pytest.mark.parametrize("name", ["softmax"])
def test_a_template_that_a_kernel_lacks_cannot_be_forced(kernel_case, name):
    with pytest.raises(ScheduleError, match="its templates are all-load, common, r-core"):
        only_template(kernel_case.scheduled("cpu"), "general")


@pytest.mark.parametrize("name", ["softmax"])
def test_an_exponential_is_kept_and_a_load_is_read_again(kernel_case, name):
    result = only_template(kernel_case.scheduled("cpu"), "all-load")
    (impl,) = result.alternatives[0].groups[0].implementations
    ops = {node.name: node.op for node in impl.nodes}
    assert [op for op in ops.values() if op == "Exp"] == ["Exp"]
    assert [node.attr("resident") for node in impl.nodes if node.op == "Load"] == [None, True]
    kept = [ops[place.node] for place in impl.placements if place.location is Location.LOCAL]
    assert sorted(kept) == ["Exp", "Max", "Sum"]


@pytest.mark.parametrize("name", ["softmax"])
def test_a_long_row_is_read_and_computed_anew_in_each_sweep(kernel_case, name):
    result = only_template(kernel_case.scheduled("cpu"), "common")
    (impl,) = result.alternatives[0].groups[0].implementations
    ops = [node.op for node in impl.nodes]
    assert (ops.count("Load"), ops.count("Exp")) == (3, 2)
    assert not any(node.attr("resident") for node in impl.nodes)


@pytest.mark.parametrize("name", ["layer_norm", "embedding_norm"])
def test_cheap_chains_of_loads_are_computed_again(kernel_case, name):
    """Two loads and a sum, or a row that an index picks, cost less than a store and a load."""
    result = only_template(kernel_case.scheduled("cpu"), "all-load")
    (impl,) = result.alternatives[0].groups[0].implementations
    loads = [node for node in impl.nodes if node.op == "Load"]
    assert any(node.attr("resident") for node in loads)
    kept = {place.node for place in impl.placements if place.location is Location.LOCAL}
    assert all(node.repeats[1] == 1 for node in impl.nodes if node.name in kept)


@pytest.mark.parametrize("name", ["column_sum"])
def test_no_workspace_is_taken_where_each_block_has_results_of_its_own(kernel_case, name):
    need = kernel_case.scheduled("cpu").workspace_bytes
    assert evaluate(need, {"n": 6400, "m": 4096}) == 4 * 100 * 4096
    assert evaluate(need, {"n": 6400, "m": 4097}) == 0


@pytest.mark.parametrize("name", ["full_sum"])
def test_results_of_leaves_are_all_the_workspace(kernel_case, name):
    result = kernel_case.scheduled("cpu")
    assert str(result.workspace_bytes) == "64*ceildiv(m*n, 65536)"


@pytest.mark.parametrize("name", ["transposed_sum"])
def test_data_that_is_read_across_its_rows_gets_a_tile_of_pieces_along_both_axes(kernel_case, name):
    by_case = {i.case.split: i for i in kernel_case.scheduled("cpu").alternatives[0].groups[0].implementations}
    square = by_case["z1", "z2"]
    assert square.phases[0].segments[0].axes == ("z1t", "z2t")
    across, along, _ = square.tile_variables
    assert (across.multiple, along.multiple) == (16, 8)
    assert evaluate(along.hi, {"n": 100_000}) == 2048


@pytest.mark.parametrize("name", ["transposed_softmax"])
def test_rows_that_share_cache_lines_stay_together(kernel_case, name):
    for impl in kernel_case.scheduled("cpu").alternatives[0].groups[0].implementations:
        if impl.template != "r-core":
            assert evaluate(impl.tile_variables[0].hi, {"n": 1000, "m": 100_000}) == 16


@pytest.mark.parametrize("name", ["softmax"])
@pytest.mark.parametrize(
    ("symbol", "change", "reason"),
    [("n", {"lo": 300}, "there are 300 rows or more"), ("m", {"hi": 4096}, "4096 elements are one leaf of 4096")],
)
def test_blocks_share_no_rows_where_that_cannot_pay(kernel_case, symbol, change, reason):
    symbols = tuple(evolve(s, **change) if s.name == symbol else s for s in kernel_case.facts.symbols)
    narrowed = evolve(kernel_case, facts=evolve(kernel_case.facts, symbols=symbols)).scheduled("cpu")
    assert template_names(narrowed) == ("all-load", "common")
    (dropped,) = narrowed.dropped
    assert (dropped.template, dropped.case) == ("r-core", "z1")
    assert dropped.reason.startswith(reason)


@pytest.mark.parametrize("name", ["column_sum"])
def test_what_is_walked_once_needs_nothing_kept(kernel_case, name):
    result = kernel_case.scheduled("cpu")
    assert template_names(result) == ("common", "r-core")
    assert [d.reason for d in result.dropped] == ["the tile is walked once, as in the common template"]


@pytest.mark.parametrize("name", ["layer_norm", "column_softmax"])
def test_rows_longer_than_every_cache_are_never_kept(kernel_case, name):
    symbols = tuple(evolve(s, lo=1 << 19) if s.name in ("n", "m") else s for s in kernel_case.facts.symbols)
    result = evolve(kernel_case, facts=evolve(kernel_case.facts, symbols=symbols)).scheduled("cpu")
    (dropped,) = (d for d in result.dropped if d.template == "all-load")
    assert dropped.bytes_available == load_target("cpu").tile_bytes
    assert "all-load" not in template_names(result)
