"""Which operators stand for a node, by operator set version."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import check_node, has_operator
from autofuse_onnx.frontend import import_model
from autofuse_onnx.mappings.table import RULES
from autofuse_onnx.tensors import to_array
from onnx import TensorProto, helper

Imported = Callable[..., Graph]
F = "float[N, M] x"

ROWS: list[tuple[str, int, str, list[str], dict[str, object]]] = [
    # text, version, operators, attributes of the last one
    (f"g ({F}) => (y) {{ y = Softmax(x) }}", 12, ["SoftmaxV2"], {"axes": (1,)}),
    (f"g ({F}) => (y) {{ y = Softmax <axis=0> (x) }}", 11, ["SoftmaxV2"], {"axes": (0, 1)}),
    (f"g ({F}) => (y) {{ y = Softmax <axis=0> (x) }}", 13, ["SoftmaxV2"], {"axes": (0,)}),
    (f"g ({F}) => (y) {{ y = LogSoftmax <axis=-1> (x) }}", 11, ["LogSoftmaxV2"], {"axes": (1,)}),
    (f"g ({F}) => (y) {{ y = Hardmax <axis=0> (x) }}", 11, ["Flatten", "HardMax", "Shape", "Reshape"], {}),
    (f"g ({F}) => (y) {{ y = Hardmax (x) }}", 13, ["HardMax"], {"axis": -1}),
    (f"g ({F}) => (y) {{ y = Clip <min=0.0, max=6.0> (x) }}", 7, ["Clip"], {}),
    (f"g ({F}) => (y) {{ y = Squeeze <axes=[0]> (x) }}", 11, ["Squeeze"], {"axis": (0,)}),
    (f"g ({F}, int64[1] a) => (y) {{ y = Squeeze (x, a) }}", 13, ["SqueezeV3"], {}),
    (f"g ({F}) => (y) {{ y = Unsqueeze <axes=[0, -1]> (x) }}", 11, ["Unsqueeze"], {"axes": (0, -1)}),
    (f"g ({F}) => (y) {{ y = Transpose (x) }}", 13, ["TransposeD"], {"perm": (1, 0)}),
    (f"g ({F}) => (y) {{ y = ReduceSum <axes=[1], keepdims=0> (x) }}", 11, ["ReduceSum"],
     {"keep_dims": False, "noop_with_empty_axes": False}),
    (f"g ({F}, int64[k] a) => (y) {{ y = ReduceSum <noop_with_empty_axes=1> (x, a) }}", 13, ["ReduceSum"],
     {"keep_dims": True, "noop_with_empty_axes": True}),
    (f"g ({F}, int64[k] a) => (y) {{ y = ReduceL2 (x, a) }}", 18, ["Square", "ReduceSum", "Sqrt"], {}),
    (f"g ({F}) => (y) {{ y = ReduceL2 <axes=[1]> (x) }}", 13, ["LpNormV2"], {"p": 2.0, "axes": (1,), "keepdim": True}),
    (f"g ({F}) => (v, i) {{ v, i = TopK <k=3, axis=0> (x) }}", 9, ["TopK"], {"axis": 0}),
    (f"g ({F}) => (a, b) {{ a, b = Split <axis=1, split=[2, 3]> (x) }}", 11, ["SplitVD"], {"size_splits": (2, 3)}),
    (f"g ({F}) => (a, b) {{ a, b = Split (x) }}", 13, ["SplitD"], {"num_split": 2}),
    (f"g ({F}, int64[2] s) => (a, b) {{ a, b = Split <axis=1> (x, s) }}", 13, ["SplitV"], {"num_split": 2}),
    ("g (float[7] x) => (a, b) { a, b = Split <num_outputs=2> (x) }", 18, ["SplitVD"], {"size_splits": (4, 3)}),
    ("g (float[8] x) => (a, b) { a, b = Split <num_outputs=2> (x) }", 18, ["SplitD"], {"num_split": 2}),
    (f"g ({F}) => (a, b) {{ a, b = Split <num_outputs=2> (x) }}", 18,
     ["Shape", "Add", "Div", "Mul", "Sub", "ConcatV2D", "SplitV"], {"num_split": 2}),
    (f"g ({F}) => (y) {{ y = Slice <starts=[1], ends=[9]> (x) }}", 9, ["StridedSliceV3"], {}),
    (f"g ({F}) => (y) {{ y = Pad <pads=[0, 1, 0, 1], mode=\"edge\"> (x) }}", 10, ["PadV3"],
     {"mode": "edge", "paddings_contiguous": False}),
    (f"g ({F}, int64[2] p) => (y) <int64[1] a = {{1}}> {{ y = Pad <mode=\"wrap\"> (x, p, , a) }}", 19,
     ["ConcatV2D", "GatherV2", "PadV3"], {"mode": "circular"}),
    ("g (int64[N] x, int64[N] z) => (y) { y = Div(x, z) }", 14, ["Div"], {}),
    (f"g ({F}, {F.replace('x', 'z')}) => (y) {{ y = Div(x, z) }}", 14, ["RealDiv"], {}),
    ("g (int64[N] x, int64[N] z) => (y) { y = Mod(x, z) }", 13, ["FloorMod"], {}),
    ("g (int64[N] x, int64[N] z) => (y) { y = Mod <fmod=1> (x, z) }", 13, ["Mod"], {}),
    ("g (int32[N] x, float[N] z) => (y) { y = Pow(x, z) }", 15, ["Pow", "Cast"], {"dst_type": 3}),
    ("g (float[N] x, int64[N] z) => (y) { y = Pow(x, z) }", 15, ["Pow"], {}),
    (f"g ({F}) => (y) {{ y = Max(x, x, x) }}", 13, ["Maximum", "Maximum"], {}),
    (f"g ({F}) => (y) {{ y = Min(x) }}", 13, ["Identity"], {}),
    (f"g ({F}) => (y) {{ y = Sum(x, x) }}", 13, ["AddN"], {"N": 2}),
    (f"g ({F}) => (y) {{ y = Mean(x, x, x) }}", 13, ["AddN", "RealDiv"], {}),
    (f"g ({F}) => (y) {{ y = Cast <to=10> (x) }}", 19, ["Cast"], {"dst_type": 1}),
    (f"g ({F}) => (y) {{ y = Cast <to=17> (x) }}", 19, ["HostCall"], {"operator": "Cast"}),
    (f"g ({F}) => (y) {{ y = Dropout(x) }}", 13, ["Identity"], {}),
    (f"g ({F}) => (y, m) {{ y, m = Dropout(x) }}", 13, ["Identity", "Shape", "Fill"], {}),
    (f"g ({F}) => (y) {{ y, m = Dropout(x) }}", 9, ["Identity"], {}),
    (f"g ({F}, float r, bool t) => (y) {{ y = Dropout(x, r, t) }}", 13, ["HostCall"], {}),
    ("g (float[N, 4] x, float[4] w, float[4] b) => (y) { y = LayerNormalization(x, w, b) }", 17, ["LayerNormV4"], {}),
    ("g (float[N, M] x, float[M] w) => (y) { y = LayerNormalization(x, w) }", 17, ["Shape", "LayerNormV4"], {}),
    ("g (float[N, M] x, float[K] w) => (y) { y = LayerNormalization(x, w) }", 17,
     ["Shape", "LayerNormV4", "BroadcastTo", "Mul"], {}),
    ("g (float[N, 4] x, float[4] w) => (y) { y = RMSNormalization(x, w) }", 23, ["RmsNorm"], {}),
    ("g (float[N, M] x, float[K] w) => (y) { y = RMSNormalization(x, w) }", 23,
     ["Shape", "BroadcastTo", "RmsNorm"], {}),
    ("g (string[N] x, string[N] z) => (y) { y = Equal(x, z) }", 19, ["HostCall"], {"operator": "Equal"}),
    (f"g ({F}) => (y) {{ y = com.microsoft.Gelu(x) }}", 17, ["HostCall"], {"operator": "com.microsoft::Gelu"}),
    (f"g ({F}) => (y) {{ y = NoSuchOperator(x) }}", 17, ["HostCall"], {"operator": "NoSuchOperator"}),
    (f"g ({F}) => (y) {{ y = Add <broadcast=1> (x, x) }}", 6, ["HostCall"], {"operator": "Add"}),
    (f"g ({F}) => (y) {{ y = Relu(x) }}", 6, ["Relu"], {}),
    (f"g ({F}) => (y) {{ y = Cast(x) }}", 17, ["HostCall"], {"operator": "Cast"}),
    ("g (int64 size) => (y) { y = HannWindow(size) }", 17, [], {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "opset", "ops", "attrs"), ROWS, ids=[f"{r[1]}-{r[0].split('{')[1]}" for r in ROWS])
def test_each_version_of_an_operator_has_its_mapping(
    imported: Imported, text: str, opset: int, ops: list[str], attrs: dict[str, object]
) -> None:
    graph = imported(text, opset)
    if ops:
        assert [node.op for node in graph.nodes] == ops
        last = graph.nodes[-1]
        assert {name: last.attr(name) for name in attrs} == attrs
    else:
        assert len(graph.nodes) > 5, "the body of the function replaces it"
        assert "HostCall" not in {node.op for node in graph.nodes}


def _constant(graph: Graph, node: Node, i: int) -> list[float]:
    name = node.inputs[i]
    return next(to_array(c.data) for c in graph.constants if c.name == name).tolist()


def test_attributes_of_old_versions_become_constants(imported: Imported) -> None:
    graph = imported(f"g ({F}) => (y) {{ y = Clip <min=-1.0> (x) }}", 7)
    assert graph.nodes[0].inputs[0] == "x"
    assert len(graph.nodes[0].inputs) == 2
    assert _constant(graph, graph.nodes[0], 1) == -1.0
    graph = imported(f"g ({F}) => (y) {{ y = Slice <starts=[1, -2], ends=[5, 9], axes=[1, 0]> (x) }}", 9)
    assert [_constant(graph, graph.nodes[0], i) for i in (1, 2, 3)] == [[1, -2], [5, 9], [1, 0]]


def test_pads_for_some_axes_are_spread_to_all(imported: Imported) -> None:
    text = f"g ({F}) => (y) <int64[2] p = {{3, 4}}, int64[1] a = {{-1}}> {{ y = Pad(x, p, , a) }}"
    graph = imported(text, 18)
    assert _constant(graph, graph.nodes[0], 1) == [0, 3, 0, 4]


def test_constants_of_every_form_are_constants(imported: Imported) -> None:
    text = f"""g ({F}) => (a, b, c, d) {{
        a = Constant <value_float = 1.5> () b = Constant <value_ints = [1, 2]> ()
        c = Constant <value = float[2] {{3, 4}}> () d = Constant <value_int = 7> () }}"""
    graph = imported(text, 17)
    assert graph.nodes == ()
    contents = {c.name: (c.data.dtype.name, to_array(c.data).tolist()) for c in graph.constants}
    assert contents == {
        "a": ("float32", 1.5),
        "b": ("int64", [1, 2]),
        "c": ("float32", [3.0, 4.0]),
        "d": ("int64", 7),
    }


def test_control_flow_lists_the_values_it_captures(imported: Imported) -> None:
    text = f"""g ({F}, bool c, float[N, M] z) => (y) {{
        w = Neg(z)
        y = If (c) <then_branch = t () => (u) {{ u = Add(x, w) }}, else_branch = e () => (v) {{ v = Identity(w) }}>
    }}"""
    graph = imported(text, 17)
    assert [(node.op, node.inputs) for node in graph.nodes] == [("Neg", ("z",)), ("If", ("c", "x", "w"))]
    assert [str(value.dtype) for value in graph.declared] == ["f32"]


def test_captured_values_never_take_the_place_of_a_missing_input(imported: Imported) -> None:
    text = """g (int64 m, float[2] x, float[2] z) => (y) {
        y = Loop (m, , x) <body = b (int64 i, bool go, float[2] s) => (again, t) {
            again = Identity(go) t = Add(s, z) }>
    }"""
    graph = imported(text, 17)
    assert graph.nodes[0].inputs == ("m", None, "x", "z")


def test_functions_of_the_model_are_inlined(imported: Imported) -> None:
    function = helper.make_function(
        "own",
        "Scaled",
        ["a"],
        ["b"],
        [helper.make_node("Mul", ["a", "a"], ["t"]), helper.make_node("Neg", ["t"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Scaled", ["x"], ["y"], domain="own")], "g", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=[function])
    assert [node.op for node in import_model(model).nodes] == ["Mul", "Neg"]


def test_strings_rare_types_and_sparse_constants_become_host_operators() -> None:
    y = helper.make_tensor_value_info("y", TensorProto.STRING, [2])
    text = helper.make_tensor("y", TensorProto.STRING, [2], [b"a", b"b"])
    graph = import_model(helper.make_model(helper.make_graph([], "g", [], [y], [text])))
    assert [(node.op, node.inputs, node.outputs) for node in graph.nodes] == [("HostCall", (), ("y",))]


def test_every_node_fits_the_operator_table(imported: Imported) -> None:
    for text, opset, _, _ in ROWS:
        graph = imported(text, opset)
        for node in graph.nodes:
            assert has_operator(node.op)
            assert check_node(node, [None] * len(node.inputs)) == ()


def test_every_rule_is_for_an_operator_that_onnx_has() -> None:
    known = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if schema.domain == ""}
    newest = onnx.defs.onnx_opset_version()
    unknown_yet = {name for name, since in {"BitCast": 26, "CumProd": 26}.items() if since > newest}
    assert set(RULES) - unknown_yet <= known


def test_the_same_model_always_gives_the_same_graph(imported: Imported) -> None:
    for text, opset, _, _ in ROWS:
        assert imported(text, opset) == imported(text, opset)


def test_scalars_are_rounded_to_the_dtype_of_the_input(imported: Imported) -> None:
    graph = imported("g (float16[N] x) => (y) { y = Mean(x, x, x) }", 13)
    constant = graph.constants[0]
    assert constant.data.dtype.name == "float16"
    assert to_array(constant.data) == np.float16(3)
