import json
import struct
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest

CASES = Path(__file__).parent / "cases"
ADD_KERNEL = Path(sim.__file__).parent / "examples" / "add.cpp"


def add(library, n, blocks, tile, **options):
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    per_block = -(-n // blocks // 8) * 8
    return sim.run(
        library, "add", [x, y, np.zeros_like(x)], struct.pack("III", n, per_block, tile), blocks, 0, **options
    )


def compile_text(tmp_path, body, soc="ascend-a2"):
    source = tmp_path / "timed.cpp"
    source.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        "static LocalTensor<float> Ub(uint32_t at) { return LocalTensor<float>(TPosition::VECCALC, at, 4096); }\n"
        f'extern "C" __global__ void k(GM_ADDR x) {{\n{body}\n}}\n'
    )
    return sim.compile(source, soc)


def busy(report, pipe):
    return dict(report.busy_cycles)[pipe]


def stalls(report, pipe, cause):
    return sum(cycles for p, c, cycles in report.stall_cycles if (p, c) == (pipe, cause))


def test_one_instruction_costs_its_table_entry(tmp_path):
    library = compile_text(tmp_path, "Duplicate(Ub(0), 1.0f, 4096);")
    report = sim.run(library, "k", [np.zeros(8, np.float32)])
    assert busy(report, "V") == pytest.approx(0.0156 * 4096, rel=1e-4)
    soc = dict(sim.load_soc("ascend-a2").numbers)
    expected = soc["scalar.issue_cycles"] + soc["vector.head.fixed"] + 0.0156 * 4096 + 17 + 300
    assert report.cycles == pytest.approx(expected, rel=1e-4)


def test_pipes_overlap_and_a_barrier_makes_them_wait(tmp_path):
    apart = compile_text(tmp_path, "for (int i = 0; i < 64; ++i) Duplicate(Ub((i % 4) * 16384), 1.0f, 4096);")
    chained = compile_text(
        tmp_path,
        "for (int i = 0; i < 64; ++i) { Duplicate(Ub((i % 4) * 16384), 1.0f, 4096); PipeBarrier<PIPE_V>(); }",
    )
    args = [np.zeros(8, np.float32)]
    free, held = sim.run(apart, "k", args), sim.run(chained, "k", args)
    assert stalls(free, "V", "barrier") == 0
    assert stalls(held, "V", "barrier") == pytest.approx(64 * 17, rel=0.05)
    assert held.cycles - free.cycles == pytest.approx(63 * 17, rel=0.05)


def test_double_buffering_is_faster_than_one_buffer(tmp_path):
    text = (ADD_KERNEL).read_text().replace("Add(z, x, y, n);", "for (int i = 0; i < 20; ++i) Div(z, x, y, n);")
    single, double = tmp_path / "single.cpp", tmp_path / "double.cpp"
    double.write_text(text)
    single.write_text(
        text.replace("InitBuffer(inX_, 2", "InitBuffer(inX_, 1")
        .replace("inY_, 2", "inY_, 1")
        .replace("out_, 2", "out_, 1")
    )
    one = add(sim.compile(single, "ascend-a2"), 1 << 18, 8, 2048)
    two = add(sim.compile(double, "ascend-a2"), 1 << 18, 8, 2048)
    assert two.cycles < 0.9 * one.cycles


def test_cores_share_the_bandwidth(add_library):
    one = add(add_library, 1 << 16, 1, 4096)
    many = add(add_library, 48 << 16, 48, 4096)
    assert many.cycles > 1.2 * one.cycles  # the same work per core, but not alone
    assert stalls(many, "MTE2", "bandwidth") > stalls(one, "MTE2", "bandwidth")


def test_more_cores_are_faster_and_time_grows_with_size(add_library):
    times = [add(add_library, 1 << 20, blocks, 4096, timing_only=True).microseconds for blocks in (1, 4, 16, 48)]
    assert times == sorted(times, reverse=True)
    sizes = [add(add_library, n, 48, 4096, timing_only=True).microseconds for n in (1 << 14, 1 << 18, 1 << 22)]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("n", [1 << 20, (1 << 20) + 8 * 137])
def test_timing_only_agrees_with_the_full_run(add_library, n):
    full = add(add_library, n, 48, 1024)
    quick = add(add_library, n, 48, 1024, timing_only=True)
    assert quick.cycles == pytest.approx(full.cycles, rel=0.05)
    assert quick.loaded_bytes == pytest.approx(full.loaded_bytes, rel=0.05)


def test_timing_only_leaves_arrays_alone(add_library):
    z = np.full(4096, 5, np.float32)
    x = np.ones(4096, np.float32)
    sim.run(add_library, "add", [x, x, z], struct.pack("III", 4096, 4096, 512), 1, 0, timing_only=True)
    assert (z == 5).all()


def test_sync_all_waits_for_the_slowest_core(tmp_path):
    body = (
        "if (GetBlockIdx() == 1) for (int i = 0; i < 50; ++i) Duplicate(Ub(0), 1.0f, 4096);\n"
        "SyncAll();\nDuplicate(Ub(16384), 1.0f, 64);"
    )
    library = compile_text(tmp_path, body)
    report = sim.run(library, "k", [np.zeros(8, np.float32)], None, 2)
    assert sim.run(library, "k", [np.zeros(8, np.float32)], None, 2, timing_only=True).cycles == report.cycles
    sim.run(library, "k", [np.zeros(8, np.float32)], None, 48, timing_only=True)  # does not wait for the other 46
    soc = dict(sim.load_soc("ascend-a2").numbers)
    assert report.cycles > 50 * 0.0156 * 4096 + soc["sync.all_cores_cycles"]


def test_the_trace_has_pipes_lines_and_waits_and_calls_itself_an_estimate(add_library, tmp_path):
    path = tmp_path / "trace.json"
    add(add_library, 1 << 14, 2, 1024, trace=path)
    trace = json.loads(path.read_text())
    assert "estimate" in trace["otherData"]["time"]
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {e["tid"] for e in events} == {"V", "MTE2", "MTE3"}
    assert {e["pid"] for e in events} == {0, 1}
    line = (ADD_KERNEL).read_text().split("Add(z, x, y, n);")[0].count("\n") + 1
    added = [e for e in events if e["name"] == "Add"]
    assert len(added) == 16
    assert all(e["args"]["line"].endswith(f"add.cpp:{line}") for e in added)
    assert any(e["name"] == "wait: queue" for e in events)
    by_pipe = {}
    for event in sorted(events, key=lambda e: (e["pid"], e["tid"], e["ts"])):
        key = (event["pid"], event["tid"])
        assert event["ts"] >= by_pipe.get(key, 0) - 1e-3  # nothing on a pipe overlaps
        by_pipe[key] = event["ts"] + event["dur"]


def test_every_soc_marks_what_is_unknown():
    for name in sim.soc_names():
        soc = sim.load_soc(name)
        keys = {key for key, _ in soc.numbers}
        assert soc.unknown
        for key, reason in soc.unknown:
            assert any(k == key or k.startswith(key + ".") for k in keys), key
            assert reason
    assert {sim.load_soc(n).ub_bytes for n in ("ascend-a2", "ascend-a3")} == {196608}
    assert sim.load_soc("ascend-350").ub_bytes == 248 * 1024


@pytest.mark.parametrize("blocks", [1, 7, 48])
@pytest.mark.parametrize("soc", sim.soc_names())
def test_copies_take_their_bytes_over_the_shared_bandwidth(tmp_path, soc, blocks):
    body = (
        "GlobalTensor<float> g;\ng.SetGlobalBuffer((__gm__ float*)x, 8192);\n"
        "LocalTensor<float> a(TPosition::VECCALC, 0, 8192);\n"
        "for (int i = 0; i < 20; ++i) { DataCopy(a, g, 8192); PipeBarrier<PIPE_MTE2>(); }"
    )
    report = sim.run(compile_text(tmp_path, body, soc), "k", [np.zeros(8192, np.float32)], None, blocks)
    n = dict(sim.load_soc(soc).numbers)
    rate = n["dma.load.a"] + n["dma.load.b"] / blocks
    head = n["dma.load.head_large"] + n["dma.load.head_large_per_core"] * blocks
    assert busy(report, "MTE2") == pytest.approx(20 * (n["dma.load.fixed"] + 32768 / rate) + head, rel=0.01)
    assert report.microseconds == pytest.approx(
        report.cycles / n["clock.megahertz"] + n["launch.microseconds"], rel=1e-6
    )
