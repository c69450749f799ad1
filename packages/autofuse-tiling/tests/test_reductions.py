"""Predicted cycles of reductions of rows on a vector core: short rows cost as much as a vector."""

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.dims import as_dim, const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.graph import Attr
from autofuse_ir.schedule import ImplGraph, Phase, Segment, TilingCase, TilingGroup
from autofuse_ir.target import load_target
from autofuse_tiling.model.reductions import joins_rows, row_terms
from autofuse_tiling.model.walks import Walk, walks_of

A2 = load_target("ascend-a2")
N, M, ONE = as_dim("n"), as_dim("m"), const(1)
PER_ELEMENT = A2.cost_of("Sum", dt.float32).per_element


def walk_of(axes: tuple[str, ...]) -> Walk:
    """The walk of a sum over z1 of [n, m] that is in one tile."""
    attrs = (Attr("axes", ("z1",)), Attr("leaf", 4096), Attr("partials", 64))
    node = AscNode("sum", "Sum", ("x",), dt.float32, (N, ONE), (ONE, const(0)), attrs)
    impl = ImplGraph(
        name="sum",
        case=TilingCase("whole", ()),
        template="all-load",
        group=TilingGroup(n=("z1",)),
        roots=("z0", "z1"),
        axes=(Axis("z0", AxisKind.ORIGINAL, N), Axis("z1", AxisKind.ORIGINAL, M)),
        nodes=(node,),
        tile_variables=(),
        phases=(Phase((), None, (Segment(("sum",), axes),)),),
        buffers=(),
        placements=(),
        index_bits=64,
    )
    (walk,) = walks_of(impl)
    return walk


def cycles(n: int, m: int) -> float:
    walk = walk_of(("z0", "z1"))
    sizes = {"n": n, "m": m}
    return sum(t.coefficient * evaluate(t.count, sizes) for t in row_terms(walk, walk.nodes[0], A2))


def test_rows_alone_are_joined_by_vectors_of_their_own():
    rows, columns = walk_of(("z0", "z1")), walk_of(("z1", "z0"))
    assert joins_rows(rows, rows.nodes[0], A2)
    assert not joins_rows(columns, columns.nodes[0], A2)
    assert not joins_rows(rows, rows.nodes[0], load_target("cpu"))


def test_a_short_row_costs_as_much_as_a_vector():
    assert cycles(10_000, 8) > 10_000 * 64 * PER_ELEMENT
    assert cycles(10_000, 1) == pytest.approx(cycles(10_000, 8))
    assert cycles(10_000, 64) < 3 * cycles(10_000, 8)


def test_a_long_row_costs_what_its_elements_cost():
    assert cycles(1000, 4096) == pytest.approx(1000 * 4096 * PER_ELEMENT, rel=0.1)
