"""What is no artefact is refused in one paragraph that names file, field and remedy; nothing is evaluated."""

import json

import pytest
from autofuse_ir import artefact as artefact_module
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import dumps, loads, read, write
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Constant, Graph
from autofuse_ir.tensor_data import TensorData
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def data(artefacts):
    return json.loads(dumps(artefacts.graph))


def at(value, *path):
    """The container that holds the last step of ``path``."""
    for step in path[:-1]:
        value = value[step]
    return value, path[-1]


@pytest.mark.parametrize(
    ("path", "value", "where", "what"),
    [
        (("nodes", 0, "inputs", 0), 7, "nodes[0].inputs[0]", "7 stands where a string is expected"),
        (("nodes", 0, "surprise"), 1, "nodes[0]", "Node has no field 'surprise'"),
        (("surprise",), 1, "", "Graph has no field 'surprise'"),
        (("symbols", 0, "lo"), True, "symbols[0].lo", "an int64 is expected"),
        (("symbols", 0, "lo"), 2**63, "symbols[0].lo", "an int64 is expected"),
        (("symbols", 0, "lo"), 1.0, "", "is no integer"),
        (("symbols", 0), [], "symbols[0]", "an object is expected"),
        (("nodes",), {}, "nodes", "an array is expected"),
        (("nodes",), None, "nodes", "an array is expected"),
        (("inputs", 0, "dtype"), "float33", "inputs[0].dtype", "the name of an element type"),
        (("inputs", 0, "dtype"), "f32", "inputs[0].dtype", "'float32' is expected"),
        (("inputs", 0, "shape", 0), "n +", "inputs[0].shape[0]", "a size or condition is expected"),
        (("inputs", 0, "shape", 0), "__import__('os')", "inputs[0].shape[0]", "an operator is expected"),
        (("inputs", 0, "shape", 0), 5, "inputs[0].shape[0]", "a string is expected"),
        (("constants", 0, "data", "hex"), "zz", "constants[0].data.hex", "hexadecimal"),
        (("constants", 0, "data", "hex"), "00", "constants[0].data", "needs 32 bytes"),
        (("constants", 0, "data", "shape"), [-1], "constants[0].data.shape", "a shape is expected"),
        (("constants", 0, "data", "shape"), [2**40, 2**40], "constants[0].data.shape", "a shape is expected"),
        (("constants", 0, "data", "dtype"), "opaque", "constants[0].data", "opaque"),
        (("constants", 0, "data", "extra"), 1, "constants[0].data", "dtype, shape, and hex or sha256"),
        (("nodes", 0, "attrs"), [{"name": "a", "value": {"int": "1"}}], "nodes[0].attrs[0].value", "an int64"),
        (("nodes", 0, "attrs"), [{"name": "a", "value": {"set": []}}], "nodes[0].attrs[0].value", "one of bool"),
        (("nodes", 0, "attrs"), [{"name": "a", "value": {}}], "nodes[0].attrs[0].value", "one key"),
        (("nodes", 0, "attrs"), [{"name": "a", "value": {"bool": 1}}], "nodes[0].attrs[0].value", "one of bool"),
        (("nodes", 0, "attrs"), [{"name": "a", "value": {"float": "1.5"}}], "nodes[0].attrs[0].value", "hexadecimal"),
        (("nodes", 0, "attrs"), [{"name": "a", "value": {"float": "0x1p+9999"}}], "nodes[0].attrs[0].value", "float64"),
        (("schema",), "autofuse.dream", "schema", "there is no contract 'autofuse.dream'"),
        (("schema",), None, "", "it has no schema"),
        (("version",), [1, 99], "", "reads up to 1.0"),
        (("version",), [2, 0], "", "reads up to 1.0"),
        (("version",), [0, 0], "", "never had a version"),
        (("version",), "1.0", "version", "is no version"),
        (("version",), [True, 0], "version", "is no version"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(data, tmp_path, path, value, where, what):
    container, key = at(data, *path)
    container[key] = value
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(data))
    with pytest.raises(IrError) as caught:
        read(file)
    assert caught.value.where == f"{file}, field {where}" if where else str(file)
    assert what in str(caught.value)
    assert caught.value.fix


def test_sizes_and_integers_of_any_length_are_refused(data):
    data["inputs"][0]["shape"][0] = "(" * 60000
    with pytest.raises(IrError, match=r"inputs\[0\].shape\[0\].*open parentheses"):
        loads(json.dumps(data))
    with pytest.raises(IrError, match="it is not JSON"):
        loads(f'{{"schema": {"1" * 5000}}}')


@pytest.mark.parametrize("name", ["nodes", "name"])
def test_a_missing_field_is_named(data, name):
    del data[name]
    with pytest.raises(IrError, match=f"the field '{name}' is missing"):
        loads(json.dumps(data))


def test_fields_that_came_later_may_be_missing(data, artefacts):
    del data["nodes"][0]["attrs"]
    data["symbols"][1].pop("hint")
    assert loads(json.dumps(data)) == artefacts.graph


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "it is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[]", "it has no schema"),
        ("7", "it has no schema"),
        ('{"schema": "autofuse.graph", "schema": "autofuse.graph"}', "stands twice"),
        ('{"schema": NaN}', "is no integer"),
        ('{"schema": 1e5}', "is no integer"),
        (b"\xff\xfe{}", "it is not JSON"),
        (b"\x80abc", "it is not JSON"),
    ],
    ids=lambda text: repr(text)[:20],
)
def test_what_is_no_artefact_is_refused(text, what):
    with pytest.raises(IrError, match=what):
        loads(text)


def test_a_file_cut_short_anywhere_is_refused(artefacts):
    text = dumps(artefacts.program)
    for end in range(0, len(text) - 2, 97):
        with pytest.raises(IrError):
            loads(text[:end])


@settings(max_examples=300)
@given(st.data())
def test_damage_is_an_error_of_ours_or_harmless(artefacts, data):
    text = bytearray(dumps(artefacts.fused_graph).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'"[]{}:,0-9anx\\ \x00\xff'))
    try:
        found = loads(bytes(text))
    except IrError:
        return
    assert loads(dumps(found)) == found


@pytest.fixture
def stored(tmp_path):
    """A graph on disk with one constant beside it."""
    data = TensorData(dt.uint8, (65,), bytes(range(65)))
    path = write(Graph("g", (), (), (), (Constant("c", data),)), tmp_path / "g.json")
    return path, tmp_path / "constants" / f"{data.sha256}.npy"


def test_a_constant_with_another_content_is_refused(stored):
    path, constant = stored
    constant.write_bytes(constant.read_bytes()[:-1] + b"!")
    with pytest.raises(IrError, match="has another sha256") as caught:
        read(path)
    assert "field constants[0].data" in caught.value.where


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b + b"x" * 70000, lambda b: b"x" * len(b), lambda b: b""]
)
def test_a_damaged_constant_is_refused(stored, damage):
    path, constant = stored
    constant.write_bytes(damage(constant.read_bytes()))
    with pytest.raises(IrError, match=r"constants\[0\].data"):
        read(path)


def test_a_missing_constant_is_named(stored):
    path, constant = stored
    constant.unlink()
    with pytest.raises(IrError, match="cannot be read") as caught:
        read(path)
    assert constant.name in caught.value.what
    assert "constants" in caught.value.fix


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "A" * 64, "0" * 63, "", "0" * 63 + "/"])
def test_a_constant_outside_of_its_folder_is_refused(stored, name):
    path, constant = stored
    path.write_text(path.read_text().replace(constant.stem, name))
    with pytest.raises(IrError, match="64 hexadecimal digits"):
        read(path)


def test_a_file_that_is_too_large_is_refused_unread(stored, monkeypatch):
    path, _ = stored
    monkeypatch.setattr(artefact_module, "MAX_JSON_BYTES", 10)
    with pytest.raises(IrError, match="bytes are more than the 10"):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    for path in (tmp_path / "no.json", tmp_path):
        with pytest.raises(IrError, match="cannot be read") as caught:
            read(path)
        assert caught.value.where == str(path)


def test_content_given_by_hand_is_checked_too(stored):
    path, constant = stored
    with pytest.raises(IrError, match="not among those given"):
        loads(path.read_text())
    wrong = TensorData(dt.uint8, (3,), b"abc")
    with pytest.raises(IrError, match="needs 65 bytes"):
        loads(path.read_text(), {constant.stem: wrong})
