"""Measuring the machine: the numbers make sense, and count only where the file that holds them is named."""

from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from attrs import evolve
from autofuse.calibration.measure import Measured, measure_machine
from autofuse.calibration.overlay import overlay_text, read_overlay, target_named, write_overlay
from autofuse.errors import DriverError
from autofuse.options import settings
from autofuse_ir.dtypes import float32
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_runtime.cache import ArtefactCache

MEASURED = Measured(
    machine='A "quoted" \\ machine',
    threads=4,
    clock_hz=2e9,
    read=10e9,
    write=8e9,
    cache_copy=60e9,
    vector_op=2e-11,
    fork_awake=1e-6,
    fork_asleep=9e-6,
)


@pytest.fixture(scope="module")
def measured() -> Measured:
    return measure_machine(load_target("cpu"), ArtefactCache(settings().cache))


def test_what_is_measured_is_possible(measured: Measured) -> None:
    assert 0.2e9 < measured.clock_hz < 10e9
    assert 0.2e9 < measured.write < 2e12
    assert 0.2e9 < measured.read < 2e12
    # A core adds at least one number a cycle, and at most 64 floats.
    assert 1 / 64 < measured.vector_op * measured.clock_hz < 2
    assert measured.cache_copy > measured.write / 2
    assert 0 < measured.fork_awake < 0.1
    assert 0 < measured.fork_asleep < 0.1
    assert measured.machine


def test_an_overlay_holds_what_was_measured_in_the_targets_units(tmp_path: Path) -> None:
    write_overlay(overlay_text("cpu", MEASURED), tmp_path / "mine.toml")
    target, base = read_overlay(tmp_path / "mine.toml"), load_target("cpu")
    assert target.quantity("clock_hz") == 2e9
    assert target.quantity("bytes_per_cycle_read") == 5
    assert target.quantity("bytes_per_cycle_write") == 4
    assert target.quantity("cache_bytes_per_cycle") == 30
    assert target.quantity("launch_cycles") == 10_000
    assert target.cost_of("Add", float32).per_element == pytest.approx(0.04)
    assert target.quantity("tile_cycles") == base.quantity("tile_cycles")
    assert [q.name for q in target.quantities] == [q.name for q in base.quantities]
    measured = {q.name for q in target.quantities if q.source.startswith("measured: ") and q not in base.quantities}
    changed = {q.name for q, old in zip(target.quantities, base.quantities, strict=True) if q != old}
    assert measured == changed
    assert {"clock_hz", "bytes_per_cycle_read", "cache_bytes_per_cycle", "launch_cycles"} <= measured
    assert MEASURED.machine in target.description
    same = evolve(target, description=base.description, quantities=base.quantities, costs=base.costs)
    assert same == base


def plan(fn: Any) -> Any:
    return [case for tiling in fn.lowered.tilings for case in tiling.cases]


def test_an_overlay_counts_only_where_it_is_named(
    affine: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = plan(autofuse.compile(affine))
    write_overlay(overlay_text("cpu", MEASURED), Path("cpu.toml"))
    write_overlay(overlay_text("cpu", MEASURED), Path("cpu-measured.toml"))
    assert plan(autofuse.compile(affine)) == shipped
    assert plan(autofuse.compile(affine, target="cpu")) == shipped
    chosen = autofuse.compile(affine, target="cpu-measured.toml")
    assert plan(chosen) != shipped
    assert chosen.program.target == "cpu"
    monkeypatch.setenv("AUTOFUSE_TARGET", str(tmp_path / "cpu.toml"))
    assert plan(autofuse.compile(affine)) == plan(chosen)
    x, bias = np.ones((3, 6), np.float32), np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(chosen(x, bias), (x + bias) * 2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('base = "cpu"', 'base = "abacus"', "abacus"),
        ('base = "cpu"', "", "lacks 'base'"),
        ('base = "cpu"', "base = ", "no overlay"),
        ("clock_hz =", "clock_khz =", "no quantity 'clock_khz'"),
        ('unit = "Hz"', 'unit = "kHz"', "'kHz'"),
        ("value = 2e+09", "value = -1", "not a positive number"),
        ("value = 2e+09", 'value = "fast"', "no overlay"),
        ("value = 2e+09", "value = nan", "not a positive number"),
        ('op = "*"', 'op = "Frobnicate"', "Frobnicate"),
        ("per_element = 0.04", "per_element = -3.0", "negative"),
        ('dtype = "float32"', 'dtype = "float31"', "float31"),
        ("[quantities]", "[numbers]", "'numbers'"),
    ],
)
def test_an_overlay_that_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = overlay_text("cpu", MEASURED)
    assert old in text
    (tmp_path / "bad.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DriverError, match=said) as refused:
        target_named(str(tmp_path / "bad.toml"))
    assert "bad.toml" in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000, None])
def test_a_file_that_is_no_overlay_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "file.toml").write_bytes(content)
    with pytest.raises(DriverError, match=r"file\.toml"):
        target_named(str(tmp_path / "file.toml"))


def test_an_overlay_replaces_nothing_but_an_overlay(tmp_path: Path) -> None:
    text = overlay_text("cpu", MEASURED)
    write_overlay(text, tmp_path / "mine.toml")
    write_overlay(text.replace("2e+09", "3e+09"), tmp_path / "mine.toml")
    assert read_overlay(tmp_path / "mine.toml").quantity("clock_hz") == 3e9
    (tmp_path / "other.toml").write_text('name = "settings of something else"', encoding="utf-8")
    for place, said in (("other.toml", "no overlay is here"), ("none.txt", ".toml"), ("missing/a.toml", "no such")):
        with pytest.raises(DriverError, match=said):
            write_overlay(text, tmp_path / place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.toml", "other.toml"]


def test_the_command_measures_and_writes(
    call: Any, affine_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: Measured
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = call("targets", "--calibrate")
    assert answer.code == 0
    assert "GB/s" in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    clock = read_overlay(Path("cpu-measured.toml")).quantity("clock_hz")
    assert clock == pytest.approx(measured.clock_hz, rel=0.5)
    assert call("run", affine_file, "--random", 1, "--target", "cpu-measured.toml").code == 0
    assert call("verify", affine_file, "--samples", 1, "--target", "cpu-measured.toml").code == 0


def test_the_command_refuses_bad_places_before_it_measures(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # measuring would end with the code of a missing tool
    (tmp_path / "mine.toml").write_text("[tool]\n", encoding="utf-8")
    for words in (
        ("--calibrate", "-o", tmp_path / "mine.toml"),
        ("--calibrate", "-o", tmp_path / "mine.json"),
        ("--calibrate", "-o", tmp_path / "missing" / "mine.toml"),
        ("-o", tmp_path / "new.toml"),
    ):
        answer = call("targets", *words)
        assert answer.code == 2
        assert answer.out == ""
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == "[tool]\n"
    assert not (tmp_path / "new.toml").exists()


def test_measuring_needs_a_compiler(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = call("targets", "--calibrate", "-o", tmp_path / "mine.toml")
    assert answer.code == 3
    assert "g++" in answer.err
    assert not (tmp_path / "mine.toml").exists()
