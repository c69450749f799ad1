"""The command line: what it prints, its exit codes, and errors of one paragraph."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import read, write
from autofuse_ir.fused_graph import FusedGraph
from autofuse_ir.graph import Graph, Payload
from autofuse_ir.program import Program
from autofuse_ir.tensor_data import TensorData


def test_compile_run_and_load_the_bundle(call: Any, affine_file: Path, tmp_path: Path) -> None:
    compiled = call("compile", affine_file, "-o", tmp_path / "bundle")
    assert compiled.code == 0
    assert "2 operators: 2 in 1 kernel" in compiled.out
    x = np.ones((3, 6), np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "bias.npy", np.arange(6, dtype=np.float32))
    inputs = ("--input", f"x={tmp_path / 'x.npy'}", "--input", f"bias={tmp_path / 'bias.npy'}")
    ran = call("run", tmp_path / "bundle", *inputs, "--output", tmp_path / "out")
    assert ran.code == 0
    assert "y: float32 [3, 6]" in ran.out
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), (x + np.arange(6, dtype=np.float32)) * 2)


def test_run_makes_inputs_up_at_the_sizes_asked_for(call: Any, affine_file: Path) -> None:
    ran = call("run", affine_file, "--random", 1, "--dim", "batch=5", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["y"]["shape"] == [5, 6]
    assert call("run", affine_file, "--random", 1, "--dim", "batch=5", "--json").out == ran.out


def test_verify_prints_a_table_and_json(call: Any, affine_file: Path) -> None:
    shown = call("verify", affine_file, "--samples", 2)
    assert shown.code == 0
    assert "ok" in shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80
    data = json.loads(call("verify", affine_file, "--samples", 2, "--json").out)
    assert data["passed"]
    assert {check["output"] for check in data["checks"]} == {"y"}


def test_verify_that_checked_nothing_does_not_pass(call: Any, quotient: Graph, tmp_path: Path) -> None:
    file = write(quotient, tmp_path / "quotient.json")
    for name, value in (("a", 1), ("b", 0)):
        np.save(tmp_path / f"{name}.npy", np.full(2, value, np.int32))
    inputs = ("--input", f"a={tmp_path / 'a.npy'}", "--input", f"b={tmp_path / 'b.npy'}")
    answer = call("verify", file, "--samples", 1, *inputs)
    assert answer.code == 1
    assert "nothing was checked" in answer.out


def test_explain_names_kernels_and_reasons(call: Any, affine_file: Path) -> None:
    shown = call("explain", affine_file, "--tiling")
    assert shown.code == 0
    assert "launches      2 -> 1" in shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80
    assert json.loads(call("explain", affine_file, "--json").out)["launches"] == {"before": 2, "after": 1}
    assert "fused" in call("explain", affine_file, "--why-not", "shift", "double").out
    unknown = call("explain", affine_file, "--why-not", "hift", "double")
    assert unknown.code == 2
    assert "shift" in unknown.err


def test_the_emulator_is_not_timed(call: Any, affine_file: Path) -> None:
    answer = call("bench", affine_file, "--target", "ascend-a2")
    assert answer.code == 2
    assert "autofuse trace" in answer.err


def test_bench_prints_ratios(call: Any, affine_file: Path) -> None:
    answer = call("bench", affine_file, "--against", "numpy", "--samples", 1, "--dim", "batch=3", "--json")
    assert answer.code == 0
    rows = json.loads(answer.out)["rows"]
    assert rows["autofuse"]["ratio"] == 1
    assert rows["numpy"]["median_us"] > 0
    assert set(json.loads(call("bench", affine_file, "--samples", 1, "--json").out)["rows"]) == {"autofuse", "numpy"}
    for peer in ("abacus", "onnxruntime"):
        assert call("bench", affine_file, "--against", peer).code in (2, 3)


def test_stages_run_one_by_one_from_files(call: Any, affine_file: Path, tmp_path: Path) -> None:
    def stage(name: str, *inputs: str, output: str) -> None:
        answer = call("stage", name, *(tmp_path / i if i else affine_file for i in inputs), "-o", tmp_path / output)
        assert (answer.code, answer.err) == (0, "")

    stage("infer", "", output="inferred")
    stage("fuse", "inferred/graph.json", "inferred/facts.json", output="fused.json")
    stage("schedule", "fused.json", output="schedules")
    stage("tile", "fused.json", "schedules", output="tilings")
    stage("emit", "fused.json", "schedules", "tilings", output="kernels")
    stage("link", "fused.json", "kernels", output="program.json")
    stage("build", "program.json", "kernels", output="bundle")
    assert isinstance(read(tmp_path / "fused.json"), FusedGraph)
    assert isinstance(read(tmp_path / "program.json"), Program)
    ran = call("run", tmp_path / "bundle", "--random", 1, "--dim", "batch=2")
    assert ran.out == call("run", affine_file, "--random", 1, "--dim", "batch=2").out


def test_a_stage_says_which_artefact_it_wants(call: Any, affine_file: Path, tmp_path: Path) -> None:
    wrong = call("stage", "schedule", affine_file, "-o", tmp_path / "out")
    assert wrong.code == 2
    assert "not a FusedGraph" in wrong.err
    assert call("stage", "fuse", affine_file, "-o", tmp_path / "out").code == 2


def test_show_prints_text(call: Any, affine_file: Path) -> None:
    assert "Add(%x, %bias)" in call("show", affine_file).out


def test_show_folds_payloads_and_constants_of_bundles_unless_all_is_wanted(
    call: Any, affine_file: Path, tmp_path: Path
) -> None:
    graph = evolve(
        read(affine_file), payloads=tuple(Payload(f"p{n}", "x", TensorData(dt.uint8, (9,), bytes(9))) for n in range(3))
    )
    write(graph, tmp_path / "graph.json")
    assert '  payloads: 3 "x" of 27 bytes\n' in call("show", tmp_path / "graph.json").out
    assert call("show", tmp_path / "graph.json", "--full").out.count("payload @") == 3


def test_show_says_which_folder_is_no_bundle(call: Any, tmp_path: Path) -> None:
    wrong = call("show", tmp_path)
    assert (wrong.code, wrong.err.count("\n")) == (2, 2)
    assert "no bundle" in wrong.err


def test_dumps_are_artefacts_of_every_stage(call: Any, affine_file: Path, tmp_path: Path) -> None:
    assert call("compile", affine_file, "-o", tmp_path / "b", "--emit-only", "--dump", tmp_path / "dump").code == 0
    assert {f.name.partition("_")[0] for f in (tmp_path / "dump").glob("*.json")} == {
        *("infer", "fuse", "schedule", "tile", "emit", "link")
    }


def test_sources_alone_need_no_compiler(
    call: Any, affine_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert call("compile", affine_file, "-o", tmp_path / "b", "--emit-only").code == 0
    assert list((tmp_path / "b" / "src").glob("*.cpp"))
    assert not (tmp_path / "b" / "lib").exists()
    call("stage", "infer", affine_file, "-o", tmp_path / "inferred")
    steps = ("fuse inferred/graph.json inferred/facts.json", "schedule fuse", "tile fuse schedule")
    for step in (*steps, "emit fuse schedule tile", "link fuse emit"):
        name, *inputs = step.split()
        assert call("stage", name, *(tmp_path / i for i in inputs), "-o", tmp_path / name).code == 0
    for words in (("compile", affine_file), ("stage", "build", tmp_path / "link", tmp_path / "emit")):
        built = call(*words, "-o", tmp_path / "c")
        assert built.code == 3
        assert "g++" in built.err
        assert not (tmp_path / "c").exists()


def test_sources_for_a_chip_are_all_that_it_takes_and_no_more(call: Any, affine_file: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    assert call("compile", affine_file, "-o", sources, "--target", "ascend-a2", "--emit-only").code == 0
    files = [file for file in (sources / "src").iterdir() if file.is_file()]
    names = {file.name for file in files}
    included = {
        name
        for file in files
        for name in re.findall(r'^ *# *include "(.+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {name for name in included if name.startswith(("af_", "k0_"))} <= names, "CANN's headers alone are missing"
    assert not {"library.cpp", "CMakeLists.txt"} & names, "kernels of a chip are no C library"
    assert not (sources / "include").exists()


def test_without_a_compiler_run_and_verify_use_the_interpreter(
    call: Any, affine_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    for words in (("run", affine_file, "--random", 1), ("verify", affine_file, "--samples", 1)):
        answer = call(*words)
        assert answer.code == 0
        assert answer.err.count("interpreter") == 1
        assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "missing.json"), "missing.json"),
        (("run", "missing.bin"), "missing.bin"),
        (("run", "{file}"), "--random"),
        (("run", "{file}", "--random", "1", "--dim", "batsch=3"), "batsch"),
        (("run", "{file}", "--random", "1", "--dim", "batch=x"), "NAME=N"),
        (("run", "{file}", "--random", "1", "--input", "z={file}"), ".npy"),
        (("compile", "{file}", "-o", "{file}"), "something that is no bundle"),
        (("verify", "{file}", "--device", "sim"), "simulator"),
        (("explain", "{file}", "--hint", "batch"), "NAME=N"),
        (("show", "missing.json"), "missing.json"),
        (("frobnicate",), "frobnicate"),
        (("run", "{file}", "--frobnicate"), "frobnicate"),
    ],
)
def test_wrong_input_is_one_paragraph_and_code_2(
    call: Any, affine_file: Path, words: tuple[str, ...], said: str
) -> None:
    answer = call(*(word.format(file=affine_file) for word in words))
    assert answer.code == 2
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert len(answer.err.strip().splitlines()) <= 5


def test_truncated_artefacts_are_named(call: Any, affine_file: Path) -> None:
    content = affine_file.read_bytes()
    affine_file.write_bytes(content[: len(content) // 2])
    answer = call("explain", affine_file)
    assert answer.code == 2
    assert affine_file.name in answer.err


def test_a_fault_of_ours_is_code_4_and_asks_for_a_report(
    call: Any, affine_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*arguments: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("autofuse.report.Report.to_json", fault)
    answer = call("explain", affine_file, "--json")
    assert answer.code == 4
    assert "report" in answer.err
    assert "Traceback" not in answer.err


def test_verbose_says_every_step_and_quiet_none(call: Any, affine_file: Path) -> None:
    assert "fuse" in call("explain", affine_file, "-v").err
    assert call("explain", affine_file, "-q").err == ""
