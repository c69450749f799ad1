"""Plans in which a phase with fewer loops makes values for many tiles, written by hand; and what breaks them."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.checks import verify
from autofuse_ir.dims import ceildiv, symbol
from autofuse_ir.schedule import (
    Buffer,
    ImplGraph,
    Location,
    Phase,
    Placement,
    QueuePosition,
    Segment,
    Sync,
    TileRole,
    TileVariable,
    TilingCase,
    TilingGroup,
)
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl, traffic_of

N, M, T, S = symbol("n"), symbol("m"), symbol("t"), symbol("s")
SIZES = {"n": 7, "m": 5}
TILES = {"t": 2, "s": 2}


def plan() -> ImplGraph:
    """y = x + r: tiles of t rows, s of them a block; the row and its copies are made once a block."""
    b = AscGraphBuilder("bias", {"z0": N, "z1": M})
    x = b.load(b.input("x", dt.float32), (N, M), ("z0", "z1"), "x0")
    row = b.load(b.input("r", dt.float32), (M,), ("z1",), "row")
    b.store(b.op("Add", x, b.broadcast(row, "z0", "wide"), name="sum"), "y", (N, M), ("z0", "z1"))
    graph = b.build()
    (store,) = (node.name for node in graph.nodes if node.op == "Store")
    tiles = ceildiv(N, T)
    walk = ("z0t", "z1")
    made = ImplGraph(
        name="bias",
        case=TilingCase("z0", ("z0",)),
        template="by hand",
        group=TilingGroup(y=("z0", "z1")),
        roots=("z0", "z1"),
        axes=(
            *graph.axes,
            Axis("z0T", AxisKind.TILE_OUTER, tiles, ("z0",)),
            Axis("z0t", AxisKind.TILE_INNER, T, ("z0",)),
            Axis("z0TB", AxisKind.BLOCK_OUTER, ceildiv(tiles, S), ("z0T",)),
            Axis("z0Tb", AxisKind.BLOCK_INNER, S, ("z0T",)),
        ),
        nodes=graph.nodes,
        tile_variables=(
            TileVariable("t", "z0t", TileRole.LOCAL, 1, N, 1),
            TileVariable("s", "z0Tb", TileRole.MULTICORE, 1, tiles, 1),
        ),
        phases=(
            Phase(("z0TB",), "z0TB", (Segment(("row", "wide"), walk),), Sync.BLOCK),
            Phase(("z0TB", "z0Tb"), "z0TB", (Segment(("x0", "sum", store), walk),), Sync.NONE, 1),
        ),
        buffers=(Buffer("held", Location.LOCAL, QueuePosition.VECCALC, T * M * 4, 1, None, "z0TB"),),
        placements=(
            *(Placement(name, Location.REGISTER) for name in ("row", "x0", "sum")),
            Placement("wide", Location.LOCAL, "held"),
            Placement(store, Location.GLOBAL),
        ),
        index_bits=64,
    )
    verify(made)
    return made


def arrays() -> list[Any]:
    rng = np.random.default_rng(2)
    return [rng.normal(size=(7, 5)).astype(np.float32), rng.normal(size=5).astype(np.float32)]


@pytest.mark.parametrize("tiles", [(1, 1), (2, 2), (3, 1), (7, 1), (2, 4)])
def test_every_tile_finds_what_was_made_before_the_loop_over_them(tiles: tuple[int, int]) -> None:
    x, r = arrays()
    for seed in range(3):
        (found,) = interpret_impl(plan(), [x, r], SIZES, dict(zip("ts", tiles, strict=True)), seed)
        np.testing.assert_array_equal(found, x + r)


def test_traffic_counts_every_run_of_a_transfer_and_each_element_of_it_once() -> None:
    traffic = traffic_of(plan(), arrays(), SIZES, TILES)
    assert dict(traffic.read) == {"row": 2 * 5 * 4, "x0": 7 * 5 * 4}
    assert (dict(traffic.transfers)["row"], dict(traffic.transfers)["x0"]) == (2, 4)
    assert traffic.total == (2 * 5 + 2 * 7 * 5) * 4


def test_a_value_of_one_tile_cannot_be_made_before_the_loop() -> None:
    made = plan()
    first, second = made.phases
    moved = evolve(
        made,
        phases=(
            evolve(first, segments=(Segment(("row", "wide", "x0"), ("z0t", "z1")),)),
            evolve(second, segments=(Segment(second.segments[0].nodes[1:], ("z0t", "z1")),)),
        ),
    )
    with pytest.raises(InterpreterFault, match="no loop gives the index of axis z0, along which it varies"):
        interpret_impl(moved, arrays(), SIZES, TILES)


def test_a_held_value_needs_to_be_waited_for_and_to_outlive_the_tiles() -> None:
    made = plan()
    first, second = made.phases
    hasty = evolve(made, phases=(evolve(first, sync=Sync.NONE), second))
    with pytest.raises(InterpreterFault, match="nothing waits for it"):
        interpret_impl(hasty, arrays(), SIZES, TILES)
    brief = evolve(made, buffers=(evolve(made.buffers[0], lifetime="z0Tb"),))
    with pytest.raises(InterpreterFault, match="nobody has written it"):
        interpret_impl(brief, arrays(), SIZES, TILES)
