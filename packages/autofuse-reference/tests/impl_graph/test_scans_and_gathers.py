"""Plans with scans, indices and loads that leave their data, written by hand; and what breaks them."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder, Operand
from autofuse_ir.asc_graph import AscGraph, Axis, AxisKind, Bounds
from autofuse_ir.checks import verify
from autofuse_ir.dims import Dim, ceildiv, const, symbol
from autofuse_ir.dtypes import DType
from autofuse_ir.schedule import (
    Buffer,
    ImplGraph,
    Location,
    Phase,
    Placement,
    QueuePosition,
    Segment,
    TileRole,
    TileVariable,
    TilingCase,
    TilingGroup,
)
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.errors import StatusError
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl

F = dt.float32
N, M, T = symbol("n"), symbol("m"), symbol("t")


def one_segment(graph: AscGraph, tiled: str, order: tuple[str, ...] | None = None) -> ImplGraph:
    """A plan as `unchecked` makes it, which breaks no rule."""
    made = unchecked(graph, tiled, order)
    verify(made)
    return made


def unchecked(graph: AscGraph, tiled: str, order: tuple[str, ...] | None = None) -> ImplGraph:
    """All of ``graph`` in one segment, root ``tiled`` in tiles of t; ``order`` of its axes, as listed unless given."""
    inner, outer = f"{tiled}t", f"{tiled}T"
    axes = order or tuple(inner if a.name == tiled else a.name for a in graph.axes)
    evaluated = tuple(n.name for n in graph.nodes if n.op not in ("Data", "Output", "Scalar", "IndexExpr"))
    stores = {n.name for n in graph.nodes if n.op == "Store"}
    size = next(a.size for a in graph.axes if a.name == tiled)
    return ImplGraph(
        name=graph.name,
        case=TilingCase(tiled, (tiled,)),
        template="by hand",
        group=TilingGroup(y=(tiled,)),
        roots=tuple(a.name for a in graph.axes),
        axes=(
            *graph.axes,
            Axis(outer, AxisKind.TILE_OUTER, ceildiv(size, T), (tiled,)),
            Axis(inner, AxisKind.TILE_INNER, T, (tiled,)),
        ),
        nodes=graph.nodes,
        tile_variables=(TileVariable("t", inner, TileRole.LOCAL, 1, const(100), 1),),
        phases=(Phase((outer,), outer, (Segment(evaluated, axes),)),),
        buffers=(),
        placements=tuple(
            Placement(name, Location.GLOBAL if name in stores else Location.REGISTER) for name in evaluated
        ),
        index_bits=64,
    )


def same(impl: ImplGraph, graph: AscGraph, arrays: list[Any], sizes: dict[str, int]) -> None:
    wanted = interpret(graph, arrays, sizes)
    for seed, tile in enumerate((1, 2, 5)):
        found = interpret_impl(impl, arrays, sizes, {"t": tile}, seed)
        for a, b in zip(found, wanted, strict=True):
            assert a.tobytes() == b.tobytes()


def scan_graph(op: str, axis: str, exclusive: bool, reverse: bool, dtype: DType = F) -> AscGraph:
    b = AscGraphBuilder("scan", {"z0": N, "z1": M})
    x = b.load(b.input("x", dtype), (N, M), ("z0", "z1"), "x0")
    b.store(b.op("Add", b.scan(op, x, axis, exclusive, reverse, "scan"), x), "y", (N, M), ("z0", "z1"))
    return b.build()


@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("axis", "tiled"), [("z0", "z1"), ("z1", "z0")])
@pytest.mark.parametrize("dtype", [dt.float32, dt.bfloat16, dt.int8], ids=str)
def test_scans_keep_their_order_in_strips(
    op: str, exclusive: bool, reverse: bool, axis: str, tiled: str, dtype: DType
) -> None:
    graph = scan_graph(op, axis, exclusive, reverse, dtype)
    for rows, width in ((1, 1), (6, 5), (0, 3), (3, 0)):
        x = (np.random.default_rng(rows).normal(size=(rows, width)) * 3).astype(numpy_dtype(dtype))
        same(one_segment(graph, tiled), graph, [x], {"n": rows, "m": width})


def test_a_scan_may_be_the_outermost_or_the_innermost_axis_of_its_segment() -> None:
    graph = scan_graph("CumSum", "z0", False, True)
    x = np.random.default_rng(0).normal(size=(7, 6)).astype(np.float32)
    for order in (("z0", "z1t"), ("z1t", "z0")):
        same(one_segment(graph, "z1", order), graph, [x], {"n": 7, "m": 6})


def test_scans_of_two_axes_follow_one_another() -> None:
    b = AscGraphBuilder("both", {"z0": N, "z1": M, "z2": 3})
    x = b.load(b.input("x", F), (N, M, 3), ("z0", "z1", "z2"))
    b.store(b.scan("CumSum", b.scan("CumSum", x, "z0"), "z1", reverse=True), "y", (N, M, 3), ("z0", "z1", "z2"))
    x_array = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
    same(one_segment(b.build(), "z2"), b.build(), [x_array], {"n": 4, "m": 5})


def in_pieces(graph: AscGraph, tiled: str, reverse: bool) -> ImplGraph:
    """One block goes through pieces of ``tiled``; the state of the scan has an element for each point of the other."""
    plan = unchecked(graph, tiled)
    (phase,) = plan.phases
    other = next(axis.size for axis in graph.axes if axis.name != tiled)
    made = evolve(
        plan,
        phases=(evolve(phase, block=None, backwards=phase.loops if reverse else ()),),
        buffers=(
            Buffer(
                "state", Location.LOCAL, QueuePosition.VECCALC, other * graph.nodes[1].dtype.itemsize, 1, None, "other"
            ),
        ),
        accumulators=(Placement("scan", Location.LOCAL, "state"),),
        axes=(*plan.axes, Axis("other", AxisKind.ORIGINAL, const(1))),
    )
    verify(made)
    return made


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("tiled", ["z0", "z1"])
@pytest.mark.parametrize("dtype", [dt.float32, dt.int8], ids=str)
def test_scans_go_on_from_piece_to_piece(exclusive: bool, reverse: bool, tiled: str, dtype: DType) -> None:
    for op in ("CumSum", "CumProd"):
        graph = scan_graph(op, tiled, exclusive, reverse, dtype)
        for rows, width in ((1, 1), (6, 5), (13, 2), (0, 3), (3, 0)):
            x = (np.random.default_rng(rows).normal(size=(rows, width)) * 3).astype(numpy_dtype(dtype))
            same(in_pieces(graph, tiled, reverse), graph, [x], {"n": rows, "m": width})


def test_pieces_against_the_direction_of_a_scan_are_a_fault() -> None:
    plan = in_pieces(scan_graph("CumSum", "z0", False, True), "z0", True)
    turned = evolve(plan, phases=(evolve(plan.phases[0], backwards=()),))
    with pytest.raises(InterpreterFault, match="meets element 1 of axis z0 where element 5 is next"):
        interpret_impl(turned, [np.ones((6, 2), np.float32)], {"n": 6, "m": 2}, {"t": 2})


def test_the_state_of_a_scan_must_outlive_its_pieces() -> None:
    plan = in_pieces(scan_graph("CumSum", "z0", False, False), "z0", False)
    x, sizes = [np.ones((6, 2), np.float32)], {"n": 6, "m": 2}
    for lifetime in ("", "z0T"):
        short = evolve(plan, buffers=(evolve(plan.buffers[0], lifetime=lifetime),))
        with pytest.raises(InterpreterFault, match="the partial results of scan where nobody has written it"):
            interpret_impl(short, x, sizes, {"t": 2})
    small = evolve(plan, buffers=(evolve(plan.buffers[0], bytes=const(4)),))
    with pytest.raises(InterpreterFault, match="the partial results of scan lies outside of its buffer of 4 bytes"):
        interpret_impl(small, x, sizes, {"t": 2})
    nowhere = evolve(plan, accumulators=(Placement("scan", Location.REGISTER),), buffers=())
    with pytest.raises(InterpreterFault, match="its state is in no buffer, but loop z0T around its segment"):
        interpret_impl(nowhere, x, sizes, {"t": 2})


def test_blocks_must_not_share_a_scanned_axis() -> None:
    impl = unchecked(scan_graph("CumSum", "z1", False, False), "z1")
    with pytest.raises(InterpreterFault, match=r"meets element \d of axis z1 where element 0 is next") as fault:
        interpret_impl(impl, [np.ones((2, 6), np.float32)], {"n": 2, "m": 6}, {"t": 2})
    assert fault.value.node == "scan"


def test_the_state_of_a_scan_has_room_for_all_lines_that_are_open() -> None:
    impl = evolve(
        one_segment(scan_graph("CumSum", "z0", False, False), "z1"),
        accumulators=(Placement("scan", Location.LOCAL, "state"),),
    )

    def with_state(size: Dim) -> ImplGraph:
        return evolve(impl, buffers=(Buffer("state", Location.LOCAL, QueuePosition.VECCALC, size, 1),))

    x, sizes = [np.ones((3, 6), np.float32)], {"n": 3, "m": 6}
    assert interpret_impl(with_state(4 * T), x, sizes, {"t": 4})[0][2].tolist() == [4] * 6
    with pytest.raises(InterpreterFault, match="the partial results of scan lies outside of its buffer of 12 bytes"):
        interpret_impl(with_state(const(12)), x, sizes, {"t": 4})


def test_scans_against_each_other_need_segments_of_their_own() -> None:
    b = AscGraphBuilder("both", {"z0": N, "z1": M})
    x = b.load(b.input("x", F), (N, M), ("z0", "z1"))
    there_and_back = b.scan("CumSum", b.scan("CumSum", x, "z1"), "z1", reverse=True)
    b.store(there_and_back, "y", (N, M), ("z0", "z1"))
    with pytest.raises(InterpreterFault, match="scans z1 against another scan in its segment"):
        interpret_impl(one_segment(b.build(), "z0"), [np.ones((2, 6), np.float32)], {"n": 2, "m": 6}, {"t": 2})


def embedding(bounds: Bounds, fill: float | None = None) -> AscGraph:
    """y[i, j] = x[index[i], j] * j."""
    b = AscGraphBuilder("embedding", {"z0": N, "z1": 4})
    index = b.load(b.input("index", dt.int32), (N,), ("z0",), "index0")
    x = b.load(b.input("x", F), (M, 4), (Operand(0), "z1"), "picked", (index,), bounds, fill)
    position = b.broadcast(b.axis_index("z1", dt.int32), "z0")
    b.store(b.op("Mul", x, b.cast(position, F)), "y", (N, 4), ("z0", "z1"))
    return b.build()


def test_gathers_read_what_their_operands_say() -> None:
    table = np.arange(24, dtype=np.float32).reshape(6, 4)
    graph = embedding(Bounds.ERROR)
    index = np.array([5, 0, 3, 3, 1], np.int32)
    same(one_segment(graph, "z0"), graph, [index, table], {"n": 5, "m": 6})
    same(one_segment(graph, "z0"), graph, [index[:0], table[:0]], {"n": 0, "m": 0})


def test_fills_stand_for_what_lies_outside() -> None:
    table = np.arange(24, dtype=np.float32).reshape(6, 4)
    graph = embedding(Bounds.FILL, -2.5)
    same(one_segment(graph, "z0"), graph, [np.array([5, -1, 6, 2**31 - 1, 1], np.int32), table], {"n": 5, "m": 6})
    b = AscGraphBuilder("pad", {"z0": N, "z1": M})
    x = b.load(b.input("x", F), (N - 3, M - 2), (("z0", 1, -1), ("z1", -1, M - 2)), bounds=Bounds.FILL, fill=7)
    b.store(x, "y", (N, M), ("z0", "z1"))
    same(one_segment(b.build(), "z1"), b.build(), [table], {"n": 9, "m": 6})


def test_an_index_out_of_range_is_a_status_and_inside_a_promise() -> None:
    table = np.zeros((6, 4), np.float32)
    wrong = [np.array([0, 6], np.int32), table]
    with pytest.raises(StatusError, match=r"(?s)node picked:.*index 6 is outside of a dim of size 6"):
        interpret_impl(one_segment(embedding(Bounds.ERROR), "z0"), wrong, {"n": 2, "m": 6}, {"t": 1})
    with pytest.raises(InterpreterFault, match="Load reaches element 6 of a dim of 6"):
        interpret_impl(one_segment(embedding(Bounds.INSIDE), "z0"), wrong, {"n": 2, "m": 6}, {"t": 1})


def test_indices_of_an_axis_that_nothing_walks_are_a_fault() -> None:
    impl = one_segment(embedding(Bounds.ERROR), "z0")
    narrow = evolve(
        impl, phases=(evolve(impl.phases[0], segments=(Segment(impl.phases[0].segments[0].nodes, ("z0t",)),)),)
    )
    with pytest.raises(InterpreterFault, match="no loop gives the index of axis z1"):
        interpret_impl(narrow, [np.zeros(2, np.int32), np.zeros((6, 4), np.float32)], {"n": 2, "m": 6}, {"t": 1})
