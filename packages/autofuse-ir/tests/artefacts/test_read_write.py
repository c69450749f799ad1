"""Artefacts survive the disk: equal values, equal bytes, exact floats, constants beside the JSON."""

import io
import json
import math
import os
import subprocess
import sys

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import dumps, loads, read, write
from autofuse_ir.contracts import CONTRACTS, Contract, contract_of, upgrade
from autofuse_ir.dims import const, symbol
from autofuse_ir.errors import IrError
from autofuse_ir.facts import InputDim
from autofuse_ir.graph import Attr, Constant, Graph, Node
from autofuse_ir.npy import npy_parts, read_npy
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.tiling import CostTerm
from hypothesis import given
from hypothesis import strategies as st


def attr_of(value):
    """Write and read ``value`` as an attribute."""
    graph = Graph("g", (), (), (Node("n", "Op", (), ("y",), (Attr("a", value),)),))
    return loads(dumps(graph)).nodes[0].attrs[0].value


def test_every_contract_comes_back_from_disk(artefacts, tmp_path):
    for artefact in artefacts.contracts:
        path = write(artefact, tmp_path / f"{contract_of(artefact).name}.json")
        assert read(path) == artefact


def test_a_pipe_is_written_to_and_stays_one(artefacts, tmp_path):
    pipe, room = tmp_path / "pipe", 1 << 12  # what every pipe takes before somebody reads
    artefact = next(a for a in artefacts.contracts if len(dumps(a)) < room)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(artefact, pipe)
        assert pipe.is_fifo()
        assert os.read(reader, room).decode() == dumps(artefact)
    finally:
        os.close(reader)


def test_every_artefact_says_what_it_is(artefacts):
    for artefact in artefacts.contracts:
        contract = contract_of(artefact)
        head = json.loads(dumps(artefact))
        assert (head["schema"], head["version"]) == (contract.name, list(contract.version))


def test_the_json_is_canonical(artefacts):
    text = dumps(artefacts.graph)
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) + "\n"
    assert dumps(loads(text)) == text


def test_bytes_do_not_depend_on_the_hash_seed():
    program = (
        "from autofuse_ir.builder import GraphBuilder; from autofuse_ir import dtypes as dt;"
        "from autofuse_ir.artefact import dumps; b = GraphBuilder('g');"
        "x = b.input('x', ('n', 'max(a, b, c) + d*e', 4), dt.float32);"
        "print(dumps(b.build({'y': b.op('Add', x, x, alpha=1.0)})), end='')"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize(
    "value",
    [
        *(True, False, 1, 0, -(2**63), 2**63 - 1, 2**63, 2**64 - 1),
        *(1.0, 0.1, 5e-324, math.inf, "1", "", "\ud800", "é\n"),
        *((), (1,), (1.0,), ("1",), ((),), ((1, 2), ()), (symbol("n"),)),
        *(symbol("n") + 1, const(4), dt.bfloat16, dt.opaque),
    ],
    ids=repr,
)
def test_attributes_keep_their_types(value):
    found = attr_of(value)
    assert found == value
    assert type(found) is type(value)
    if isinstance(value, tuple):
        assert [type(part) for part in found] == [type(part) for part in value]


def test_zeros_keep_their_sign_and_nan_is_nan():
    assert math.copysign(1.0, attr_of(-0.0)) == -1.0
    assert math.isnan(attr_of(math.nan))


@given(st.floats(allow_nan=False))
def test_floats_are_exact(value):
    assert attr_of(value) == value


def test_mixed_tuples_become_the_wider_type():
    assert attr_of((1, 2.5)) == (1.0, 2.5)
    assert attr_of((1, symbol("n"))) == (const(1), symbol("n"))


@pytest.mark.parametrize("value", [(True,), (1, "1"), [1], None, 2**64, ((1.0,),), b"x"], ids=repr)
def test_what_is_no_attribute_is_not_written(value):
    with pytest.raises(IrError) as caught:
        attr_of(value)
    assert "nodes[0].attrs[0].value" in caught.value.where


def test_a_wrong_field_is_named_when_writing(artefacts, tmp_path):
    odd = evolve(artefacts.facts, symbols=(evolve(artefacts.facts.symbols[0], sources=(InputDim("x", "0"),)),))
    with pytest.raises(IrError, match="int is expected") as caught:
        write(odd, tmp_path / "facts.json")
    assert "facts.json, field symbols[0].sources[0].dim" in caught.value.where
    assert list(tmp_path.iterdir()) == []


def test_ints_where_floats_and_sizes_belong_are_taken(artefacts):
    case = evolve(artefacts.tiling.cases[0], head=(CostTerm(2, 3, const(1)),))
    found = loads(dumps(evolve(artefacts.tiling, cases=(case,)))).cases[0].head[0]
    assert (found.coefficient, found.count) == (2.0, const(3))
    assert type(found.coefficient) is float


def constant_graph(*data):
    return Graph("g", (), (), (), tuple(Constant(f"c{i}", each) for i, each in enumerate(data)))


@pytest.mark.parametrize("dtype", dt.TENSOR_DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (64,), (65,), (3, 5, 7)])
def test_constants_of_every_dtype_and_shape_come_back(dtype, shape, tmp_path):
    count = math.prod(shape) * dtype.itemsize
    graph = constant_graph(TensorData(dtype, shape, bytes(i % 251 for i in range(count))))
    assert read(write(graph, tmp_path / "g.json")) == graph
    assert (tmp_path / "constants").exists() == (math.prod(shape) > 64)


def test_constants_that_share_their_bytes_share_their_file(tmp_path):
    graph = constant_graph(
        TensorData(dt.float32, (100,), bytes(400)),
        TensorData(dt.int32, (10, 10), bytes(400)),
        TensorData(dt.bfloat16, (200,), bytes(400)),
    )
    assert read(write(graph, tmp_path / "g.json")) == graph
    assert len(list((tmp_path / "constants").iterdir())) == 1


def test_a_folder_can_be_moved(tmp_path):
    graph = constant_graph(TensorData(dt.uint8, (65,), bytes(65)))
    write(graph, tmp_path / "old" / "g.json")
    (tmp_path / "old").rename(tmp_path / "new")
    assert read(tmp_path / "new" / "g.json") == graph
    assert str(tmp_path) not in (tmp_path / "new" / "g.json").read_text()


@pytest.mark.parametrize(
    ("dtype", "shape", "header"),
    [
        (dt.float32, (65,), b"{'descr': '<f4', 'fortran_order': False, 'shape': (65,), }"),
        (dt.bfloat16, (2, 50), b"{'descr': '<u2', 'fortran_order': False, 'shape': (2, 50), }"),
        (dt.bool_, (100,), b"{'descr': '|b1', 'fortran_order': False, 'shape': (100,), }"),
        (dt.int8, (70, 1), b"{'descr': '|i1', 'fortran_order': False, 'shape': (70, 1), }"),
    ],
)
def test_constants_are_files_that_numpy_reads(dtype, shape, header):
    data = TensorData(dtype, shape, bytes(math.prod(shape) * dtype.itemsize))
    content = b"".join(npy_parts(data))
    assert content[:128] == b"\x93NUMPY\x01\x00v\x00" + header.ljust(117) + b"\n"
    assert content[128:] == data.raw
    assert read_npy(io.BytesIO(content)) == data.raw


def test_opaque_values_are_not_constants():
    with pytest.raises(IrError, match="opaque"):
        dumps(constant_graph(TensorData(dt.opaque, (3,), b"")))


def test_an_existing_file_is_replaced_whole(artefacts, tmp_path):
    path = write(artefacts.graph, tmp_path / "a.json")
    write(artefacts.facts, path)
    assert read(path) == artefacts.facts
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_failed_write_leaves_nothing_behind(artefacts, tmp_path):
    (tmp_path / "a.json").mkdir()
    with pytest.raises(IrError, match="cannot be written"):
        write(artefacts.graph, tmp_path / "a.json")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_other_things_are_no_artefacts(artefacts, tmp_path):
    with pytest.raises(IrError, match="AscGraph is no artefact"):
        write(artefacts.asc_graph, tmp_path / "a.json")


def test_older_major_versions_are_upgraded_step_by_step():
    steps = (
        lambda data: {**data, "size": data["length"]},
        lambda data: {k: v for k, v in data.items() if k != "length"},
    )
    contract = Contract("autofuse.test", Graph, (3, 1), steps)
    assert upgrade(contract, {"length": 4}, (1, 7)) == {"size": 4}
    assert upgrade(contract, {"length": 4, "size": 5}, (2, 0)) == {"size": 5}
    assert upgrade(contract, {"size": 5}, (3, 0)) == {"size": 5}
    for newer in ((3, 2), (4, 0)):
        with pytest.raises(IrError, match=r"reads up to 3\.1") as caught:
            upgrade(contract, {}, newer)
        assert "pip install --upgrade autofuse-ir" in caught.value.fix
    with pytest.raises(IrError, match="never had a version"):
        upgrade(contract, {}, (0, 1))


def test_every_contract_has_an_upgrade_from_every_older_major_version():
    for contract in CONTRACTS:
        assert len(contract.upgrades) == contract.version[0] - 1


def test_importing_the_graph_needs_attrs_only():
    program = (
        "import sys, autofuse_ir.artefact, autofuse_ir.checks, autofuse_ir.parse, autofuse_ir.builder;"
        "print(sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) - {'__main__'}))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-S", "-c", f"import sys; sys.path += {sys.path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['attr', 'attrs', 'autofuse_ir']"
