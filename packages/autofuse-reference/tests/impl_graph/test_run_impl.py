"""One small plan, executed: tails, tile sizes, sizes from shapes, and outputs that do not vary along a loop."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AccessDim, AccessMap, Axis, AxisKind
from autofuse_ir.dims import ceildiv, const, dim_max, symbol
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
from autofuse_reference.errors import EvaluationError
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.run import run

F = dt.float32
N, T = symbol("n"), symbol("t")


def plan() -> ImplGraph:
    """y = exp(x) * c and, of c alone, z = -c; x of (n, 3) in tiles of t rows, exp(x) in a local buffer."""
    b = AscGraphBuilder("plan", {"z0": "n", "z1": 3})
    x = b.load(b.input("x", F), (N, 3), ("z0", "z1"), "lx")
    c = b.load(b.input("c", F), (3,), ("z1",), "lc")
    b.op("Exp", x, name="e")
    b.broadcast(c, "z0", "wide")
    b.store(b.op("Mul", "e", "wide", name="m"), "y", (N, 3), ("z0", "z1"))
    b.store(b.op("Neg", c, name="minus"), "z", (3,), ("z1",))
    graph = b.build()
    registers = ("lx", "lc", "wide", "m", "minus")
    return ImplGraph(
        name="plan",
        case=TilingCase("z0", ("z0",)),
        template="general",
        group=TilingGroup(y=("z0", "z1")),
        roots=("z0", "z1"),
        axes=(
            *graph.axes,
            Axis("z0T", AxisKind.TILE_OUTER, ceildiv(N, T), ("z0",)),
            Axis("z0t", AxisKind.TILE_INNER, T, ("z0",)),
        ),
        nodes=graph.nodes,
        tile_variables=(TileVariable("t", "z0t", TileRole.LOCAL, 1, dim_max(N, 1), 2),),
        phases=(
            Phase(
                ("z0T",),
                "z0T",
                (
                    Segment(("lx", "e"), ("z0t", "z1")),
                    Segment(("lc", "wide", "m", "y_store", "minus", "z_store"), ("z0t", "z1")),
                ),
            ),
        ),
        buffers=(Buffer("e_buf", Location.LOCAL, QueuePosition.VECCALC, T * 3 * 4, 1),),
        placements=(
            Placement("e", Location.LOCAL, "e_buf"),
            *(Placement(name, Location.REGISTER) for name in registers),
            *(Placement(name, Location.GLOBAL) for name in ("y_store", "z_store")),
        ),
        index_bits=32,
    )


def arrays(rows: int) -> list[Any]:
    rng = np.random.default_rng(rows)
    return [rng.normal(size=(rows, 3)).astype(np.float32), np.array([2, -0.5, 3], np.float32)]


@pytest.mark.parametrize(("rows", "tile"), [(1, 1), (4, 2), (5, 2), (5, 4), (5, 5), (17, 6)])
def test_every_tile_size_gives_the_same_bits(rows: int, tile: int) -> None:
    x, c = arrays(rows)
    for seed in range(3):
        y, z = run(plan(), [x, c], {"t": tile}, seed=seed)
        assert y.tobytes() == (np.exp(x) * c).tobytes()
        assert z.tobytes() == (-c).tobytes()  # every block writes it, each the same bits


@pytest.mark.parametrize(("tiles", "told"), [({}, "no value is given"), ({"t": 3}, "3 is not"), ({"t": 6}, "6 is not")])
def test_tile_sizes_outside_of_their_range_are_errors(tiles: dict[str, int], told: str) -> None:
    with pytest.raises(EvaluationError, match=f"tile size t: {told}"):
        run(plan(), arrays(5), tiles)


@pytest.mark.parametrize("size", [2.0, "2", None])
def test_tile_sizes_are_whole_numbers(size: Any) -> None:
    with pytest.raises(EvaluationError, match="is no tile size"):
        run(plan(), arrays(5), {"t": size})


def test_blocks_that_write_different_bits_to_one_element_are_a_fault() -> None:
    made = plan()
    # z is said not to vary along z0, but what its Load reads now does.
    by_row = AccessMap((const(3),), (AccessDim("z0", const(1), const(0)),))
    nodes = tuple(evolve(n, access=by_row) if n.name == "lc" else n for n in made.nodes)
    with pytest.raises(InterpreterFault, match=r"blocks \d and \d both write element \d of z") as fault:
        run(evolve(made, nodes=nodes), arrays(3), {"t": 2})
    assert fault.value.node == "z_store"


def test_a_value_narrower_than_what_it_reads_is_a_fault() -> None:
    made = plan()
    nodes = tuple(evolve(n, inputs=("e",)) if n.name == "minus" else n for n in made.nodes)
    with pytest.raises(InterpreterFault, match="node minus: reads e, which varies along z0, and does not itself"):
        run(evolve(made, nodes=nodes), arrays(5), {"t": 2})


def test_an_empty_nest_writes_nothing() -> None:
    made = plan()
    only_y = tuple(n for n in made.nodes if n.name not in ("minus", "z_store", "z"))
    segments = made.phases[0].segments
    kept = (segments[0], evolve(segments[1], nodes=("lc", "wide", "m", "y_store")))
    made = evolve(made, nodes=only_y, phases=(evolve(made.phases[0], segments=kept),))
    assert run(made, arrays(0), {"t": 1})[0].shape == (0, 3)


def test_a_plan_that_claims_too_narrow_indices_is_a_fault() -> None:
    made = plan()
    huge = np.broadcast_to(np.zeros((), np.int8), (2**31 // 3 + 1, 3))
    nodes = tuple(evolve(n, dtype=dt.int8) if n.name == "x" else n for n in made.nodes)
    wide = evolve(made, nodes=nodes)
    with pytest.raises(InterpreterFault, match="do not fit the 32 bits of the plan"):
        run(wide, [huge, arrays(1)[1]], {"t": huge.shape[0]})
