"""Blocks share reduced elements in ranges that end anywhere: same bits, every leaf of the tree by one block."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AxisKind
from autofuse_ir.checks import verify
from autofuse_ir.dims import as_dim
from autofuse_ir.errors import IrError
from autofuse_ir.facts import SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.target import load_target
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_schedule.force import only_template
from autofuse_schedule.stage import schedule

LEAF = 4096


def by_case(kernel_case, target):
    result = only_template(kernel_case.scheduled(target), "r-core")
    return {impl.case.split: impl for impl in result.alternatives[0].groups[0].implementations}


def check(kernel_case, impl, sizes, tiles):
    arrays = kernel_case.arrays(sizes, 3)
    found = interpret_impl(impl, arrays, sizes, tiles, 5)
    for got, wanted in zip(found, interpret(kernel_case.graph, arrays, sizes), strict=True):
        assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", ["batch_norm"])
@pytest.mark.parametrize(("n", "k"), [(3, 3001), (330, 13), (1, 9000), (2, 4096)])
def test_a_cpu_shares_axes_that_do_not_lie_next_to_each_other(kernel_case, n, k):
    (impl,) = by_case(kernel_case, "cpu").values()
    assert [s.axes for p in impl.phases[:1] for s in p.segments] == [("z0", "z2")]
    check(kernel_case, impl, {"n": n, "m": 2, "k": k}, {"z0z2r_size": LEAF, "z1z0z2Rb_size": 2})


@pytest.mark.parametrize("name", ["batch_norm"])
def test_pieces_of_rows_end_where_their_range_does(kernel_case):
    impl = by_case(kernel_case, "ascend-a2")["z2",]
    tiles = {"z2t_size": 1728, "z0z2r_size": LEAF, "z1z0z2Rb_size": 1}
    check(kernel_case, impl, {"n": 3, "m": 2, "k": 3001}, tiles)


@pytest.mark.parametrize("name", ["column_softmax"])
def test_pieces_of_columns_are_shared_by_ranges_of_rows(kernel_case):
    impl = by_case(kernel_case, "ascend-a2")["z1", "z0"]
    tiles = {"z1t_size": 8, "z0t_size": 48, "z0r_size": 64, "z1Tz0Rb_size": 2}
    check(kernel_case, impl, {"n": 150, "m": 11}, tiles)


@pytest.mark.parametrize("name", ["column_sum"])
def test_blocks_share_the_results_in_the_end(kernel_case):
    impl = by_case(kernel_case, "ascend-a2")["z1", "z0"]
    assert impl.phases[-1].block == "z1TB"
    tiles = {"z1t_size": 8, "z0t_size": 64, "z0r_size": 64, "z1Tz0Rb_size": 1}
    check(kernel_case, impl, {"n": 200, "m": 30}, tiles)


@pytest.mark.parametrize("name", ["batch_norm"])
def test_a_range_that_cuts_a_leaf_is_found(kernel_case):
    (impl,) = by_case(kernel_case, "cpu").values()
    careless = evolve(impl, tile_variables=tuple(evolve(v, multiple=1) for v in impl.tile_variables))
    sizes = {"n": 2, "m": 1, "k": 4000}
    with pytest.raises(InterpreterFault, match="leaves must not be cut"):
        interpret_impl(careless, kernel_case.arrays(sizes, 0), sizes, {"z0z2r_size": 4100, "z1z0z2Rb_size": 1})


@pytest.mark.parametrize("name", ["batch_norm"])
def test_a_range_has_two_halves(kernel_case):
    (impl,) = by_case(kernel_case, "cpu").values()
    halved = evolve(
        impl,
        axes=tuple(a for a in impl.axes if a.kind is not AxisKind.RANGE_INNER),
        tile_variables=tuple(v for v in impl.tile_variables if v.axis != "z0z2r"),
    )
    with pytest.raises(IrError, match="1 range_outer and 0 range_inner"):
        verify(halved)


@pytest.mark.parametrize(("inner", "rows"), [(96, 128), (4096, 1), ("k", 4096), (7, 4096)])
def test_known_inner_axes_let_leaves_end_after_fewer_rows(inner, rows):
    b = AscGraphBuilder("ends", {"z0": "n", "z1": "m", "z2": inner})
    shape = tuple(map(as_dim, b.axes.values()))
    b.store(b.reduce("Sum", b.load(b.input("x", dt.float32), shape, tuple(b.axes)), "z0", "z2"), "y", ("m",), ("z1",))
    values = (ValueFact("x", dt.float32, shape), ValueFact("y", dt.float32, shape[1:2]))
    symbols = tuple(SymbolFact(s, 0, 1 << 20, 64, ()) for s in sorted({*map(str, b.axes.values())} & {"n", "m", "k"}))
    node = AscBackend("ends", ("x",), ("y",), b.build(), ())
    result = schedule(node, SymbolFacts(symbols, values), load_target("ascend-a2"))
    variables = [v for i in result.alternatives[0].groups[0].implementations for v in i.tile_variables]
    assert {v.multiple for v in variables if v.axis == "z0r"} == {rows}
