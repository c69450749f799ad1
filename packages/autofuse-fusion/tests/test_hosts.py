"""Host regions: convex, as large as the data allows, one backend each; views and sizes around them."""

import numpy as np
import pytest
from autofuse_fusion.errors import FusionError
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import AscBackend, HostRegion, Reason, SizesNode, ViewNode
from autofuse_ir.graph import Attr, Node, Payload
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_tensor_data


def regions(fused) -> list[HostRegion]:  # type: ignore[no-untyped-def]
    return [node for node in fused.nodes if isinstance(node, HostRegion)]


def names(region: HostRegion) -> list[str]:
    return [node.name for node in region.operators]


def test_neighbours_share_a_region_and_a_kernel_between_splits_it(kit) -> None:
    b = GraphBuilder("regions")
    x = b.input("x", ("n", 4), dt.float32)
    first = b.op("Lgamma", b.op("Lgamma", x, name="s0"), name="s1")
    second = b.op("Lgamma", b.op("Exp", first, name="e"), name="s2")
    both = b.op("Lgamma", b.op("MatMul", first, second, name="c", transpose_x2=True), name="s3")
    fused = kit.check(b.build(outputs={"y": both}), {"x": np.ones((3, 4), np.float32)})
    assert [names(region) for region in regions(fused)] == [["s0", "s1"], ["s2", "c", "s3"]]
    assert [r.reason for r in regions(fused)[1].reasons] == [Reason.HOST_OPERATOR] * 3


def test_a_path_through_a_kernel_keeps_two_host_operators_apart(kit) -> None:
    b = GraphBuilder("convex")
    x = b.input("x", ("n", 4), dt.float32)
    early = b.op("Lgamma", x, name="early")
    late = b.op("Lgamma", b.op("Add", early, b.op("Exp", early)), name="late")
    fused = kit.check(
        b.build(outputs={"y": late, "z": b.op("Lgamma", early, name="side")}), {"x": np.ones((2, 4), "f4")}
    )
    assert [names(region) for region in regions(fused)] == [["early", "side"], ["late"]]


def test_fusing_around_a_host_operator_makes_no_cycle(kit) -> None:
    b = GraphBuilder("cycle")
    x = b.input("x", ("n", 4), dt.float32)
    e = b.op("Exp", x, name="e")
    y = b.op("Add", e, b.op("Lgamma", e, name="s"), name="a")
    fused = kit.check(b.build(outputs={"y": y}), {"x": np.ones((2, 4), np.float32)})
    assert [type(node) for node in fused.nodes] == [AscBackend, HostRegion, AscBackend]
    found = {(r.first, r.second): r.reason for r in fused.refusals}
    assert found[("e", "a")] is Reason.WOULD_MAKE_CYCLE
    assert found[("e", "s")] is Reason.HOST_OPERATOR


def test_payloads_run_in_onnxruntime_and_the_rest_on_the_reference(kit) -> None:
    b = GraphBuilder("backends")
    x = b.input("x", ("n", 4), dt.float32)
    payload = b.payload(Payload("p", "onnx.NodeProto", TensorData(dt.uint8, (1,), b"\0")))
    b.node(Node("conv", "Lgamma", (x,), ("c",), (), "model.onnx, node conv", payload))
    fused = kit.fuse(b.build(outputs={"y": b.op("Lgamma", "c", name="plain")}))
    assert [(region.backend, names(region)) for region in regions(fused)] == [
        ("onnxruntime", ["conv"]),
        ("reference", ["plain"]),
    ]
    assert [p.name for p in fused.payloads] == ["p"]


def test_an_operator_that_nothing_can_run_is_named(kit) -> None:
    b = GraphBuilder("lost")
    x = b.input("x", ("n", 4), dt.float32)
    b.node(Node("det", "Det", (x,), ("y",), (), "model.onnx, node /det"))
    with pytest.raises(FusionError, match=r"model\.onnx, node /det") as caught:
        kit.fuse(b.build(outputs={"y": "y"}))
    assert "Det" in str(caught.value)
    assert caught.value.fix


def test_known_sizes_run_nowhere(kit) -> None:
    b = GraphBuilder("sizes")
    x = b.input("x", ("n", "m"), dt.float32)
    shape = b.op("Shape", x)
    half = b.op("Cast", b.op("Gather", shape, b.constant(_ints(0))), dst_type=dt.float32.ascend_code)
    graph = b.build(outputs={"s": shape, "y": b.op("Mul", x, half)})
    fused = kit.check(graph, {"x": np.ones((3, 2), np.float32)})
    assert [type(node) for node in fused.nodes].count(HostRegion) == 0
    (sizes,) = [node for node in fused.nodes if isinstance(node, SizesNode)]
    assert [str(element) for element in sizes.elements] == ["n", "m"]
    (kernel,) = kit.kernels(fused)
    assert kernel.inputs == ("x",)
    assert [str(n.attr("expression")) for n in kernel.graph.nodes if n.op == "IndexExpr"] == ["n"]


def test_reshape_in_front_of_a_host_operator_is_a_view(kit) -> None:
    b = GraphBuilder("view")
    x = b.input("x", ("n", 8), dt.float32)
    flat = b.op("Reshape", b.op("Exp", x), b.constant(to_tensor_data(np.asarray([-1, 4], np.int64))), name="r")
    fused = kit.check(b.build(outputs={"y": b.op("Lgamma", flat)}), {"x": np.ones((3, 8), np.float32)})
    assert [type(node) for node in fused.nodes] == [AscBackend, ViewNode, HostRegion]
    assert kit.kernels(fused)[0].operators == ("Exp_0",)


def test_sizes_of_data_dependent_results_wait_for_them(kit) -> None:
    b = GraphBuilder("unbacked")
    x = b.input("x", ("n",), dt.float32)
    found = b.op("NonZero", x, name="found")
    like = b.op("Shape", found, name="shape")
    filled = b.op("Fill", like, b.constant(to_tensor_data(np.asarray(2.5, np.float32))))
    fused = kit.fuse(b.build(outputs={"y": b.op("Neg", filled), "s": like}))
    kinds = [type(node) for node in fused.nodes]
    assert kinds[0] is HostRegion
    assert sorted(kind.__name__ for kind in kinds[1:]) == ["AscBackend", "SizesNode"]


def _ints(value: int) -> TensorData:
    return to_tensor_data(np.asarray(value, np.int64))


def test_opaque_values_stay_on_the_host(kit) -> None:
    b = GraphBuilder("opaque")
    x = b.input("x", ("n",), dt.opaque)
    payload = b.payload(Payload("p", "onnx.NodeProto", TensorData(dt.uint8, (1,), b"\0")))
    shape = b.constant(to_tensor_data(np.asarray([1, -1], np.int64)))
    b.node(Node("r", "Reshape", (x, shape), ("r",), (), "", payload))
    b.node(Node("c", "StringConcat", ("r", "r"), ("c",), (), "", payload))
    (region,) = regions(kit.fuse(b.build(outputs={"y": "c"})))
    assert [r.reason for r in region.reasons] == [Reason.DTYPE_NOT_SUPPORTED, Reason.HOST_OPERATOR]


def test_a_view_between_host_operators_stays_with_them(kit) -> None:
    b = GraphBuilder("inside")
    x = b.input("x", ("n", 4), dt.float32)
    turned = b.op("Reshape", b.op("Lgamma", x), b.constant(to_tensor_data(np.asarray([4, -1], np.int64))), name="r")
    fused = kit.check(b.build(outputs={"y": b.op("Lgamma", turned)}), {"x": np.ones((3, 4), np.float32)})
    (region,) = fused.nodes
    assert isinstance(region, HostRegion)
    assert {r.operator: r.reason for r in region.reasons}["r"] is Reason.NO_BENEFIT
    shared = b.build(outputs={"y": b.op("Lgamma", turned, name="s"), "z": turned})
    assert [type(node) for node in kit.fuse(shared).nodes] == [HostRegion, ViewNode, HostRegion]


def between_hosts(op: str = "TransposeD", inputs: tuple[str, ...] = (), **attrs: object) -> GraphBuilder:
    """A host operator, a node that ONNX Runtime could run as well, and a host operator behind it."""
    b = GraphBuilder("between")
    payload = b.payload(Payload("p", "onnx.NodeProto", TensorData(dt.uint8, (1,), b"\0")))
    x = b.input("x", (4, 4), dt.float32)
    listed = tuple(Attr(name, value) for name, value in attrs.items())
    b.node(Node("first", "Lgamma", (x,), ("a",), (), "", payload))
    b.node(Node("moved", op, ("a", *inputs), ("b",), listed, "", payload))
    b.node(Node("last", "Lgamma", ("b",), ("c",), (), "", payload))
    return b


X44 = {"x": np.linspace(0.5, 3, 16, dtype=np.float32).reshape(4, 4)}


def test_what_only_moves_between_host_operators_stays_with_them(kit) -> None:
    fused = kit.check(between_hosts(perm=(1, 0)).build(outputs={"y": "c"}), X44)
    (region,) = fused.nodes
    assert isinstance(region, HostRegion)
    assert names(region) == ["first", "moved", "last"]
    assert {r.operator: r.reason for r in region.reasons}["moved"] is Reason.NO_BENEFIT


def test_a_chain_of_moves_stays_as_a_whole(kit) -> None:
    b = between_hosts(perm=(1, 0))
    payload = b.payload(Payload("q", "onnx.NodeProto", TensorData(dt.uint8, (1,), b"\0")))
    b.node(Node("cut", "SliceD", ("b",), ("d",), (Attr("offsets", (1, 0)), Attr("size", (2, 4))), "", payload))
    b.node(Node("end", "Lgamma", ("d",), ("e",), (), "", payload))
    (region,) = kit.check(b.build(outputs={"y": "c", "z": "e"}), X44).nodes
    assert isinstance(region, HostRegion)


def test_a_move_that_a_kernel_could_take_over_is_in_the_kernel(kit) -> None:
    """Something else reads it, it is a result, something else made it, it computes, or it may have no result."""
    readers = between_hosts(perm=(1, 0))
    graphs = [readers.build(outputs={"y": "c", "z": readers.op("Exp", "b")})]
    graphs.append(between_hosts(perm=(1, 0)).build(outputs={"y": "c", "z": "b"}))
    made = GraphBuilder("made")
    payload = made.payload(Payload("p", "onnx.NodeProto", TensorData(dt.uint8, (1,), b"\0")))
    e = made.op("Exp", made.input("x", (4, 4), dt.float32))
    made.node(Node("moved", "TransposeD", (e,), ("b",), (Attr("perm", (1, 0)),), "", payload))
    made.node(Node("last", "Lgamma", ("b",), ("c",), (), "", payload))
    graphs.append(made.build(outputs={"y": "c"}))
    graphs.append(between_hosts("Exp").build(outputs={"y": "c"}))
    gathered = between_hosts("GatherElements", ("i",), dim=1)
    gathered.input("i", (4, 4), dt.int64)
    graphs.append(gathered.build(outputs={"y": "c"}))
    for graph in graphs:
        arrays = X44 | ({"i": np.zeros((4, 4), np.int64)} if len(graph.inputs) == 2 else {})
        fused = kit.check(graph, arrays)
        kernels = [name for kernel in kit.kernels(fused) for name in kernel.operators]
        assert "moved" in kernels
    assert kit.kernels(kit.fuse(between_hosts(perm=(1, 0)).build(outputs={"y": "c"}), enable=False))
