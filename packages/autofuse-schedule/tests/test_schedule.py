import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const, symbol
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.schedule import Location, QueuePosition, TileRole, local_bytes
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.segments import partition
from autofuse_schedule.stage import schedule
from autofuse_schedule.transforms.collapse_broadcasts import CollapseBroadcasts
from autofuse_schedule.transforms.insert_broadcasts import InsertBroadcasts
from autofuse_schedule.transforms.merge_axes import MergeAxes


def implementations(result):
    return tuple(i for a in result.alternatives for g in a.groups for i in g.implementations)


def test_a_broadcast_keeps_two_axes_and_gives_a_case_for_each(make_bias_add, rows, columns, cpu):
    backend, facts = make_bias_add(rows, columns)
    impls = implementations(schedule(backend, facts, cpu))
    assert [i.case.split for i in impls] == [("z0",), ("z1",)]
    by_rows, by_columns = impls
    assert by_rows.phases[0].loops == ("z0TB", "z0Tb")
    assert by_rows.phases[0].segments[0].axes == ("z0t", "z1")
    assert by_columns.phases[0].loops == ("z0z1TB", "z0z1Tb")
    assert by_columns.phases[0].segments[0].axes == ("z1t",)


def test_contiguous_axes_become_one(make_bias_add, rows, columns, cpu):
    backend, facts = make_bias_add(rows, columns, broadcast=False)
    (impl,) = implementations(schedule(backend, facts, cpu))
    assert impl.roots == ("z0z1",)
    (root,) = (a for a in impl.axes if a.name == "z0z1")
    assert root.size == rows * columns
    assert root.parents == ("z0", "z1")


def test_axes_of_size_one_disappear(make_bias_add, columns, cpu):
    backend, facts = make_bias_add(const(1), columns, broadcast=False)
    (impl,) = implementations(schedule(backend, facts, cpu))
    assert impl.roots == ("z1",)


def test_merging_keeps_the_addresses(make_bias_add, rows, columns):
    backend, _ = make_bias_add(rows, columns, broadcast=False)
    merged = MergeAxes()(backend.graph).graph
    load = next(n for n in merged.nodes if n.name == "l0")
    assert load.access.memory == (rows * columns,)
    assert [(d.axis, d.step, d.offset) for d in load.access.dims] == [("z0z1", const(1), const(0))]


def test_an_offset_inside_the_outer_dim_moves_whole_rows(make_bias_add, rows, columns):
    backend, _ = make_bias_add(rows, columns, broadcast=False)

    def shifted(node):
        if node.name != "l0":
            return node
        outer, inner = node.access.dims
        return evolve(node, access=evolve(node.access, dims=(evolve(outer, offset=const(2)), inner)))

    graph = evolve(backend.graph, nodes=tuple(map(shifted, backend.graph.nodes)))
    load = next(n for n in MergeAxes()(graph).graph.nodes if n.name == "l0")
    assert load.access.dims[0].offset == 2 * columns


def test_collapsing_and_inserting_broadcasts_undo_each_other(make_bias_add, rows, columns):
    backend, _ = make_bias_add(rows, columns)
    collapsed = CollapseBroadcasts()(backend.graph)
    assert "Broadcast" not in [n.op for n in collapsed.nodes]
    again = InsertBroadcasts()(collapsed)
    (broadcast,) = (n for n in again.nodes if n.op == "Broadcast")
    assert broadcast.attr("axis") == "z0"
    assert broadcast.repeats == (rows, columns)
    assert CollapseBroadcasts()(again) == collapsed


def test_a_pass_that_changes_nothing_returns_the_same_object(make_bias_add, rows, columns):
    backend, _ = make_bias_add(rows, columns, broadcast=False)
    assert CollapseBroadcasts()(backend.graph) is backend.graph
    assert InsertBroadcasts()(backend.graph) is backend.graph


def test_on_a_cpu_the_body_is_one_segment_in_registers(make_bias_add, rows, columns, cpu):
    backend, facts = make_bias_add(rows, columns)
    for impl in implementations(schedule(backend, facts, cpu)):
        assert len(impl.phases[0].segments) == 1
        assert impl.buffers == ()
        assert {p.location for p in impl.placements} == {Location.REGISTER, Location.GLOBAL}


def test_on_a_unified_buffer_each_value_has_a_buffer(make_bias_add, rows, unified_buffer_machine):
    backend, facts = make_bias_add(rows, const(64))
    impl = implementations(schedule(backend, facts, unified_buffer_machine, holds=False))[0]
    positions = {b.name: (b.position, b.copies) for b in impl.buffers}
    assert positions["l0_buf"] == (QueuePosition.VECIN, 2)
    assert positions["a_buf"] == (QueuePosition.VECOUT, 2)
    assert positions["l1_over_z0_buf"] == (QueuePosition.VECCALC, 1)
    # 2 x 256 B a row in, 2 x 256 B for the bias, 256 B a row widened, 2 x 256 B a row out
    assert evaluate(local_bytes(impl.buffers), {"z0t_size": 3}) == 2 * 768 + 2 * 256 + 768 + 2 * 768


def test_what_never_fits_is_dropped_with_its_bytes(make_bias_add, rows, unified_buffer_machine):
    backend, facts = make_bias_add(rows, const(2048))
    result = schedule(backend, facts, unified_buffer_machine, holds=False)
    assert [i.case.split for i in implementations(result)] == [("z1",)]
    (dropped,) = result.dropped
    assert (dropped.case, dropped.bytes_available) == ("z0", 4096)
    assert "57344 bytes" in dropped.reason  # 2048 floats: twice in, twice for the bias, once widened, twice out


def test_a_kernel_that_fits_nowhere_is_an_error_with_the_bytes(make_bias_add, rows, unified_buffer_machine):
    backend, facts = make_bias_add(rows, const(64))
    tiny = evolve(unified_buffer_machine, local_memory=evolve(unified_buffer_machine.local_memory, bytes=64))
    with pytest.raises(ScheduleError, match="no schedule fits"):
        schedule(backend, facts, tiny)


def test_tiles_along_the_innermost_axis_are_whole_vectors(make_bias_add, rows, columns, cpu):
    backend, facts = make_bias_add(rows, columns, dtype=dt.int8)
    by_rows, by_columns = implementations(schedule(backend, facts, cpu))
    assert [v.multiple for v in by_rows.tile_variables if v.role is TileRole.LOCAL] == [1]
    assert [v.multiple for v in by_columns.tile_variables if v.role is TileRole.LOCAL] == [cpu.vector_bytes]


def test_index_width_follows_the_declared_ranges(make_bias_add, rows, cpu):
    backend, facts = make_bias_add(rows, const(4))
    assert {i.index_bits for i in implementations(schedule(backend, facts, cpu))} == {32}
    backend, facts = make_bias_add(rows, const(2**23))
    assert {i.index_bits for i in implementations(schedule(backend, facts, cpu))} == {64}


def test_symbols_are_those_the_kernel_needs_in_a_fixed_order(make_bias_add, rows, columns, cpu):
    backend, facts = make_bias_add(rows, columns)
    assert schedule(backend, facts, cpu).symbols == ("columns", "rows")


def test_segments_respect_both_limits(make_bias_add, rows, columns, cpu):
    backend, _ = make_bias_add(rows, columns, broadcast=False)
    nodes = backend.graph.nodes
    assert [s.nodes for s in partition(nodes, ("z0",), evolve(cpu.limits, segment_nodes=2))] == [
        ("l0", "l1"),
        ("a", "s"),
    ]
    assert len(partition(nodes, ("z0",), evolve(cpu.limits, segment_values=3))) == 1
    narrow = partition(nodes, ("z0",), evolve(cpu.limits, segment_values=2))
    assert [s.nodes for s in narrow] == [("l0", "l1"), ("a", "s")]


def test_tile_names_do_not_collide_with_the_users_symbols(make_bias_add, cpu):
    backend, facts = make_bias_add(symbol("z0t_size"), symbol("z1t_size"))
    facts = evolve(facts, symbols=tuple(evolve(facts.symbols[0], name=n) for n in ("z0t_size", "z1t_size")))
    for impl in implementations(schedule(backend, facts, cpu)):
        names = [v.name for v in impl.tile_variables]
        assert not {"z0t_size", "z1t_size"} & set(names)
