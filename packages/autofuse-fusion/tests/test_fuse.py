"""Whole graphs: what shares a kernel, and that nothing changes."""

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import AscBackend, ViewNode
from autofuse_ir.tensor_data import TensorData


def test_bias_and_gelu_become_one_kernel(kit) -> None:
    b = GraphBuilder("bias_gelu")
    x = b.input("x", ("batch", 768), dt.float32)
    bias = b.input("bias", (768,), dt.float32)
    graph = b.build(outputs={"y": b.op("GeluV2", b.op("Add", x, bias), approximate="none")})
    rng = np.random.default_rng(0)
    fused = kit.check(
        graph, {"x": rng.standard_normal((5, 768), np.float32), "bias": rng.standard_normal(768, np.float32)}
    )
    (kernel,) = kit.kernels(fused)
    assert kernel.operators == ("Add_0", "GeluV2_1")
    assert [str(axis.size) for axis in kernel.graph.axes] == ["batch", "768"]
    loads = [node for node in kernel.graph.nodes if node.op == "Load"]
    assert [tuple(map(str, node.repeats)) for node in loads] == [("batch", "768"), ("1", "768")]


def test_undecided_broadcast_is_one_kernel_for_every_combination(kit) -> None:
    b = GraphBuilder("dynamic")
    x = b.input("x", ("b", "s"), dt.float32)
    y = b.input("y", ("d",), dt.float32)
    graph = b.build(outputs={"z": b.op("Exp", b.op("Mul", b.op("Abs", x), b.op("Neg", y)))})
    for s, d in ((1, 2), (2, 1), (3, 3), (0, 1), (1, 0), (1, 1)):
        arrays = {"x": np.arange(2.0 * s, dtype=np.float32).reshape(2, s), "y": np.arange(1.0 * d, dtype=np.float32)}
        fused = kit.check(graph, arrays)
        assert len(kit.kernels(fused)) == 1


def test_reshape_between_element_wise_operators_moves_nothing(kit) -> None:
    b = GraphBuilder("reshape")
    x = b.input("x", ("n", "m"), dt.float32)
    shape = b.constant(_ints([-1, 4]))
    y = b.op("Exp", b.op("Reshape", b.op("Abs", x), shape))
    fused = kit.check(b.build(outputs={"y": y}), {"x": np.ones((6, 8), np.float32)})
    assert len(fused.nodes) == 1


def test_view_of_a_graph_input_is_a_view(kit) -> None:
    b = GraphBuilder("view")
    x = b.input("x", ("n", 8), dt.float32)
    fused = kit.check(b.build(outputs={"y": b.op("Reshape", x, b.constant(_ints([-1])))}), {"x": np.ones((3, 8), "f4")})
    assert [type(node) for node in fused.nodes] == [ViewNode]


def test_bits_read_as_another_dtype_move_nothing(kit) -> None:
    b = GraphBuilder("bits")
    x = b.input("x", ("n", 8), dt.float32)
    bits = b.op("Bitcast", b.op("Abs", x), type=dt.int32)
    fused = kit.fuse(b.build(outputs={"y": b.op("Invert", bits), "b": bits}))
    assert [type(node) for node in fused.nodes] == [AscBackend, ViewNode, AscBackend]


def _ints(values: list[int]) -> TensorData:
    return TensorData(dt.int64, (len(values),), np.asarray(values, np.int64).tobytes())
