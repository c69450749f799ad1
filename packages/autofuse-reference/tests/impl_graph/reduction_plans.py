"""Plans with reductions, written by hand: softmax, column sums, reductions over blocks; and how they are changed."""

from typing import Any

import numpy as np
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


def with_buffer(impl: ImplGraph, name: str, **changes: Any) -> ImplGraph:
    return evolve(impl, buffers=tuple(evolve(b, **changes) if b.name == name else b for b in impl.buffers))


def accumulating(impl: ImplGraph, buffer: str | None) -> ImplGraph:
    location = Location.LOCAL if buffer else Location.REGISTER
    return evolve(impl, accumulators=tuple(evolve(p, location=location, buffer=buffer) for p in impl.accumulators))
