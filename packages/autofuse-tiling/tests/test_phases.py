"""Tiling models of kernels that walk their data more than once, in phases, or across its rows."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscNode, Axis, AxisKind, Bounds
from autofuse_ir.dims import TRUE, as_dim, const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.graph import Attr
from autofuse_ir.schedule import (
    Alternative,
    Buffer,
    ImplGraph,
    KernelArgument,
    Location,
    Phase,
    Placement,
    QueuePosition,
    ScheduleGroup,
    ScheduleResult,
    Segment,
    Sync,
    TileRole,
    TileVariable,
    TilingCase,
    TilingGroup,
)
from autofuse_ir.target import load_target
from autofuse_tiling.evaluate import choose
from autofuse_tiling.model.copies import copies_of
from autofuse_tiling.model.walks import walks_of
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.stage import tile

N, M, ONE, ZERO = as_dim("n"), as_dim("m"), const(1), const(0)
TREE = (Attr("axes", ("z1",)), Attr("leaf", 4096), Attr("partials", 64))
NO_FACTS = SymbolFacts((), ())


A2 = load_target("ascend-a2")


def rows_minus_sum(is_resident: bool = True) -> ImplGraph:
    """y = x - sum of its row: a tile of rows is walked twice, and read once more in the second sweep."""
    full, row = ((N, M), (M, ONE)), ((N, ONE), (ONE, ZERO))
    access = AccessMap((N, M), (AccessDim("z0", ONE, ZERO), AccessDim("z1", ONE, ZERO)))
    again = (Attr("resident", True),) if is_resident else ()
    nodes = (
        AscNode("x", "Data", (), dt.float32, *full, (Attr("index", 0),)),
        AscNode("load", "Load", ("x",), dt.float32, *full, (), access),
        AscNode("sum", "Sum", ("load",), dt.float32, *row, TREE),
        AscNode("load.1", "Load", ("x",), dt.float32, *full, again, access),
        AscNode("sub", "Sub", ("load.1", "sum"), dt.float32, *full),
        AscNode("store", "Store", ("sub",), dt.float32, *full, (), access),
        AscNode("y", "Output", ("store",), dt.float32, *full, (Attr("index", 0),)),
    )
    axes = (
        Axis("z0", AxisKind.ORIGINAL, N),
        Axis("z1", AxisKind.ORIGINAL, M),
        Axis("z0T", AxisKind.TILE_OUTER, as_dim("ceildiv(n, t)"), ("z0",)),
        Axis("z0t", AxisKind.TILE_INNER, as_dim("t"), ("z0",)),
        Axis("z0TB", AxisKind.BLOCK_OUTER, as_dim("ceildiv(ceildiv(n, t), b)"), ("z0T",)),
        Axis("z0Tb", AxisKind.BLOCK_INNER, as_dim("b"), ("z0T",)),
    )
    walk = ("z0t", "z1")
    segments = (Segment(("load", "sum"), walk), Segment(("load.1", "sub", "store"), walk))
    return ImplGraph(
        name="rows",
        case=TilingCase("z0", ("z0",)),
        template="all-load",
        group=TilingGroup(y=("z0",), r=("z1",)),
        roots=("z0", "z1"),
        axes=axes,
        nodes=nodes,
        tile_variables=(
            TileVariable("t", "z0t", TileRole.LOCAL, 1, as_dim("max(n, 1)"), 1),
            TileVariable("b", "z0Tb", TileRole.MULTICORE, 1, as_dim("max(ceildiv(n, t), 1)"), 1),
        ),
        phases=(Phase(("z0TB", "z0Tb"), "z0TB", segments),),
        buffers=(Buffer("sum_buf", Location.LOCAL, QueuePosition.VECCALC, as_dim("64*ceildiv(t, 16)"), 1),),
        placements=(Placement("sum", Location.LOCAL, "sum_buf"),),
        index_bits=64,
        accumulators=(Placement("sum", Location.REGISTER),),
    )


def result_of(*impls: ImplGraph, workspace: int = 0, target: str = "cpu") -> ScheduleResult:
    arguments = tuple(KernelArgument(name, out, 0, dt.float32, (N, M)) for name, out in (("x", False), ("y", True)))
    group = ScheduleGroup("rows", impls, workspace_bytes=const(workspace))
    alternatives = (Alternative("general", (group,), TRUE),)
    return ScheduleResult("rows", target, arguments, ("m", "n"), alternatives, const(workspace))


def cycles(impl: ImplGraph, n: int, m: int, cores: int = 1) -> float:
    return choose(tile(result_of(impl), NO_FACTS, load_target("cpu")), {"n": n, "m": m}, cores).cycles


def test_what_a_tile_reads_again_takes_room_once():
    (case,) = tile(result_of(rows_minus_sum()), NO_FACTS, load_target("cpu")).cases
    local = next(c for c in case.constraints if c.resource == "local_memory")
    assert evaluate(local.need, {"t": 3, "m": 1000, "n": 50}) == 3 * 1000 * 4 + 64


def test_a_row_that_fits_no_cache_has_no_tiling_with_rereads():
    with pytest.raises(TilingError, match="usable bytes of local memory"):
        cycles(rows_minus_sum(), 4, 1 << 21)
    assert cycles(rows_minus_sum(is_resident=False), 4, 1 << 21) > 0


def test_reading_again_from_a_cache_is_cheaper_than_from_memory():
    assert cycles(rows_minus_sum(), 1000, 1000) < cycles(rows_minus_sum(is_resident=False), 1000, 1000)
    few, many = (cycles(rows_minus_sum(), n, 1000) for n in (100, 1000))
    assert 8 * few < many < 12 * few


def test_data_that_is_the_same_for_all_tiles_is_read_from_memory_once():
    impl = rows_minus_sum(is_resident=False)
    column = AccessMap((M,), (AccessDim("z1", ONE, ZERO),))
    weights = tuple(
        evolve(node, repeats=(ONE, M), strides=(ZERO, ONE), access=column) if node.op == "Load" else node
        for node in impl.nodes
    )
    assert cycles(evolve(impl, nodes=weights), 10_000, 1000) < cycles(impl, 10_000, 1000)


def test_elements_across_rows_cost_a_line_each():
    def one_walk(*axes: str) -> ImplGraph:
        impl = rows_minus_sum(is_resident=False)
        turned = AccessMap((M, N), tuple(AccessDim(axis, ONE, ZERO) for axis in axes))
        nodes = tuple(evolve(n, access=turned) if n.name == "load.1" else n for n in impl.nodes)
        kept = [n for n in nodes if n.name not in ("load", "sum")]
        kept = [evolve(n, inputs=("load.1", "load.1")) if n.op == "Sub" else n for n in kept]
        phase = evolve(impl.phases[0], segments=impl.phases[0].segments[1:])
        return evolve(impl, nodes=tuple(kept), phases=(phase,), buffers=(), placements=(), accumulators=())

    along, across = cycles(one_walk("z0", "z1"), 4000, 4000), cycles(one_walk("z1", "z0"), 4000, 4000)
    assert across > 5 * along


def test_phases_that_all_blocks_wait_for_start_anew_and_what_one_block_does_alone_counts():
    impl = rows_minus_sum(is_resident=False)
    first, second = impl.phases[0].segments
    spread = evolve(
        impl,
        phases=(
            Phase(("z0TB", "z0Tb"), "z0TB", (first,), Sync.ALL),
            Phase(("z0TB", "z0Tb"), "z0TB", (second,)),
        ),
    )
    start = load_target("cpu").quantity("launch_cycles")
    (model,) = tile(result_of(spread), NO_FACTS, load_target("cpu")).cases
    assert evaluate(model.head[0].count, {"n": 100, "t": 1, "b": 50}) == 2
    assert model.head[0].coefficient == start
    alone = evolve(spread, phases=(spread.phases[0], Phase((), None, (evolve(second, axes=("z0", "z1")),))))
    (model,) = tile(result_of(alone), NO_FACTS, load_target("cpu")).cases
    assert evaluate(model.blocks, {"n": 0, "t": 1, "b": 1}) == 1
    assert len(model.head) > 3
    assert cycles(alone, 10_000, 1000, 16) > 4 * cycles(spread, 10_000, 1000, 16)


def test_a_kernel_without_enough_workspace_is_not_chosen():
    impl = rows_minus_sum(is_resident=False)
    leaves = Buffer("leaves", Location.WORKSPACE, QueuePosition.VECCALC, 64 * N, 1)
    shared = evolve(impl, buffers=(*impl.buffers, leaves))
    model = tile(result_of(shared, workspace=6400), NO_FACTS, load_target("cpu"))
    assert choose(model, {"n": 100, "m": 10}, 1).blocks == 1
    with pytest.raises(TilingError, match="no more workspace than the kernel is given"):
        choose(model, {"n": 101, "m": 10}, 1)


def test_pipes_wait_for_one_another_where_no_buffer_has_a_second_copy():
    target = load_target("ascend-a2")
    queues = tuple(
        Buffer(f"{name}_buf", Location.LOCAL, QueuePosition.VECIN, as_dim("32*ceildiv(t*m, 8)"), 2)
        for name in ("load", "load.1")
    )
    double = evolve(rows_minus_sum(is_resident=False), buffers=queues)
    single = evolve(double, buffers=tuple(evolve(buffer, copies=1) for buffer in queues))
    costs = [
        choose(tile(result_of(i, target=target.name), NO_FACTS, target), {"n": 1000, "m": 1000}, 48).cycles
        for i in (double, single)
    ]
    assert costs[0] < costs[1]


def test_nodes_of_one_shape_are_one_term_of_the_model():
    impl = rows_minus_sum(is_resident=False)
    longer = impl.nodes[4]
    chain = tuple(evolve(longer, name=f"sub{k}", inputs=("sub" if k == 0 else f"sub{k - 1}", "sum")) for k in range(20))
    nodes = (*impl.nodes[:5], *chain, evolve(impl.nodes[5], inputs=("sub19",)), impl.nodes[6])
    first, second = impl.phases[0].segments
    second = evolve(second, nodes=("load.1", "sub", *(node.name for node in chain), "store"))
    phase = evolve(impl.phases[0], segments=(first, second))
    models = [
        tile(result_of(i), NO_FACTS, load_target("cpu")).cases[0]
        for i in (impl, evolve(impl, nodes=nodes, phases=(phase,)))
    ]
    counts = [sum(len(cost.terms) for cost in model.costs) for model in models]
    assert counts[0] == counts[1]


def test_a_load_that_fills_moves_the_bytes_of_its_data():
    """Half of each tile's columns on average lie inside: two such Loads cost what one of whole rows does."""
    made = rows_minus_sum()
    load = next(node for node in made.nodes if node.op == "Load")
    assert load.access is not None
    half = evolve(load.access, memory=(N, as_dim("h")), bounds=Bounds.FILL)
    walk = next(walk for walk in walks_of(made) if load.name in walk.segment.nodes)
    sizes = {"n": 64, "m": 100, "h": 50, "t": 8, "b": 1}

    def moved(node):
        copies = copies_of(walk, node, A2)
        return evaluate(copies.bytes, sizes) / evaluate(copies.of, sizes)

    assert moved(load) == 8 * 100 * load.dtype.itemsize
    # Half as many bytes; but rows that are apart are whole lines.
    assert moved(evolve(load, access=half)) == 8 * A2.cache_line_bytes / 2
    longer = evolve(half, memory=(N, as_dim("m") + 7))
    assert moved(evolve(load, access=longer)) == 8 * A2.cache_line_bytes, "no more than the tile"
