"""Graphs and kernels built in Python are well formed, or the mistake is named."""

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessDim
from autofuse_ir.builder import AscGraphBuilder, GraphBuilder
from autofuse_ir.checks import verify
from autofuse_ir.dims import as_dim, const, symbol
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Symbol


def test_a_network_is_built_as_written():
    b = GraphBuilder("bias_gelu")
    b.symbol("batch", 1, 64, 8)
    x = b.input("x", ("batch", 768), dt.float32)
    bias = b.input("bias", (768,), dt.float32)
    graph = b.build(outputs={"y": b.op("GeluV2", b.op("Add", x, bias), approximate="none")})
    verify(graph)
    assert [node.op for node in graph.nodes] == ["Add", "GeluV2"]
    assert graph.nodes[1].attr("approximate") == "none"
    assert graph.symbols == (Symbol("batch", 1, 64, 8),)


def test_a_network_with_a_mistake_is_refused():
    b = GraphBuilder("g")
    b.input("x", ("n",), dt.float32)
    with pytest.raises(IrError, match="made twice"):
        b.input("x", ("n",), dt.float32)
    with pytest.raises(IrError, match="which nothing makes"):
        b.build({"y": "z"})


@pytest.fixture
def builder():
    return AscGraphBuilder("k", {"z0": "n", "z1": 8})


def test_repeats_strides_and_dtypes_follow(builder):
    x = builder.load(builder.input("in0", dt.float16), ("n", 8), ("z0", "z1"))
    row = builder.broadcast(builder.load(builder.input("in1", dt.float16), (8,), ("z1",)), "z0")
    less = builder.op("Lt", x, row)
    picked = builder.op("Select", less, x, builder.scalar(0.0, dt.float16), name="picked")
    builder.store(builder.cast(picked, dt.float32), "out", ("n", 8), ("z0", "z1"))
    builder.store(builder.op("Add", builder.size("n + 1"), builder.size("n")), "count", (1,), (0,))
    graph = builder.build()
    verify(graph)
    nodes = {node.name: node for node in graph.nodes}
    assert nodes[less].dtype == dt.bool_
    assert nodes["picked"].dtype == dt.float16
    assert nodes["out"].dtype == dt.float32
    assert nodes["in1"].repeats == (const(1), const(8))
    assert nodes[row].strides == (const(8), const(1))
    assert nodes["count"].repeats == (const(1), const(1))
    assert [nodes[name].attr("index") for name in ("in0", "in1", "out", "count")] == [0, 1, 0, 1]


def test_places_are_axes_constants_or_affine(builder):
    name = builder.load(builder.input("in0", dt.int8), ("n", 40, 3), ("z0", ("z1", -2, "2*n"), 2))
    access = next(node.access for node in builder.build().nodes if node.name == name)
    assert access.dims == (
        AccessDim("z0", const(1), const(0)),
        AccessDim("z1", const(-2), 2 * symbol("n")),
        AccessDim(None, const(0), const(2)),
    )
    assert access.memory == (as_dim("n"), const(40), const(3))


def test_a_kernel_with_a_mistake_is_refused(builder):
    x = builder.load(builder.input("in0", dt.float32), ("n", 8), ("z0", "z1"), "x")
    row = builder.load(builder.input("in1", dt.float32), (8,), ("z1",), "row")
    for make, message in (
        (lambda: builder.op("Gelu", x), "no element-wise AscIR operator"),
        (lambda: builder.op("Cast", x), "no element-wise AscIR operator"),
        (lambda: builder.op("Add", x), "takes 2 inputs, not 1"),
        (lambda: builder.op("Add", x, row), "vary along different axes"),
        (lambda: builder.op("Neg", "nobody"), "no node 'nobody'"),
        (lambda: builder.op("Neg", x, name="row"), "two nodes are called 'row'"),
        (lambda: builder.load("in0", (8,), ("z7",)), "no axis 'z7'"),
        (lambda: builder.load("in0", (8,), ("z0", "z1")), "2 indices for 1 dims"),
    ):
        with pytest.raises(IrError, match=message) as caught:
            make()
        assert caught.value.where == "kernel k"
