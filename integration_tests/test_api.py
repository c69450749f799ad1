"""``autofuse.compile`` on ONNX models: files, bytes and protos; host regions; one compile for all sizes."""

from pathlib import Path

import autofuse
import numpy as np
import onnx
import onnxruntime
import pytest
from autofuse_ir.errors import AutofuseError
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    """relu(x @ w + b) * x.mean over [batch, 8]: a host operator between vector operators."""
    generator = np.random.default_rng(1)
    weights = [
        numpy_helper.from_array(generator.standard_normal((8, 8)).astype(np.float32), "w"),
        numpy_helper.from_array(generator.standard_normal(8).astype(np.float32), "b"),
    ]
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("MatMul", ["square", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["active"]),
        helper.make_node("Mul", ["active", "x"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "block",
        [value("x", TensorProto.FLOAT, ["batch", 8])],
        [value("y", TensorProto.FLOAT, ["batch", 8])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    result: np.ndarray = session.run(None, {"x": x})[0]
    return result


def test_files_bytes_and_protos_are_the_same_model(model: onnx.ModelProto, tmp_path: Path) -> None:
    file = tmp_path / "block.onnx"
    onnx.save(model, file)
    x = np.random.default_rng(2).standard_normal((3, 8)).astype(np.float32)
    wanted = expected(model, x)
    for given in (model, model.SerializeToString(), file, str(file)):
        np.testing.assert_allclose(autofuse.compile(given)(x), wanted, rtol=1e-5, atol=1e-6)


def test_one_compile_serves_host_regions_and_kernels_at_every_size(model: onnx.ModelProto) -> None:
    fn = autofuse.compile(model, dims={"batch": (0, 100)}, hints={"batch": 10})
    for batch in (0, 1, 2, 3, 17, 64, 100):
        x = np.random.default_rng(batch).standard_normal((batch, 8)).astype(np.float32)
        np.testing.assert_allclose(fn(x), expected(model, x), rtol=1e-5, atol=1e-6)
    assert fn.stats.compiles == 1
    assert fn.report.launches == 2
    assert [region.backend for region in fn.report.regions] == ["onnxruntime"]


def test_a_bundle_runs_host_regions_too(model: onnx.ModelProto, tmp_path: Path) -> None:
    autofuse.compile(model).save(tmp_path / "bundle")
    x = np.random.default_rng(5).standard_normal((4, 8)).astype(np.float32)
    np.testing.assert_allclose(autofuse.load(tmp_path / "bundle")(x), expected(model, x), rtol=1e-5, atol=1e-6)


def test_the_interpreter_runs_the_same_model(model: onnx.ModelProto) -> None:
    x = np.random.default_rng(6).standard_normal((4, 8)).astype(np.float32)
    fn = autofuse.compile(model, tier="interpreter")
    np.testing.assert_allclose(fn(x), expected(model, x), rtol=1e-5, atol=1e-6)


def test_verify_passes(model: onnx.ModelProto) -> None:
    assert autofuse.verify(model, samples=3).passed


def test_unknown_dims_and_damaged_files_are_named(model: onnx.ModelProto, tmp_path: Path) -> None:
    with pytest.raises(AutofuseError, match="bach"):
        autofuse.compile(model, dims={"bach": 3})
    file = tmp_path / "cut.onnx"
    file.write_bytes(model.SerializeToString()[:100])
    with pytest.raises(AutofuseError, match=r"cut\.onnx"):
        autofuse.compile(file)
