import json
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from autofuse_ascend_sim.cli import main, parse_argument, parse_tiling

CASES = Path(__file__).parent / "cases"
ADD_KERNEL = Path(sim.__file__).parent / "examples" / "add.cpp"
ADD = [str(ADD_KERNEL), "--blocks", "4", "--workspace", "0", "--tiling", "u32:4096,u32:1024,u32:256"]


def test_run_compiles_launches_saves_and_traces(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.arange(4096, dtype=np.float32))
    z, trace = tmp_path / "z.npy", tmp_path / "trace.json"
    arguments = ["--arg", str(tmp_path / "x.npy"), "--arg", "f32[4096]=ones", "--arg", "f32[4096]"]
    status = main(["run", *ADD, *arguments, "--save", f"2={z}", "--trace", str(trace)])
    output = capsys.readouterr().out
    assert status == 0
    np.testing.assert_array_equal(np.load(z), np.arange(4096, dtype=np.float32) + 1)
    assert "estimate" in output
    assert json.loads(trace.read_text())["traceEvents"]


def test_a_broken_rule_is_one_line_on_stderr(capsys):
    status = main(["run", *ADD, "--arg", "f32[4096]", "--arg", "f32[4096]", "--arg", "f32[4088]"])
    error = capsys.readouterr().err
    assert status == 1
    assert error.startswith("GmBoundsError: add, block 3, DataCopy at ")
    assert error.count("\n") == 1


def test_an_entry_must_be_named_when_there_are_several(capsys):
    assert main(["run", str(CASES / "faults.cpp")]) == 1
    assert "name one with --entry" in capsys.readouterr().err


def test_socs_lists_stand_ins(capsys):
    assert main(["socs"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in sim.soc_names())
    assert "stand-in for" in output


def test_arguments_and_tiling_are_parsed_or_explained():
    assert parse_argument("f16[2,3]=ones").shape == (2, 3)
    assert parse_argument("-7") == -7
    assert parse_tiling("u8:1,u32:0x10,f32:1.5").hex() == "01000000100000000000c03f"
    with pytest.raises(sim.LaunchError, match="types:"):
        parse_argument("f33[2]")
    with pytest.raises(sim.LaunchError, match="type:value"):
        parse_tiling("u32=4")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tiling", "u32:-1"], "-1 is no u32"),
        (["--tiling", "u32:word"], "word is no u32"),
        (["--tiling-file", "missing.bin"], "missing.bin: No such file"),
        (["--arg", "missing.npy"], "missing.npy: No such file"),
        (["--arg", "f32[99999999999999]"], "no memory"),
        (["--arg", f"{CASES / 'text.npy'}"], "no array of numbers"),
        (["--threads", "-3"], "threads=-3"),
        (["--save", "7=x.npy"], "write N=FILE.npy"),
    ],
)
def test_odd_input_is_one_line(arguments, message, capsys):
    sizes = ["--arg", "f32[4096]", "--arg", "f32[4096]", "--arg", "f32[4096]"]
    assert main(["run", *ADD, *sizes, *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_demo_goes_from_nothing_to_a_trace(tmp_path, capsys):
    assert main(["demo", str(tmp_path / "new")]) == 0
    assert "estimate" in capsys.readouterr().out
    assert json.loads((tmp_path / "new" / "add_trace.json").read_text())["traceEvents"]
