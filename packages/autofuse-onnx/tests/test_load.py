"""Models that cannot be read end in one clear paragraph."""

import contextlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from autofuse_ir.errors import AutofuseError
from autofuse_onnx.errors import OnnxError
from autofuse_onnx.frontend import import_model
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper


def _scale_model(weight: onnx.TensorProto) -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"], "scale")], "g", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _external(location: str, **entries: str) -> onnx.TensorProto:
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        weight.external_data.add(key=key, value=value)
    return weight


def _weight() -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")


def test_file_bytes_and_proto_give_the_same_graph(tmp_path: Path) -> None:
    model = _scale_model(_weight())
    path = tmp_path / "scale.onnx"
    onnx.save(model, path)
    graphs = [import_model(source) for source in (path, str(path), path.read_bytes(), model)]
    assert graphs[0].name == "scale.onnx"
    assert {(g.inputs, g.outputs, g.constants, g.symbols) for g in graphs} == {
        (graphs[0].inputs, graphs[0].outputs, graphs[0].constants, graphs[0].symbols)
    }
    assert [node.op for node in graphs[0].nodes] == ["Mul"]
    assert graphs[0].nodes[0].source == "scale.onnx, node scale"


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(OnnxError, match=r"no\.onnx: there is no such file"):
        import_model(tmp_path / "no.onnx")


@pytest.mark.parametrize("content", [b"", b"hello, this is no model", bytes(range(256)) * 9])
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(OnnxError, match="not an ONNX model"):
        import_model(content)


@pytest.mark.parametrize("name", [b"scale", b"Mul", b"x", b"g", b"n"], ids=bytes.decode)
def test_names_that_are_no_text_are_refused(name: bytes) -> None:
    """protobuf hands them out as bytes; one that nothing looked up came as far as a comment of a kernel."""
    whole = _scale_model(_weight()).SerializeToString()
    field = bytes([len(name)]) + name
    assert field in whole
    with pytest.raises(OnnxError, match="UTF-8"):
        import_model(whole.replace(field, field[:-1] + b"\xff"))


def test_every_truncation_is_refused_or_still_a_model() -> None:
    whole = _scale_model(_weight()).SerializeToString()
    refused = 0
    for end in range(len(whole)):
        try:
            import_model(whole[:end])
        except OnnxError:
            refused += 1
    assert refused > len(whole) * 0.9


def test_newer_operator_sets_are_refused_with_advice() -> None:
    model = _scale_model(_weight())
    model.opset_import[0].version = 999
    with pytest.raises(OnnxError, match="999") as error:
        import_model(model)
    assert "upgrade" in error.value.fix


def test_external_data_is_read(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"\0" * 8 + np.arange(4, dtype=np.float32).tobytes())
    (tmp_path / "m.onnx").write_bytes(_scale_model(_external("w.bin", offset="8", length="16")).SerializeToString())
    (constant,) = import_model(tmp_path / "m.onnx").constants
    assert np.frombuffer(constant.data.raw, np.float32).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (_external("../secret.bin"), "outside the folder"),
        (_external("/etc/passwd"), "outside the folder"),
        (_external(""), "outside the folder"),
        (_external("link.bin"), "outside the folder"),
        (_external("none.bin"), "missing"),
        (_external("short.bin"), "ends after 3 of 16 bytes"),
        (_external("short.bin", length="3"), "needs 16 bytes"),
        (_external("short.bin", offset="-4"), "at offset -4"),
        (_external("short.bin", offset="x"), "not a number"),
    ],
)
def test_external_data_never_leaves_the_folder(tmp_path: Path, tensor: onnx.TensorProto, message: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (folder / "short.bin").write_bytes(b"abc")
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    (folder / "m.onnx").write_bytes(_scale_model(tensor).SerializeToString())
    with pytest.raises(OnnxError, match=message):
        import_model(folder / "m.onnx")


def test_external_data_of_a_model_in_memory_is_refused() -> None:
    with pytest.raises(OnnxError, match="not read from a file"):
        import_model(_scale_model(_external("w.bin")))


@pytest.mark.parametrize("dims", [[5], [1 << 40, 1 << 20], [-4]])
def test_sizes_that_lie_are_refused_without_allocating(dims: list[int]) -> None:
    for weight in (
        TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=bytes(16)),
        TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, float_data=[1, 2, 3, 4]),
    ):
        with pytest.raises(OnnxError, match="tensor 'w'"):
            import_model(_scale_model(weight))


def test_values_nobody_makes_or_two_make_and_cycles_are_refused() -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    for nodes, message in (
        ([helper.make_node("Neg", ["z"], ["y"])], "reads 'z', which nothing makes"),
        ([helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])], "'y' is made twice"),
        ([helper.make_node("Neg", ["y"], ["t"]), helper.make_node("Abs", ["t"], ["y"])], "cycle"),
        ([helper.make_node("Neg", ["x"], ["t"])], "nothing makes the output 'y'"),
    ):
        model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]))
        with pytest.raises(OnnxError, match=message):
            import_model(model)


def test_nodes_in_any_order_are_sorted() -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    nodes = [helper.make_node("Abs", ["t"], ["y"]), helper.make_node("Neg", ["x"], ["t"])]
    graph = import_model(helper.make_model(helper.make_graph(nodes, "g", [x], [y])))
    assert [node.op for node in graph.nodes] == ["Neg", "Abs"]


def test_functions_that_call_themselves_are_refused() -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    call = helper.make_node("F", ["x"], ["y"], domain="own")
    function = helper.make_function("own", "F", ["x"], ["y"], [call], opset)
    model = helper.make_model(helper.make_graph([call], "g", [x], [y]), opset_imports=opset, functions=[function])
    with pytest.raises(OnnxError, match="call themselves: own::F"):
        import_model(model)


@settings(derandomize=True, database=None, deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_are_imported_or_refused_in_one_paragraph(changes: list[tuple[int, int]]) -> None:
    content = bytearray(_scale_model(_weight()).SerializeToString())
    for position, value in changes:
        content[position % len(content)] = value
    with contextlib.suppress(AutofuseError):
        import_model(bytes(content))
