"""Reductions share kernels with what feeds them and with what reads them, however the network was written."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend, FusedGraph, HostRegion, Reason
from autofuse_ir.graph import Graph
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

Array = np.ndarray[Any, Any]
SIZES = ((1, 1), (0, 3), (3, 0), (2, 7), (5, 131), (3, 4099))


def ints(*values: int) -> TensorData:
    return to_tensor_data(np.asarray(values, np.int64))


def number(value: float, dtype: DType = dt.float32) -> TensorData:
    return to_tensor_data(np.asarray(value).astype(numpy_dtype(dtype)))


def arrays(dtype: DType = dt.float32, **shapes: tuple[int, ...]) -> dict[str, Array]:
    rng = np.random.default_rng(len(shapes))
    return {name: (rng.standard_normal(shape) * 3).astype(numpy_dtype(dtype)) for name, shape in shapes.items()}


def one(build: Callable[..., str], dtype: DType = dt.float32, **shapes: Any) -> Graph:
    """The graph of ``build`` on inputs of ``shapes``; x of shape (n, m) where none are given."""
    b = GraphBuilder("one")
    inputs = [b.input(name, shape, dtype) for name, shape in (shapes or {"x": ("n", "m")}).items()]
    return b.build(outputs={"y": build(b, *inputs)})


def ops(kernel: AscBackend) -> list[str]:
    return [node.op for node in kernel.graph.nodes]


def softmax(b: GraphBuilder, x: str) -> str:
    axis = b.constant(ints(-1))
    e = b.op("Exp", b.op("Sub", x, b.op("ReduceMax", x, axis, keep_dims=True)))
    return b.op("RealDiv", e, b.op("ReduceSum", e, axis, keep_dims=True))


def log_softmax(b: GraphBuilder, x: str) -> str:
    axis = b.constant(ints(-1))
    below = b.op("Sub", x, b.op("ReduceMax", x, axis, keep_dims=True))
    return b.op("Sub", below, b.op("Log", b.op("ReduceSum", b.op("Exp", below), axis, keep_dims=True)))


def layer_norm(b: GraphBuilder, x: str, gamma: str, beta: str) -> str:
    axis = b.constant(ints(-1))
    apart = b.op("Sub", x, b.op("ReduceMean", x, axis, keep_dims=True))
    variance = b.op("ReduceMean", b.op("Mul", apart, apart), axis, keep_dims=True)
    root = b.op("Sqrt", b.op("Adds", variance, value=1e-5))
    normal = b.op("Mul", apart, b.op("RealDiv", b.constant(number(1.0)), root))
    return b.op("Add", b.op("Mul", normal, gamma), beta)


def group_norm(b: GraphBuilder, x: str) -> str:
    """Six channels in three groups."""
    split, back = b.constant(ints(0, 3, -1)), b.constant(ints(0, 6, 4, 5))
    y = b.op("Reshape", x, split)
    apart = b.op("Sub", y, b.op("ReduceMean", y, b.constant(ints(2)), keep_dims=True))
    variance = b.op("ReduceMean", b.op("Mul", apart, apart), b.constant(ints(2)), keep_dims=True)
    root = b.op("Sqrt", b.op("Adds", variance, value=1e-5))
    return b.op("Reshape", b.op("Mul", apart, b.op("RealDiv", b.constant(number(1.0)), root)), back)


def test_softmax_reads_once_and_divides(kit) -> None:
    (kernel,) = kit.kernels(kit.fuse(one(lambda b, x: b.op("SoftmaxV2", x))))
    assert ops(kernel) == [
        *("Data", "Load", "Max", "Broadcast", "Sub", "Exp", "Sum", "Broadcast", "Div", "Store", "Output")
    ]


@pytest.mark.parametrize("sizes", SIZES)
def test_softmax_is_the_reference_for_every_size(kit, sizes: tuple[int, int]) -> None:
    for dtype in (dt.float16, dt.bfloat16, dt.float32, dt.float64):
        kit.check(one(lambda b, x: b.op("SoftmaxV2", x), dtype), arrays(dtype, x=sizes), ulps=2)
        kit.check(one(softmax, dtype), arrays(dtype, x=sizes), ulps=4)
    kit.check(one(log_softmax), arrays(x=sizes), ulps=4)


def test_special_values_pass_as_in_the_reference(kit) -> None:
    rows = [[np.inf, 1, 2], [-np.inf, 1, 2], [-np.inf] * 3, [np.nan, 1, 2], [0.0, -0.0, -0.0], [2e30, -1e3, 0.0]]
    x = {"x": np.asarray(rows, np.float32)}
    for build in (softmax, log_softmax):
        kit.check(one(build), x, ulps=2)
    for op in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceLogSumExp"):
        kit.check(one(lambda b, x, op=op: b.op(op, x, b.constant(ints(1)))), x, ulps=2)
    kit.check(one(lambda b, x: b.op("ArgMax", x, axis=1)), x)


def test_masked_softmax_is_one_kernel(kit) -> None:
    def build(b: GraphBuilder, scores: str, mask: str) -> str:
        blocked = b.op("Greater", mask, b.constant(number(0.0)))
        scaled = b.op("Muls", scores, value=0.125)
        return softmax(b, b.op("SelectV2", blocked, b.constant(number(-1e9)), scaled))

    graph = one(build, scores=("b", "h", "s", "t"), mask=("s", "t"))
    fused = kit.check(graph, arrays(scores=(2, 3, 4, 5), mask=(4, 5)), ulps=4)
    (kernel,) = fused.nodes
    assert isinstance(kernel, AscBackend)


def test_layer_norm_with_residual_stores_both_results_in_one_kernel(kit) -> None:
    b = GraphBuilder("residual")
    x, r = b.input("x", ("s", "m"), dt.float32), b.input("r", ("s", "m"), dt.float32)
    gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
    total = b.op("Add", x, r)
    graph = b.build(outputs={"y": layer_norm(b, total, gamma, beta), "total": total})
    fused = kit.check(graph, arrays(x=(4, 33), r=(4, 33), gamma=(33,), beta=(33,)), ulps=16)
    (kernel,) = fused.nodes
    assert isinstance(kernel, AscBackend)
    assert ops(kernel).count("Store") == 2


def test_group_norm_by_reshapes_is_one_kernel(kit) -> None:
    fused = kit.check(one(group_norm, x=("n", 6, 4, 5)), arrays(x=(2, 6, 4, 5)), ulps=16)
    (kernel,) = kit.kernels(fused)
    assert [str(axis.size) for axis in kernel.graph.axes] == ["n", "3", "2", "4", "5"]
    reduced = {node.attr("axes") for node in kernel.graph.nodes if node.op in REDUCTIONS}
    assert reduced == {("z2", "z3", "z4")}


# The scenarios 8 to 15 of the original's study that concern reductions; where ours fuses more, the test says so.


def test_element_wise_work_feeds_a_sum(kit) -> None:
    def build(b: GraphBuilder, x: str) -> str:
        return b.op("ReduceSum", b.op("Relu", b.op("Abs", x)), b.constant(ints(-1)))

    (kernel,) = kit.kernels(kit.check(one(build, x=("a", "b", "c")), arrays(x=(2, 3, 5)), ulps=4))
    assert [op for op in ops(kernel) if op != "Scalar"] == ["Data", "Load", "Abs", "Maximum", "Sum", "Store", "Output"]

    def wide(b: GraphBuilder, x: str, row: str) -> str:
        return b.op("ReduceSum", b.op("Add", b.op("Relu", x), row), b.constant(ints(-1)))

    (kernel,) = kit.kernels(kit.check(one(wide, x=("a", "c"), row=("c",)), arrays(x=(2, 5), row=(5,)), ulps=4))
    assert ops(kernel).count("Broadcast") == 1


def test_a_sum_and_its_sibling_share_the_input(kit) -> None:
    b = GraphBuilder("siblings")
    a = b.op("Abs", b.input("x", ("n", "m"), dt.float32))
    graph = b.build(outputs={"s": b.op("ReduceSum", a, b.constant(ints(-1))), "r": b.op("Relu", a)})
    (kernel,) = kit.kernels(kit.check(graph, arrays(x=(3, 5)), ulps=4))
    assert ops(kernel).count("Store") == 2
    assert ops(kernel).count("Load") == 1


def test_any_number_of_operators_follows_a_reduction(kit) -> None:
    """Ours fuses more: the original appends three."""

    def build(b: GraphBuilder, x: str) -> str:
        value = b.op("ReduceMax", x, b.constant(ints(-1)))
        for op in ("Abs", "Relu", "Exp", "Neg", "Sigmoid", "Tanh"):
            value = b.op(op, value)
        return value

    fused = kit.check(one(build), arrays(x=(3, 5)), ulps=4)
    (kernel,) = kit.kernels(fused)
    assert kernel.operators[0].startswith("ReduceMax")
    stores = [node for node in kernel.graph.nodes if node.op == "Store"]
    assert [tuple(map(str, node.repeats)) for node in stores] == [("n", "1")]


def test_a_reduction_of_a_reduction_along_the_same_axis_is_none(kit) -> None:
    def build(b: GraphBuilder, x: str) -> str:
        total = b.op("ReduceSum", x, b.constant(ints(1)), keep_dims=True)
        return b.op("ReduceMax", total, b.constant(ints(1)), keep_dims=True)

    (kernel,) = kit.kernels(kit.check(one(build), arrays(x=(3, 5)), ulps=4))
    assert [op for op in ops(kernel) if op in REDUCTIONS] == ["Sum"]


def test_reductions_along_different_axes_have_kernels_of_their_own(kit) -> None:
    def build(b: GraphBuilder, x: str) -> str:
        total = b.op("ReduceSum", x, b.constant(ints(1)), name="rows")
        return b.op("ReduceMax", total, b.constant(ints(0)), name="columns")

    fused = kit.check(one(build), arrays(x=(3, 5)), ulps=4, max_parts=1)
    assert len(kit.kernels(fused)) == 2
    (refusal,) = fused.refusals
    assert refusal.reason is Reason.TILING_GROUPS_DO_NOT_MERGE
    assert refusal.detail == "y=(z0) r=(z1) of rows against r=(z0) of columns"


def test_axes_that_only_the_run_knows_are_for_the_host(kit) -> None:
    b = GraphBuilder("axes")
    x, axes = b.input("x", ("n", "m"), dt.float32), b.input("axes", (1,), dt.int64)
    graph = b.build(outputs={"y": b.op("ReduceSum", x, axes, keep_dims=True)})
    (region,) = [node for node in kit.fuse(graph).nodes if isinstance(node, HostRegion)]
    assert region.reasons[0].reason is Reason.STRUCTURAL_OPERAND_UNKNOWN


def test_a_widened_value_is_summed_as_often_as_it_is_repeated(kit) -> None:
    def build(b: GraphBuilder, x: str, y: str) -> str:
        wide = b.op("BroadcastTo", x, b.op("Shape", y))
        return b.op("Add", b.op("ReduceSum", wide, b.constant(ints(0)), keep_dims=True), y)

    graph = one(build, x=(1, 1, 1), y=("a", "b", "c"))
    kit.check(graph, arrays(x=(1, 1, 1), y=(2, 3, 4)), ulps=4)
    kit.check(graph, arrays(x=(1, 1, 1), y=(0, 3, 4)), ulps=4)


@pytest.mark.parametrize("keep", [True, False])
def test_reductions_over_sizes_of_one_are_no_reductions(kit, keep: bool) -> None:
    def build(b: GraphBuilder, x: str) -> str:
        return b.op("ReduceSum", x, b.constant(ints(1, 3)), keep_dims=keep)

    (kernel,) = kit.kernels(kit.check(one(build, x=("n", 1, "m", 1)), arrays(x=(2, 1, 3, 1))))
    assert ops(kernel) == ["Data", "Load", "Store", "Output"]


def test_a_row_reduction_is_not_computed_again_for_every_column_of_a_wider_reader(kit) -> None:
    """The reader has an axis of its own, along which the reduction would be repeated."""

    def build(b: GraphBuilder, x: str, w: str) -> str:
        total = b.op("ReduceSum", x, b.constant(ints(1)), keep_dims=True, name="rows")
        return b.op("Mul", total, w, name="outer")

    fused = kit.check(one(build, x=("n", "m"), w=("n", "k")), arrays(x=(3, 5), w=(3, 4)), ulps=4, max_parts=1)
    assert refusals(fused) == {("rows", "outer"): Reason.TILING_GROUPS_DO_NOT_MERGE}


def test_equal_sizes_alone_make_no_common_axis(kit) -> None:
    def build(b: GraphBuilder, x: str, w: str) -> str:
        total = b.op("ReduceSum", x, b.constant(ints(1)), keep_dims=True, name="rows")
        return b.op("Mul", total, w, name="outer")

    # w has the sizes of x, but no tensor relates its second axis to the reduced one.
    fused = kit.check(one(build, x=("n", "m"), w=("n", "m")), arrays(x=(3, 5), w=(3, 5)), ulps=4, max_parts=1)
    assert refusals(fused) == {("rows", "outer"): Reason.TILING_GROUPS_DO_NOT_MERGE}


def test_a_reduced_axis_is_never_stretched(kit) -> None:
    """x has 1 or m columns: a sum over its own must not run over those of the reader."""

    def build(b: GraphBuilder, x: str, y: str) -> str:
        return b.op("Add", b.op("Add", x, y), b.op("ReduceSum", x, b.constant(ints(1)), keep_dims=True))

    graph = one(build, x=("n", "d"), y=("n", "m"))
    kit.check(graph, arrays(x=(3, 1), y=(3, 5)), ulps=4)
    kit.check(graph, arrays(x=(3, 5), y=(3, 5)), ulps=4)
    kit.check(graph, arrays(x=(3, 5), y=(3, 1)), ulps=4)


def refusals(fused: FusedGraph) -> dict[tuple[str, str], Reason]:
    return {(refusal.first, refusal.second): refusal.reason for refusal in fused.refusals}


@pytest.mark.parametrize(("columns", "kernels"), [(4096, 1), (1 << 20, 2)])
def test_long_rows_of_many_inputs_are_added_up_once(kit, columns: int, kernels: int) -> None:
    """Three passes over four inputs cost more than three over their stored sum, unless a row stays in local memory."""

    def build(b: GraphBuilder, *rows: str) -> str:
        return b.op("SoftmaxV2", b.op("AddN", *rows, N=4, name="sum"), name="soft")

    fused = kit.fuse(one(build, **dict.fromkeys("abcd", (64, columns))))
    assert len(kit.kernels(fused)) == kernels
    assert refusals(fused) == ({("sum", "soft"): Reason.NO_BENEFIT} if kernels == 2 else {})


def test_a_product_with_a_column_is_a_sum_of_products(kit) -> None:
    """Ours fuses more: the original wants a known length of at most 32."""

    def build(b: GraphBuilder, x: str, w: str) -> str:
        return b.op("Relu", b.op("BatchMatMul", b.op("Abs", x), w))

    fused = kit.check(one(build, x=("b", "m", "k"), w=("b", "k", 1)), arrays(x=(2, 3, 5), w=(2, 5, 1)), ulps=8)
    (kernel,) = fused.nodes
    assert isinstance(kernel, AscBackend)
    assert {"Mul", "Sum", "Abs", "Maximum"} < set(ops(kernel))
    wide = kit.fuse(one(lambda b, x, w: b.op("MatMul", x, w), x=("m", "k"), w=("k", "n")))
    assert [r.reason for node in wide.nodes if isinstance(node, HostRegion) for r in node.reasons] == [
        Reason.HOST_OPERATOR
    ]


@pytest.mark.parametrize(("op", "primitive"), [("ReduceMaxD", None), ("ReduceMinD", None), ("ReduceSumD", "Sum")])
def test_an_element_that_repeats_is_joined_only_where_that_changes_it(kit, op: str, primitive: str | None) -> None:
    b = GraphBuilder("repeats")
    wide = b.op("BroadcastTo", b.input("x", (4, 1), dt.float32), b.constant(ints(4, 5)))
    fused = kit.check(
        b.build(outputs={"y": b.op(op, wide, axes=(1,))}),
        {"x": np.asarray([[-0.0], [np.nan], [np.inf], [1.5]], np.float32)},
    )
    reductions = [node.op for kernel in kit.kernels(fused) for node in kernel.graph.nodes if node.op in REDUCTIONS]
    assert reductions == ([primitive] if primitive else [])
