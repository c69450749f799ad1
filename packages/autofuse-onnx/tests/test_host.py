"""Host regions run in ONNX Runtime and give what the whole model gives."""

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from attrs import evolve
from autofuse_ir.graph import Graph, Node
from autofuse_ir.program import ProgramRegion
from autofuse_onnx.errors import OnnxError, OnnxRuntimeMissingError
from autofuse_onnx.frontend import import_model
from autofuse_onnx.host import OnnxRuntimeBackend

Imported = Callable[..., Graph]
Run = Callable[..., list[Any]]
Parse = Callable[[str, int], onnx.ModelProto]

DECOMPOSED = """g (float[N, 6] x, float[6] w, int64[1] a) => (y, h, m, d, s) {
    y = LayerNormalization (x, w)
    h, t = Split <axis = 1, num_outputs = 2> (x)
    m = Max (x, w, y)
    d = Mean (x, m, x)
    s = ReduceL2 (x, a)
}"""


@pytest.mark.parametrize("as_constants", [False, True])
def test_decompositions_run_as_the_node_they_stand_for(
    parse: Parse, run_on_host: Run, run_whole: Run, as_constants: bool
) -> None:
    model = parse(DECOMPOSED, 18)
    rng = np.random.default_rng(0)
    for rows in (0, 1, 3):
        values = {
            "x": rng.standard_normal((rows, 6)).astype(np.float32),
            "w": rng.standard_normal(6).astype(np.float32),
            "a": np.asarray([1]),
        }
        ours = run_on_host(import_model(model), values, as_constants=as_constants)
        for got, want in zip(ours, run_whole(model, values), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
            assert got.dtype == want.dtype


def test_control_flow_sees_the_values_it_captures(imported: Imported, run_on_host: Run) -> None:
    text = """g (int64 m, float[2] x, float[2] z) => (y) {
        two = Constant <value_float = 2.0> ()
        y = Loop (m, , x) <body = b (int64 i, bool go, float[2] s) => (again, t) {
            again = Identity(go) z2 = Mul(z, two) t = Add(s, z2) }>
    }"""
    values = {"m": np.asarray(3), "x": np.float32([1, 2]), "z": np.float32([10, 20])}
    (y,) = run_on_host(imported(text, 17), values)
    assert y.tolist() == [61, 122]


def test_sequences_optional_values_and_strings_pass_as_python_objects(imported: Imported, run_on_host: Run) -> None:
    graph = imported("g (seq(float[n]) s, float[n] x) => (t, c) { t = SequenceInsert(s, x) c = SequenceLength(t) }", 17)
    result, count = run_on_host(graph, {"s": [np.float32([1])], "x": np.float32([2, 3])})
    assert [part.tolist() for part in result] == [[1], [2, 3]]
    assert count == 2
    graph = imported("g (optional(float[n]) x) => (has) { has = OptionalHasElement(x) }", 18)
    assert not run_on_host(graph, {"x": None})[0]
    graph = imported("g (string[n] x) => (y, z) { y = Identity(x) z = Equal(x, y) }", 19)
    y, z = run_on_host(graph, {"x": np.asarray(["a", "bc"], object)})
    assert y.tolist() == ["a", "bc"]
    assert z.tolist() == [True, True]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_that_numpy_lacks_pass_bit_by_bit(imported: Imported, run_on_host: Run, name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    text = f"g ({name.replace('_', '')}[n] x) => (y, f) {{ y = Identity(x) f = Cast<to=1>(x) }}"
    x = np.asarray([0.5, -1.75, 3], np.float32).astype(dtype)
    for values in (x, x[:0]):
        y, f = run_on_host(imported(text, 19), {"x": values})
        assert y.dtype == dtype
        assert y.tobytes() == values.tobytes()
        np.testing.assert_array_equal(f, values.astype(np.float32))


def test_inputs_of_any_strides_are_read_and_never_written(imported: Imported, run_on_host: Run) -> None:
    graph = imported("g (float[n, m] x) => (y) { y = Neg(x) }", 17)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (x.T, x[::-1, ::2], np.broadcast_to(x[0], (3, 4))):
        before = view.copy()
        np.testing.assert_array_equal(run_on_host(graph, {"x": view})[0], -before)
        np.testing.assert_array_equal(view, before)


def test_newest_operator_versions_run_as_older_ones_that_mean_the_same(imported: Imported, run_on_host: Run) -> None:
    newest = onnx.defs.onnx_opset_version()
    graph = imported("g (float[n] x) => (y) { t = Cast<to=7>(x) u = Cast<to=1>(t) y = Relu(u) }", newest)
    assert run_on_host(graph, {"x": np.float32([-1.5, 2.5])})[0].tolist() == [0, 2]


def test_small_constants_are_part_of_the_session(imported: Imported) -> None:
    text = "g (float[n, 8] x) => (y) <int64[2] sizes = {-1, 2}> { y = Reshape (x, sizes) }"
    graph = imported(text, 17)
    assert [constant.name for constant in graph.constants] == ["sizes"]
    region = ProgramRegion("r", "onnxruntime", ("x", "sizes"), ("y",), graph.nodes)
    call = OnnxRuntimeBackend().compile(region, {p.name: p for p in graph.payloads})
    (y,) = call([np.zeros((3, 8), np.float32), None])
    assert y.shape == (12, 2)


def test_an_output_may_be_an_input(imported: Imported) -> None:
    graph = imported("g (float[n] x) => (y) { y = Neg(x) }", 17)
    region = ProgramRegion("r", "onnxruntime", ("x", "k"), ("y", "k", "y"), graph.nodes)
    call = OnnxRuntimeBackend().compile(region, {p.name: p for p in graph.payloads})
    kept = object()
    y, k, again = call([np.float32([1]), kept])
    assert (y.tolist(), again.tolist()) == ([-1], [-1])
    assert k is kept


def test_what_onnxruntime_does_not_have_is_named(imported: Imported, run_on_host: Run) -> None:
    graph = imported("g (float[n] x) => (y) { y = com.microsoft.NoSuchThing(x) }", 17)
    with pytest.raises(OnnxError, match=r"host region r: ONNX Runtime .* cannot run com\.microsoft::NoSuchThing"):
        run_on_host(graph, {"x": np.zeros(1, np.float32)})


def test_operators_without_a_payload_are_named() -> None:
    node = Node("n", "AddN", ("x", "x"), ("y",), source="graph g, node n")
    region = ProgramRegion("r", "onnxruntime", ("x",), ("y",), (node,))
    with pytest.raises(OnnxError, match="operator AddN does not come from an ONNX model") as error:
        OnnxRuntimeBackend().compile(region, {})
    assert "graph g, node n" in error.value.where


def test_damaged_payloads_are_refused(imported: Imported) -> None:
    graph = imported("g (float[n] x) => (y) { y = Neg(x) }", 17)
    (payload,) = graph.payloads
    broken = evolve(payload, data=evolve(payload.data, shape=(3,), raw=b"\xff\xff\xff"))
    region = ProgramRegion("r", "onnxruntime", ("x",), ("y",), graph.nodes)
    with pytest.raises(OnnxError, match="its payload is damaged"):
        OnnxRuntimeBackend().compile(region, {payload.name: broken})


def test_failing_calls_name_the_region_and_its_operators(imported: Imported, run_on_host: Run) -> None:
    graph = imported("g (float[n] x, int64[k] s) => (y) { y = Reshape(x, s) }", 17)
    with pytest.raises(OnnxError, match="host region r: ONNX Runtime refused to run it") as error:
        run_on_host(graph, {"x": np.zeros(6, np.float32), "s": np.asarray([4, 4])})
    assert "Reshape" in error.value.fix
    assert "refused to run it: Reshape " in error.value.what
    assert "ONNXRuntimeError" not in error.value.what
    assert "status code" not in error.value.what


def test_without_onnxruntime_the_error_names_the_extra(
    imported: Imported, run_on_host: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = imported("g (float[n] x) => (y) { y = Neg(x) }", 17)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(OnnxRuntimeMissingError) as error:
        run_on_host(graph, {"x": np.zeros(1, np.float32)})
    assert error.value.exit_code == 3
    assert "autofuse-onnx[onnx]" in error.value.fix


def test_sub_graphs_with_names_like_ours_keep_them_apart(imported: Imported, run_on_host: Run) -> None:
    text = """g (bool c, float[2] v2, float[2] v1) => (y) {
        v0 = Neg(v1)
        y = If (c) <then_branch = t () => (v3) { v4 = Add(v0, v2) v3 = Mul(v4, v1) },
                    else_branch = e () => (v5) { v5 = Identity(v2) }>
    }"""
    values = {"v1": np.float32([1, 2]), "v2": np.float32([10, 20])}
    assert run_on_host(imported(text, 17), values | {"c": np.asarray(True)})[0].tolist() == [9, 36]
    assert run_on_host(imported(text, 17), values | {"c": np.asarray(False)})[0].tolist() == [10, 20]
