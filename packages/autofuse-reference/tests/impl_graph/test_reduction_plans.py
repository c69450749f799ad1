"""Plans with reductions, written by hand: softmax, column sums, reductions over blocks; and what breaks them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AscGraph, Axis, AxisKind
from autofuse_ir.checks import verify
from autofuse_ir.dims import Dim, ceildiv, const, symbol
from autofuse_ir.reduction import Tree
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
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.accumulators import most_waiting, state_elements
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl

F = dt.float32
N, M, T, R = symbol("n"), symbol("m"), symbol("t"), symbol("r")
TREE = Tree(8, 4)
SIZES = [(0, 5), (1, 1), (3, 0), (3, 7), (5, 8), (4, 33), (7, 70)]


def split(parent: str, size: Dim, tile: Dim, kind: str = "tile") -> tuple[Axis, Axis]:
    outer, inner = AxisKind(f"{kind}_outer"), AxisKind(f"{kind}_inner")
    letters = "Tt" if kind == "tile" else "Bb"
    return (
        Axis(f"{parent}{letters[0]}", outer, ceildiv(size, tile), (parent,)),
        Axis(f"{parent}{letters[1]}", inner, tile, (parent,)),
    )


def local(name: str, size: Dim, lifetime: str = "", reuses: str | None = None) -> Buffer:
    return Buffer(name, Location.LOCAL, QueuePosition.VECCALC, size, 1, reuses, lifetime)


def plan(
    graph: AscGraph,
    axes: tuple[Axis, ...],
    phases: tuple[Phase, ...],
    buffers: tuple[Buffer, ...],
    places: dict[str, str],
    accumulators: dict[str, str | None],
) -> ImplGraph:
    """An ImplGraph of ``graph``; what ``places`` puts into no buffer lives in registers."""
    location = {b.name: b.location for b in buffers}
    evaluated = [name for phase in phases for segment in phase.segments for name in segment.nodes]
    stores = {node.name for node in graph.nodes if node.op == "Store"}
    variables = [a for a in axes if a.kind in (AxisKind.TILE_INNER, AxisKind.BLOCK_INNER)]
    made = ImplGraph(
        name=graph.name,
        case=TilingCase("z0", ("z0",)),
        template="by hand",
        group=TilingGroup(y=("z0",), r=("z1",)),
        roots=tuple(a.name for a in graph.axes),
        axes=(*graph.axes, *axes),
        nodes=graph.nodes,
        tile_variables=tuple(TileVariable(str(a.size), a.name, TileRole.LOCAL, 1, const(1000), 1) for a in variables),
        phases=phases,
        buffers=buffers,
        placements=tuple(
            Placement(name, location[places[name]], places[name])
            if name in places
            else Placement(name, Location.GLOBAL if name in stores else Location.REGISTER)
            for name in evaluated
        ),
        index_bits=64,
        accumulators=tuple(
            Placement(name, Location.LOCAL if buffer else Location.REGISTER, buffer)
            for name, buffer in accumulators.items()
        ),
    )
    verify(made)
    return made


def softmax_graph(tree: Tree = TREE, second_read: bool = False) -> AscGraph:
    """y = exp(x - max) / sum, with the nodes cloned that its sweeps evaluate again."""
    b = AscGraphBuilder("softmax", {"z0": N, "z1": M})
    data = b.input("x", F)

    def sweep(number: int) -> str:
        x = b.load(data, (N, M), ("z0", "z1"), f"x{number}")
        shifted = b.op("Sub", x, b.broadcast("mx", "z1", f"wide{number}"), name=f"sub{number}")
        return b.op("Exp", shifted, name=f"e{number}")

    b.reduce("Max", b.load(data, (N, M), ("z0", "z1"), "x0"), "z1", tree=tree, name="mx")
    e = sweep(1)
    b.reduce("Sum", e, "z1", tree=tree, name="d")
    last = sweep(2) if second_read else e
    b.store(b.op("Div", last, b.broadcast("d", "z1", "wide_d"), name="q"), "y", (N, M), ("z0", "z1"))
    return b.build()


SWEEPS = (("x0", "mx"), ("x1", "wide1", "sub1", "e1", "d"))


def all_load() -> ImplGraph:
    """Rows in tiles of t, whole along z1; exp(x - max) is kept."""
    both = ("z0t", "z1")
    segments = (*(Segment(nodes, both) for nodes in SWEEPS), Segment(("wide_d", "q", "y_store"), both))
    return plan(
        softmax_graph(),
        (*split("z0", N, T), *split("z0T", ceildiv(N, T), symbol("b"), "block")),
        (Phase(("z0TB", "z0Tb"), "z0TB", segments),),
        (local("mx_buf", 4 * T), local("e_buf", 4 * T * M), local("d_buf", 4 * T)),
        {"mx": "mx_buf", "e1": "e_buf", "d": "d_buf"},
        {"mx": None, "d": None},
    )


def common(tree: Tree = TREE) -> ImplGraph:
    """z1 in tiles of r; three phases share the loop over tiles of rows, the reductions survive the loop over z1."""
    both, loops = ("z0t", "z1t"), ("z0T", "z1T")
    last = ("x2", "wide2", "sub2", "e2", "wide_d", "q", "y_store")
    waiting = 4  # leaves of 8 in up to 128 elements
    state = 4 * T * (tree.partials + waiting)
    return plan(
        softmax_graph(tree, second_read=True),
        (*split("z0", N, T), *split("z1", M, R)),
        (
            Phase(loops, "z0T", (Segment(SWEEPS[0], both),), Sync.BLOCK),
            Phase(loops, "z0T", (Segment(SWEEPS[1], both),), Sync.BLOCK, 1),
            Phase(loops, "z0T", (Segment(last, both),), Sync.NONE, 1),
        ),
        (
            local("mx_buf", 4 * T, "z0T"),
            local("d_buf", 4 * T, "z0T"),
            local("mx_state", state, "z0T"),
            local("d_state", state, "z0T", "mx_state"),
        ),
        {"mx": "mx_buf", "d": "d_buf"},
        {"mx": "mx_state", "d": "d_state"},
    )


def over_blocks() -> ImplGraph:
    """Sums of squares of rows, spread over blocks along z1: leaves in workspace, joined in a phase of their own."""
    b = AscGraphBuilder("rows", {"z0": N, "z1": M})
    x = b.load(b.input("x", F), (N, M), ("z0", "z1"), "x0")
    b.reduce("Sum", b.op("Mul", x, x, name="square"), "z1", tree=TREE, name="sum")
    b.store(b.op("Sqrt", "sum", name="root"), "y", (N,), ("z0",))
    return plan(
        b.build(),
        (*split("z1", M, R), *split("z1T", ceildiv(M, R), symbol("b"), "block"), *split("z0", N, T)),
        (
            Phase(("z1TB", "z0", "z1Tb"), "z1TB", (Segment(("x0", "square", "sum"), ("z1t",)),), Sync.ALL),
            Phase(("z0T",), "z0T", (Segment(("root", "y_store"), ("z0t",)),)),
        ),
        (Buffer("leaves", Location.WORKSPACE, QueuePosition.VECCALC, 4 * N * ceildiv(M, TREE.leaf), 1),),
        {"sum": "leaves"},
        {"sum": None},
    )


def columns() -> ImplGraph:
    """Sums of columns: z0 is reduced, z1 in tiles of r, with one row of state and those of the joined leaves."""
    b = AscGraphBuilder("columns", {"z0": N, "z1": M})
    x = b.load(b.input("x", F), (N, M), ("z0", "z1"), "x0")
    b.reduce("Sum", x, "z0", tree=Tree(4, 1), name="sum")
    b.store(b.op("Neg", "sum", name="minus"), "y", (M,), ("z1",))
    return plan(
        b.build(),
        split("z1", M, R),
        (Phase(("z1T",), "z1T", (Segment(("x0", "sum"), ("z0", "z1t")), Segment(("minus", "y_store"), ("z1t",)))),),
        (local("sum_buf", 4 * R), local("state", 4 * R * (1 + 2))),  # up to 4 leaves: 2 wait
        {"sum": "sum_buf"},
        {"sum": "state"},
    )


def arrays(rows: int, width: int) -> list[Any]:
    x = np.random.default_rng(rows * 100 + width).normal(size=(rows, width)) * 4
    return [np.where(np.random.default_rng(1).random(x.shape) < 0.05, -0.0, x).astype(np.float32)]


def graph_of(impl: ImplGraph) -> AscGraph:
    return AscGraph(impl.name, tuple(a for a in impl.axes if a.name in impl.roots), impl.nodes)


def check(impl: ImplGraph, rows: int, width: int, tiles: dict[str, int], seed: int) -> None:
    sizes, given = {"n": rows, "m": width}, arrays(rows, width)
    (wanted,) = interpret(graph_of(impl), given, sizes)
    (found,) = interpret_impl(impl, given, sizes, tiles, seed)
    assert found.tobytes() == wanted.tobytes(), (sizes, tiles)


@pytest.mark.parametrize("rows_and_width", SIZES)
def test_whole_rows_in_local_memory(rows_and_width: tuple[int, int]) -> None:
    for seed, tile in enumerate((1, 2, 3)):
        check(all_load(), *rows_and_width, {"t": tile, "b": 1 + seed}, seed)


@pytest.mark.parametrize("rows_and_width", SIZES)
def test_rows_in_pieces_with_reductions_that_survive_a_loop(rows_and_width: tuple[int, int]) -> None:
    for seed, tiles in enumerate(({"t": 2, "r": 3}, {"t": 1, "r": 8}, {"t": 3, "r": 5})):
        check(common(), *rows_and_width, tiles, seed)


@pytest.mark.parametrize("rows_and_width", SIZES)
def test_leaves_of_many_blocks_meet_in_workspace(rows_and_width: tuple[int, int]) -> None:
    for seed, tiles in enumerate(({"r": 8, "b": 8, "t": 8}, {"r": 16, "b": 8, "t": 8}, {"r": 8, "b": 16, "t": 8})):
        check(over_blocks(), *rows_and_width, tiles, seed)


@pytest.mark.parametrize("rows_and_width", [(0, 5), (1, 1), (3, 0), (15, 7), (16, 3)])
def test_columns_are_summed_row_by_row(rows_and_width: tuple[int, int]) -> None:
    for seed, tile in enumerate((1, 2, 4)):
        check(columns(), *rows_and_width, {"r": tile}, seed)


def with_buffer(impl: ImplGraph, name: str, **changes: Any) -> ImplGraph:
    return evolve(impl, buffers=tuple(evolve(b, **changes) if b.name == name else b for b in impl.buffers))


def with_phase(impl: ImplGraph, number: int, **changes: Any) -> ImplGraph:
    phases = list(impl.phases)
    phases[number] = evolve(phases[number], **changes)
    return evolve(impl, phases=tuple(phases))


def with_segments(impl: ImplGraph, change: Callable[[tuple[Segment, ...]], tuple[Segment, ...]]) -> ImplGraph:
    return with_phase(impl, 0, segments=change(impl.phases[0].segments))


def with_axis(impl: ImplGraph, name: str, size: Dim) -> ImplGraph:
    return evolve(impl, axes=tuple(evolve(a, size=size) if a.name == name else a for a in impl.axes))


def accumulating(impl: ImplGraph, buffer: str | None) -> ImplGraph:
    location = Location.LOCAL if buffer else Location.REGISTER
    return evolve(impl, accumulators=tuple(evolve(p, location=location, buffer=buffer) for p in impl.accumulators))


def with_phases_joined(impl: ImplGraph) -> Phase:
    """The first two phases as one."""
    return evolve(impl.phases[0], segments=tuple(s for p in impl.phases[:2] for s in p.segments))


def apart() -> ImplGraph:
    """The plan with shared loops, whose two reductions have memory of their own."""
    return with_buffer(common(), "d_state", reuses=None)


ALL_LOAD, COMMON = {"t": 2, "b": 1}, {"t": 2, "r": 3}
OVER_BLOCKS, COLUMNS = {"r": 8, "b": 8, "t": 8}, {"r": 4}

BROKEN: dict[str, tuple[ImplGraph, dict[str, int], str]] = {
    "the value is read in its own segment": (
        with_segments(all_load(), lambda s: (s[0], evolve(s[1], nodes=(*s[1].nodes, *s[2].nodes)))),
        ALL_LOAD,
        "wide_d: reads reduction d in the segment that joins it",
    ),
    "the segments are swapped": (
        with_segments(all_load(), lambda s: (s[1], s[0], s[2])),
        ALL_LOAD,
        "wide1, buffer mx_buf.*reads the value of mx where nobody has written it",
    ),
    "the value is read inside of the loop that makes it": (
        evolve(apart(), phases=(with_phases_joined(apart()), apart().phases[2])),
        COMMON,
        "reads the value of mx where nobody has written it",
    ),
    "a value does not survive the loop": (
        with_buffer(common(), "d_buf", lifetime=""),
        COMMON,
        "reads the value of d where nobody has written it",
    ),
    "the buffer for rows is too small": (
        with_buffer(all_load(), "e_buf", bytes=4 * T * (M - 1)),
        ALL_LOAD,
        "the value of e1 lies outside of its buffer",
    ),
    "nothing waits for the reduction": (
        with_phase(common(), 0, sync=Sync.NONE),
        COMMON,
        "reads mx of phase 0 from phase 1, and nothing waits for it",
    ),
    "phases share loops over a barrier": (
        with_phase(common(), 0, sync=Sync.ALL),
        COMMON,
        "shares loops with a phase that all blocks must end before",
    ),
    "phases share loops that they do not have": (
        with_phase(common(), 1, loops=("z1T", "z0T")),
        COMMON,
        "phase 1 shares 1 loops that the phase before lacks",
    ),
    "phases share more loops than are right": (
        with_phase(apart(), 1, shared=2),
        COMMON,
        "reads the value of mx where nobody has written it",
    ),
    "registers do not survive a loop": (
        accumulating(common(), None),
        COMMON,
        "partial results are in registers, but loop z1T around its segment walks its axes",
    ),
    "partial results do not survive a tile": (
        with_buffer(common(), "mx_state", lifetime=""),
        COMMON,
        "reads the value of the partial results of mx where nobody has written it",
    ),
    "there is too little memory for partial results": (
        with_buffer(common(), "mx_state", bytes=4 * T * 4),
        COMMON,
        "the partial results of mx lies outside of its buffer",
    ),
    "there is memory for one column only": (
        with_buffer(columns(), "state", bytes=const(12)),
        COLUMNS,
        "the partial results of sum lies outside of its buffer of 12 bytes",
    ),
    "there is no memory for the leaves that wait": (
        with_buffer(columns(), "state", bytes=4 * R),
        COLUMNS,
        "the partial results of sum lies outside of its buffer of 16 bytes",
    ),
    "registers hold one row": (
        accumulating(columns(), None),
        COLUMNS,
        "registers hold the state of one result, but 4 are open",
    ),
    "nothing says where partial results are": (
        evolve(columns(), accumulators=()),
        COLUMNS,
        "its partial results have no place",
    ),
    "a leaf is cut between blocks": (
        over_blocks(),
        {"r": 12, "b": 1, "t": 8},
        r"block \d joins 4 of the 8 elements of leaf \d: leaves must not be cut",
    ),
    "blocks go on without the leaves of others": (
        with_phase(over_blocks(), 0, sync=Sync.BLOCK),
        {"r": 8, "b": 1, "t": 8},
        "reads the value of sum (that block . wrote, from block|where nobody has written it)",
    ),
    "leaves are read without waiting": (
        with_phase(over_blocks(), 0, sync=Sync.NONE),
        OVER_BLOCKS,
        "nothing waits for it",
    ),
    "the workspace is too small": (
        with_buffer(over_blocks(), "leaves", bytes=4 * N),
        OVER_BLOCKS,
        "the value of sum lies outside of its buffer",
    ),
    "a block is missing": (
        with_axis(over_blocks(), "z1TB", ceildiv(ceildiv(M, R), symbol("b")) - 1),
        {"r": 8, "b": 1, "t": 8},
        "reads the value of sum where nobody has written it",
    ),
    "a tile is missing": (
        with_axis(common(), "z1T", ceildiv(M, R) - 1),
        COMMON,
        r"joins \d+ of the 33 elements of a result",
    ),
    "a segment does not walk what its nodes need": (
        with_segments(columns(), lambda s: (evolve(s[0], axes=("z0",)), s[1])),
        COLUMNS,
        "no loop gives the index of axis z1, along which it varies",
    ),
    "a reduction is in a segment that does not walk its axes": (
        with_segments(columns(), lambda s: (evolve(s[0], axes=("z1t",)), s[1])),
        COLUMNS,
        "no loop gives the index of axis z0",
    ),
    "a segment over rows reads a value that varies along them": (
        with_segments(all_load(), lambda s: (*s[:2], Segment(("q",), ("z0t",)))),
        ALL_LOAD,
        "no loop gives the index of axis z1|does not walk z1",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plan_is_a_fault(name: str) -> None:
    impl, tiles, told = BROKEN[name]
    rows, width = (16, 11) if impl.name == "columns" else (5, 33)
    for seed in range(3):
        with pytest.raises(InterpreterFault, match=told):
            interpret_impl(impl, arrays(rows, width), {"n": rows, "m": width}, tiles, seed)


def test_partial_results_that_another_value_overwrites_are_lost() -> None:
    made = accumulating(all_load(), "state")
    # The exponentials are written over the state of their own sum.
    broken = evolve(made, buffers=(*made.buffers, local("state", 4 * T * M, "", "e_buf")))
    with pytest.raises(InterpreterFault, match="of the partial results of d where node number"):
        interpret_impl(broken, arrays(2, 33), {"n": 2, "m": 33}, ALL_LOAD)


def test_an_element_that_comes_twice_is_a_fault() -> None:
    made = with_buffer(columns(), "state", lifetime="z1T")
    axes = (*made.axes, *split("z0", N, T), Axis("again", AxisKind.ORIGINAL, const(2)))
    segments = (Segment(("x0", "sum"), ("z0t", "z1t")),)
    twice = evolve(with_phase(made, 0, loops=("z1T", "z0T", "again"), segments=segments), axes=axes)
    with pytest.raises(InterpreterFault, match="joins element 0 of one result more than once"):
        interpret_impl(twice, arrays(2, 4), {"n": 2, "m": 4}, {"r": 4, "t": 2})


@pytest.mark.parametrize(("leaves", "wanted"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (7, 2), (8, 3), (1000, 9)])
def test_as_many_leaves_wait_as_a_binary_counter_has_digits(leaves: int, wanted: int) -> None:
    assert most_waiting(leaves) == wanted
    assert most_waiting(leaves) == max([n.bit_count() for n in range(leaves)] or [0])


def test_the_state_of_reductions_is_counted_by_what_must_wait() -> None:
    node = next(n for n in columns().nodes if n.op == "Sum")
    assert state_elements(node, Tree(8, 4), 40, 3, False, False) == 3 * (4 + 2)
    assert state_elements(node, Tree(8, 4), 40, 3, False, True) == 3 * 2 + 4
    assert state_elements(node, Tree(8, 4), 40, 3, True, False) == 3 * 4
    assert state_elements(node, Tree(8, 4), 2, 3, False, False) == 3 * 2
    assert state_elements(evolve(node, dtype=dt.int32), Tree(8, 4), 40, 3, False, False) == 3


def test_rows_start_at_the_multiple_that_the_plan_asks_for() -> None:
    wide = evolve(all_load(), row_multiple=8)
    for seed, (rows, width) in enumerate(SIZES):
        check(with_buffer(wide, "e_buf", bytes=4 * T * ceildiv(M, 8) * 8), rows, width, {"t": 2, "b": 1}, seed)
    with pytest.raises(InterpreterFault, match="the value of e1 lies outside of its buffer of 264 bytes"):
        check(wide, 4, 33, {"t": 2, "b": 1}, 0)
