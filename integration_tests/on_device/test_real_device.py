"""``device="real"`` from end to end with a stand-in for CANN: its compiler, its runtime library, no chip."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse.compiler import load_lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_runtime.errors import MemoryExhaustedError, ToolMissingError
from autofuse_testkit.fake_cann import log_of, make_fake_cann
from autofuse_testkit.joint import lowered


def bias_gelu() -> Graph:
    b = GraphBuilder("bias_gelu")
    x, bias = b.input("x", ("n", 24), dt.float32), b.input("bias", (24,), dt.float32)
    return b.build({"y": b.op("GeluV2", b.op("Add", x, bias), approximate="none")})


@pytest.fixture(scope="module")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_fake_cann(tmp_path_factory.mktemp("cann") / "latest")


@pytest.fixture
def with_cann(cann: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path))
    (cann / "log").unlink(missing_ok=True)
    return cann


def inputs(rows: int) -> list[Any]:
    rng = np.random.default_rng(rows)
    return [rng.normal(size=(rows, 24)).astype(np.float32), rng.normal(size=24).astype(np.float32)]


@pytest.mark.parametrize("target", ["ascend-a2", "ascend-350"])
def test_kernels_are_built_launched_and_give_the_emulator_s_bits(target: str, with_cann: Path) -> None:
    real = autofuse.compile(bias_gelu(), target=target, device="real")
    emulated = autofuse.compile(bias_gelu(), target=target, device="sim")
    for rows in (1, 5, 300):
        np.testing.assert_array_equal(real(*inputs(rows)), emulated(*inputs(rows)))
    assert dict(real.stats.calls_by_tier) == {"real": 3}
    assert real.stats.compiles == 1
    log = log_of(with_cann)
    arch = {"ascend-a2": "dav-2201", "ascend-350": "dav-3510"}[target]
    (compiled,) = [line for line in log if " -c " in line]
    assert f"-x asc --npu-arch={arch} -O2 -std=c++17" in compiled
    assert sum(line.startswith("launch ") for line in log) == 3
    blocks = [int(line.split()[-2]) for line in log if line.startswith("launch ")]
    assert max(blocks) == 4, "as many as the device says that it has cores"
    assert sum("aclrtMalloc" in line for line in log) == sum("aclrtFree" in line for line in log)


def test_any_thread_may_call(with_cann: Path) -> None:
    real = autofuse.compile(bias_gelu(), target="ascend-a2", device="real")
    wanted = real(*inputs(7))
    with ThreadPoolExecutor(1) as pool:
        np.testing.assert_array_equal(pool.submit(real, *inputs(7)).result(), wanted)


def test_nothing_is_launched_where_nothing_is_stored(with_cann: Path) -> None:
    real = autofuse.compile(bias_gelu(), target="ascend-a2", device="real")
    assert real(*inputs(0)).shape == (0, 24)
    assert not any(line.startswith("launch ") for line in log_of(with_cann))


def test_kernels_of_several_parts_use_workspace_of_the_device(with_cann: Path) -> None:
    b = GraphBuilder("steps")
    x = b.input("x", ("n", "m"), dt.float32)
    graph = b.build({"y": b.op("Abs", b.op("Neg", b.op("Exp", x)))})
    options = FusionOptions(numerics="strict", enable=False, max_parts=1)
    fn = load_lowered(lowered(graph, True, "ascend-a2", options), load_target("ascend-a2"), device="real")
    given = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32)
    emulated = load_lowered(lowered(graph, True, "ascend-a2", options), load_target("ascend-a2"))
    np.testing.assert_array_equal(fn(given), emulated(given))


def test_values_without_a_result_are_errors_from_the_device(with_cann: Path) -> None:
    b = GraphBuilder("rows")
    table, index = b.input("table", ("n", 16), dt.float32), b.input("index", ("k",), dt.int32)
    graph = b.build({"y": b.op("Gather", table, index)})
    fn = autofuse.compile(graph, target="ascend-a2", device="real")
    rows = np.arange(64, dtype=np.float32).reshape(4, 16)
    np.testing.assert_array_equal(fn(rows, np.array([2, 0, 3], np.int32)), rows[[2, 0, 3]])
    with pytest.raises(ArithmeticError, match="an index is out of range"):
        fn(rows, np.array([2, 9], np.int32))
    np.testing.assert_array_equal(fn(rows, np.array([1], np.int32)), rows[[1]])


def test_what_the_device_cannot_hold_is_an_error_and_leaves_nothing_behind(
    with_cann: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CANN_BYTES", "10000")
    real = autofuse.compile(bias_gelu(), target="ascend-a2", device="real")
    real(*inputs(10))
    with pytest.raises(MemoryExhaustedError, match="no memory left"):
        real(*inputs(100))
    log = log_of(with_cann)
    assert sum("aclrtMalloc" in line for line in log) == sum("aclrtFree" in line for line in log)


def test_without_cann_one_paragraph_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolMissingError) as error:
        autofuse.compile(bias_gelu(), target="ascend-a2", device="real")
    text = str(error.value)
    for part in ("ASCEND_HOME_PATH is not set", "bisheng", "libascendcl.so", "set_env.sh", "device sim"):
        assert part in text
    assert "\n\n" not in text
    assert error.value.exit_code == 3
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "gone"))
    with pytest.raises(ToolMissingError, match="which is no folder"):
        autofuse.compile(bias_gelu(), target="ascend-a2", device="real")
