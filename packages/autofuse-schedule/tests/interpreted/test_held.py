"""What many tiles have in common is made once for all of them, where a unified buffer has room for it."""

import pytest
from attrs import evolve
from autofuse_ir.checks import verify
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.errors import IrError
from autofuse_ir.schedule import Sync, local_bytes
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl, traffic_of
from autofuse_schedule.force import only_template, template_names

HELD = ("bias", "column_factor", "wide_number", "expand", "position_mask", "row_and_column", "layer_norm", "arg_max")
SIZES = ((0, 3), (3, 0), (1, 1), (7, 5), (5, 70))


def implementations(result, template=None):
    chosen = only_template(result, template) if template else result
    return chosen.alternatives[0].groups[0].implementations


def by_case(result, template):
    return {impl.case.name: impl for impl in implementations(result, template)}


def load_of(impl, data):
    """The name of the Load of input ``data``."""
    (found,) = (node.name for node in impl.nodes if node.op == "Load" and node.inputs[0] == data)
    return found


@pytest.mark.parametrize("target", ["ascend-a2", "ascend-350"])
@pytest.mark.parametrize("name", HELD)
def test_held_values_give_the_same_bits_in_every_order_of_loops(kernel_case, name, target):
    result = kernel_case.scheduled(target)
    assert any("held" in template for template in template_names(result))
    for impl in implementations(result):
        for seed, (n, m) in enumerate(SIZES):
            kernel_case.check(impl, {s: {"n": n, "m": m}[s] for s in result.symbols}, seed)


@pytest.mark.parametrize("name", ["bias"])
def test_a_row_for_all_tiles_is_loaded_once_a_block(kernel_case, name):
    result = kernel_case.scheduled("ascend-a2")
    impl = by_case(result, "held")["z0"]
    assert [(p.loops, p.sync, p.shared) for p in impl.phases] == [
        (("z0TB",), Sync.BLOCK, 0),
        (("z0TB", "z0Tb"), Sync.NONE, 1),
    ]
    sizes = {"n": 40, "m": 16}
    traffic = traffic_of(impl, kernel_case.arrays(sizes, 0), sizes, {"z0t_size": 2, "z0Tb_size": 10})
    assert traffic.read[load_of(impl, "row")] == 2 * 16 * 4  # 20 tiles in 2 blocks
    assert traffic.read[load_of(impl, "x")] == sum(traffic.written.values()) == 40 * 16 * 4
    (widened,) = (b for b in impl.buffers if b.lifetime)
    assert (widened.name, widened.copies, widened.lifetime) == (f"{load_of(impl, 'row')}_over_z0_buf", 1, "z0TB")


@pytest.mark.parametrize("name", ["bias"])
def test_a_piece_of_a_long_row_is_loaded_once_for_all_rows(kernel_case, name):
    impl = by_case(kernel_case.scheduled("ascend-a2"), "held-pieces")["z1"]
    assert [p.loops for p in impl.phases] == [("z1Tz0BB", "z1Tz0Bb"), ("z1Tz0BB", "z1Tz0Bb", "z0b")]
    sizes = {"n": 9, "m": 256}
    tiles = {"z1t_size": 64, "z0b_size": 5, "z1Tz0Bb_size": 2}
    traffic = traffic_of(impl, kernel_case.arrays(sizes, 0), sizes, tiles)
    assert traffic.read[load_of(impl, "row")] == 2 * 256 * 4  # once for 5 rows, once for 4
    assert traffic.transfers[load_of(impl, "row")] == 2 * 4


@pytest.mark.parametrize("name", ["column_factor"])
def test_a_number_of_a_row_is_spread_once_for_all_pieces_of_the_row(kernel_case, name):
    impl = by_case(kernel_case.scheduled("ascend-a2"), "held-rows")["z1"]
    assert [p.loops for p in impl.phases] == [("z0z1TBB", "z0z1TBb"), ("z0z1TBB", "z0z1TBb", "z1Tb")]
    sizes = {"n": 9, "m": 256}
    traffic = traffic_of(impl, kernel_case.arrays(sizes, 0), sizes, {"z1t_size": 64, "z1Tb_size": 4, "z0z1TBb_size": 3})
    assert traffic.read[load_of(impl, "factor")] == 9 * 4


@pytest.mark.parametrize("name", ["wide_number"])
def test_a_number_in_all_lanes_is_there_before_the_first_tile(kernel_case, name):
    for impl in implementations(kernel_case.scheduled("ascend-a2")):
        places = {impl_node: len(p.loops) for p in impl.phases for s in p.segments for impl_node in s.nodes}
        (wide,) = {node.name for node in impl.nodes if node.op == "Broadcast"}
        assert places[wide] == 1
        assert places[load_of(impl, "x")] == 2


@pytest.mark.parametrize("name", ["bias"])
def test_a_form_that_holds_nothing_is_dropped_where_one_that_does_takes_no_more_memory(kernel_case, name):
    result = kernel_case.scheduled("ascend-a2")
    assert [(d.template, d.case) for d in result.dropped if "same in all tiles" in d.reason] == [
        ("general", "z0"),
        ("general", "z1"),
    ]
    assert template_names(result) == ("held", "held-pieces")


@pytest.mark.parametrize("name", ["layer_norm"])
def test_weights_of_a_norm_are_held_for_all_rows_of_a_block(kernel_case, name):
    result = kernel_case.scheduled("ascend-a2")
    for impl in implementations(result, "all-load-held"):
        held = {node for segment in impl.phases[0].segments for node in segment.nodes}
        weights = load_of(impl, "gamma"), load_of(impl, "beta")
        assert {f"{weight}_over_z0" for weight in weights} <= held
        sizes = {"n": 12, "m": 10}
        traffic = traffic_of(impl, kernel_case.arrays(sizes, 0), sizes, {"z0t_size": 1, "z0Tb_size": 4})
        assert [traffic.read[weight] for weight in weights] == [3 * 10 * 4] * 2
    held, plain = (implementations(result, t)[0] for t in ("all-load-held", "all-load"))
    more = evaluate(local_bytes(held.buffers) - local_bytes(plain.buffers), {"n": 9, "m": 512, "z0t_size": 4})
    assert more > 0, "else the plain form would have been dropped"


@pytest.mark.parametrize("name", ["bias"])
def test_a_tile_value_in_a_phase_of_all_tiles_is_found(kernel_case, name):
    impl = by_case(kernel_case.scheduled("ascend-a2"), "held")["z0"]
    first, second = impl.phases
    load = next(s for s in second.segments if s.nodes == (load_of(impl, "x"),))
    moved = evolve(
        impl,
        phases=(
            evolve(first, segments=(*first.segments, load)),
            evolve(second, segments=tuple(s for s in second.segments if s is not load)),
        ),
    )
    with pytest.raises(IrError, match="'z0' is walked 0 times"):
        verify(moved)
    sizes = {"n": 4, "m": 5}
    with pytest.raises(InterpreterFault, match="no loop gives the index of axis z0"):
        interpret_impl(moved, kernel_case.arrays(sizes, 0), sizes, {"z0t_size": 2, "z0Tb_size": 1})


@pytest.mark.parametrize("name", ["bias"])
def test_a_held_value_that_does_not_outlive_its_tile_is_found(kernel_case, name):
    impl = by_case(kernel_case.scheduled("ascend-a2"), "held")["z0"]
    forgets = evolve(impl, buffers=tuple(evolve(b, lifetime="") for b in impl.buffers))
    sizes = {"n": 4, "m": 5}
    with pytest.raises(InterpreterFault, match="nobody has written it"):
        interpret_impl(forgets, kernel_case.arrays(sizes, 0), sizes, {"z0t_size": 2, "z0Tb_size": 2})


@pytest.mark.parametrize("name", ["column_softmax", "batch_norm", "middle_variance"])
def test_no_rows_are_held_for_a_shorter_last_tile(kernel_case, name):
    """Rows along a split innermost axis lie closer together in the last tile than in those before it."""
    for impl in implementations(kernel_case.scheduled("ascend-a2")):
        if "held" in impl.template and impl.roots[-1] in impl.case.split:
            nodes = {node.name: node for node in impl.nodes}
            for node in (nodes[name] for segment in impl.phases[0].segments for name in segment.nodes):
                assert node.repeats[-1] == 1 or all(repeat == 1 for repeat in node.repeats[:-1]), node.name
