"""A call on the emulator, as a timeline: every launch in order, every pipe, and the results of the call."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse.emulation import Emulation, emulate
from autofuse.pipeline import Lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph

CLOCK_MHZ = 1850.0


def graph() -> Graph:
    b = GraphBuilder("two_steps")
    x = b.input("x", ("n", 64), dt.float32)
    return b.build({"y": b.op("Mul", b.op("Abs", x), b.input("w", (64,), dt.float32))})


@pytest.fixture(scope="module")
def unfused() -> Lowered:
    return lower_graph(graph(), chosen_target("ascend-a2"), chosen_options(FusionOptions(enable=False)))


@pytest.fixture(scope="module")
def emulation(unfused: Lowered) -> Emulation:
    x, w = np.linspace(-1, 1, 70 * 64, dtype=np.float32).reshape(70, 64), np.arange(64, dtype=np.float32)
    found = emulate(unfused, chosen_target("ascend-a2"), [x, w])
    np.testing.assert_array_equal(found.results[0], np.abs(x) * w)
    return found


def work(emulation: Emulation, launch: int) -> list[dict[str, Any]]:
    events = emulation.trace["traceEvents"]
    return [e for e in events if e["ph"] == "X" and e["cat"] == "work" and e["pid"] // 1000 == launch]


def test_every_launch_is_on_the_timeline_after_the_one_before(emulation: Emulation) -> None:
    assert [launch.kernel for launch in emulation.launches] == ["k0_abs", "k1_mul"]
    first, second = work(emulation, 0), work(emulation, 1)
    assert max(e["ts"] + e["dur"] for e in first) <= min(e["ts"] for e in second)
    assert {e["name"] for e in first} >= {"DataCopyPad", "Abs"}
    assert "Mul" in {e["name"] for e in second}


def test_times_on_the_line_are_those_of_the_report(emulation: Emulation) -> None:
    launch = emulation.launches[0]
    busy = {pipe: cycles for pipe, cycles in launch.busy_cycles if pipe == "V"}
    by_block: dict[int, float] = {}
    for event in work(emulation, 0):
        if event["tid"] == "V":
            by_block[event["pid"]] = by_block.get(event["pid"], 0.0) + event["dur"] * CLOCK_MHZ
    assert any(cycles == pytest.approx(busy["V"], rel=0.02) for cycles in by_block.values())
    assert len(by_block) == launch.blocks
    assert launch.loaded_bytes == launch.stored_bytes == 70 * 64 * 4


def test_timing_alone_takes_the_cycles_of_a_whole_run(unfused: Lowered, emulation: Emulation) -> None:
    arrays = [np.zeros((70, 64), np.float32), np.zeros(64, np.float32)]
    quick = emulate(unfused, chosen_target("ascend-a2"), arrays, timing_only=True)
    for fast, whole in zip(quick.launches, emulation.launches, strict=True):
        assert fast.cycles == pytest.approx(whole.cycles, rel=0.05)
        assert fast.local_bytes == whole.local_bytes


def test_the_command_writes_the_trace_and_prints_a_table(call: Any, tmp_path: Path) -> None:
    model, trace = tmp_path / "model.json", tmp_path / "trace.json"
    write(graph(), model)
    told = call("trace", str(model), "--target", "ascend-a2", "--dim", "n=70", "-o", str(trace), "--json", "-q")
    assert told.code == 0, told.err
    data = json.loads(told.out)
    (launch,) = data["launches"]
    assert launch["sizes"] == {"n": 70}
    assert 0.7 < launch["us"] / launch["predicted_us"] < 1.5
    assert launch["local_bytes"] <= 196608
    assert json.loads(trace.read_text())["traceEvents"]
    told = call("trace", str(model), "--target", "ascend-a2", "--dim", "n=70", "-o", str(trace))
    assert told.code == 0
    assert launch["kernel"] in told.out


def test_a_bundle_is_traced_like_its_model(call: Any, tmp_path: Path) -> None:
    model, bundle, trace = tmp_path / "model.json", tmp_path / "bundle", tmp_path / "trace.json"
    write(graph(), model)
    assert call("compile", str(model), "--target", "ascend-a2", "--emit-only", "-o", str(bundle)).code == 0
    told = call("trace", str(bundle), "--target", "ascend-a2", "--dim", "n=3", "--timing-only", "-o", str(trace))
    assert told.code == 0, told.err
    assert "k0_abs_mul" in told.out


def test_a_cpu_has_no_emulator(call: Any, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    write(graph(), model)
    told = call("trace", str(model), "-o", str(tmp_path / "trace.json"))
    assert told.code == 2
    assert "there is no emulator of target cpu" in told.err
