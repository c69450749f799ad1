"""Predicted cycles of scans on a vector core: steps along their axis count, not what each of them joins."""

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, as_dim, const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr
from autofuse_ir.schedule import ImplGraph, Phase, Segment, TilingCase, TilingGroup
from autofuse_ir.target import load_target
from autofuse_tiling.model.scans import scan_terms
from autofuse_tiling.model.walks import walks_of

A2 = load_target("ascend-a2")
N, M, ONE = as_dim("n"), as_dim("m"), const(1)


def cycles(axis: str, n: int, m: int, dtype: DType = dt.float32, op: str = "CumSum") -> float:
    """The cycles of one scan of [n, m] that is in one tile."""
    shape: tuple[Dim, ...] = (N, M)
    attrs = (Attr("axis", axis), Attr("exclusive", False), Attr("reverse", False))
    node = AscNode("scan", op, ("x",), dtype, shape, (M, ONE), attrs)
    impl = ImplGraph(
        name="scan",
        case=TilingCase("whole", ()),
        template="common",
        group=TilingGroup(n=(axis,)),
        roots=("z0", "z1"),
        axes=(Axis("z0", AxisKind.ORIGINAL, N), Axis("z1", AxisKind.ORIGINAL, M)),
        nodes=(node,),
        tile_variables=(),
        phases=(Phase((), None, (Segment(("scan",), ("z0", "z1")),)),),
        buffers=(),
        placements=(),
        index_bits=64,
    )
    (walk,) = walks_of(impl)
    sizes = {"n": n, "m": m}
    return sum(
        term.coefficient * evaluate(term.count, sizes) / evaluate(term.divisor, sizes)
        for term in scan_terms(walk, node, A2)
    )


def test_rows_that_are_scanned_together_cost_little_more_than_one():
    assert cycles("z1", 4, 4096) < 1.1 * cycles("z1", 2, 4096)
    assert cycles("z1", 128, 4096) < 4 * cycles("z1", 2, 4096)
    assert cycles("z1", 129, 4096) > 1.3 * cycles("z1", 128, 4096)


def test_one_row_of_floats_is_joined_one_by_one():
    each = 2 * A2.quantity("scalar_local_cycles")
    assert cycles("z1", 1, 4096) == pytest.approx(4096 * each, rel=0.01)
    assert cycles("z1", 1, 512, dt.int32) == pytest.approx(512 * each, rel=0.05)


def test_a_few_long_rows_of_integers_are_cut_into_pieces():
    assert cycles("z1", 1, 65_536, dt.int32) < cycles("z1", 1, 65_536) / 10
    assert cycles("z1", 2, 4096, dt.int32) == pytest.approx(2 * cycles("z1", 1, 4096, dt.int32))
    assert cycles("z1", 16, 4096, dt.int32) == pytest.approx(cycles("z1", 16, 4096), rel=0.1)


def test_each_row_along_an_outer_axis_is_a_step():
    assert cycles("z0", 4096, 1) == pytest.approx(4096 * A2.cost_of("Add", dt.float32).per_call, rel=0.01)
    assert cycles("z0", 4096, 1) < 1.1 * cycles("z0", 4095, 64)
    assert cycles("z0", 4096, 64) < 2 * cycles("z0", 4096, 1)


def test_products_are_multiplied():
    ratio = A2.cost_of("Mul", dt.float32).per_call / A2.cost_of("Add", dt.float32).per_call
    assert cycles("z0", 4096, 1, op="CumProd") == pytest.approx(ratio * cycles("z0", 4096, 1), rel=0.01)


@pytest.mark.parametrize("axis", ["z0", "z1"])
def test_wide_integers_are_joined_one_by_one(axis):
    each = 2 * A2.quantity("scalar_local_cycles")
    assert cycles(axis, 30, 50, dt.int64) == pytest.approx(1500 * each)
