"""``autofuse.compile``: what comes out computes, and what cannot be is refused with a reason."""

import warnings
from pathlib import Path

import autofuse
import numpy as np
import pytest
from autofuse.errors import DriverError, PluginMissingError
from autofuse.plugins import frontend
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import read
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.errors import AutofuseError
from autofuse_ir.graph import Graph
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import compile_library
from autofuse_runtime.errors import InputValueError, ToolMissingError
from autofuse_runtime.toolchain import find_toolchain

SIZES = (0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 255, 1000)


def arrays(batch: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(batch)
    return generator.standard_normal((batch, 6), np.float32), generator.standard_normal(6).astype(np.float32)


def test_one_compile_serves_every_size(affine: Graph) -> None:
    fn = autofuse.compile(affine)
    assert fn.stats.compiles == 1
    for batch in SIZES:
        x, bias = arrays(batch)
        np.testing.assert_array_equal(fn(x, bias), (x + bias) * np.float32(2))
    assert fn.stats.compiles == 1
    assert dict(fn.stats.calls_by_tier) == {"native": len(SIZES)}


def test_arguments_go_by_name_and_out_may_be_an_input(affine: Graph) -> None:
    fn = autofuse.compile(affine)
    x, bias = arrays(4)
    wanted = (x + bias) * np.float32(2)
    assert fn(bias=bias, x=x, out=x) is x
    np.testing.assert_array_equal(x, wanted)


def test_the_interpreter_gives_the_same_without_a_compiler(affine: Graph) -> None:
    x, bias = arrays(5)
    fn = autofuse.compile(affine, tier="interpreter")
    np.testing.assert_array_equal(fn(x, bias), autofuse.compile(affine)(x, bias))
    assert dict(fn.stats.calls_by_tier) == {"interpreter": 1}


def test_a_missing_compiler_is_said_once_and_the_interpreter_runs(
    affine: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fn = autofuse.compile(affine)
        x, bias = arrays(2)
        np.testing.assert_array_equal(fn(x, bias), (x + bias) * np.float32(2))
    assert len(said) == 1
    assert "interpreter" in str(said[0].message)
    assert "\n" not in str(said[0].message)
    with pytest.raises(ToolMissingError):
        autofuse.compile(affine, tier="jit")


def test_a_declared_range_is_kept_to(affine: Graph) -> None:
    fn = autofuse.compile(affine, dims={"batch": (1, 8)})
    fn(*arrays(8))
    with pytest.raises(InputValueError, match="batch"):
        fn(*arrays(9))
    with pytest.raises(InputValueError):
        autofuse.compile(affine, dims={"batch": 3})(*arrays(4))


def test_hints_are_where_profit_is_judged(affine: Graph) -> None:
    report = autofuse.compile(affine, hints={"batch": 11}).report
    assert dict(report.hints) == {"batch": 11}


def test_options_of_the_call_override_fusion_options(affine: Graph) -> None:
    fn = autofuse.compile(affine, numerics="strict", fusion=FusionOptions(enable=False))
    assert fn.lowered.options.numerics == "strict"
    assert fn.report.launches == 2


def test_structural_inputs_may_be_given_when_compiling() -> None:
    b = GraphBuilder("spread")
    x = b.input("x", ("n",), dt.float32)
    shape = b.input("shape", (2,), dt.int64)
    graph = b.build(outputs={"y": b.op("BroadcastTo", x, shape)})
    fn = autofuse.compile(graph, values={"shape": np.array([3, 4])})
    x_array = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(fn(x_array, np.array([3, 4])), np.broadcast_to(x_array, (3, 4)))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"dims": {"bach": 3}}, "bach"),
        ({"dims": {"batch": (4, 2)}}, "batch"),
        ({"hints": {"seq": 3}}, "seq"),
        ({"tier": "fast"}, "fast"),
        ({"device": "gpu"}, "gpu"),
        ({"device": "sim"}, "simulator"),
        ({"numerics": "loose"}, "numerics"),
        ({"target": "cpu9"}, "cpu9"),
        ({"target": "ascend-a2", "device": "gpu"}, "gpu"),
    ],
)
def test_wrong_arguments_are_named(affine: Graph, arguments: dict[str, object], word: str) -> None:
    with pytest.raises(AutofuseError, match=word) as caught:
        autofuse.compile(affine, **arguments)
    assert caught.value.exit_code == 2
    assert caught.value.fix


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(DriverError, match="int"):
        autofuse.compile(3)


def test_a_missing_front_end_names_its_package() -> None:
    with pytest.raises(PluginMissingError, match="autofuse-torch") as caught:
        frontend("torch", "compiling a torch module")
    assert caught.value.exit_code == 3
    assert "ONNX" in caught.value.fix, "nobody can install what is not released"
    with pytest.raises(PluginMissingError, match="which is not installed") as caught:
        frontend("caffe", "reading a Caffe model")


def test_the_original_flags_set_what_compile_uses(
    affine: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AUTOFUSE_FLAGS", "--enable_autofuse=false")
    monkeypatch.setenv("AUTOFUSE_DFX_FLAGS", f"--codegen_compile_debug=true;--debug_dir={tmp_path}")
    assert autofuse.compile(affine).report.launches == 2
    dumped = {file.name for file in (tmp_path / "autofuse_compile_debug").glob("*.json")}
    assert {"infer_001.json", "fuse_001.json", "schedule_002.json", "emit_002.json", "link_001.json"} <= dumped
    assert read(tmp_path / "autofuse_compile_debug" / "fuse_001.json").name == "affine"


def test_threads_are_set_for_models_compiled_before(affine: Graph) -> None:
    fn = autofuse.compile(affine)
    autofuse.set_num_threads(2)
    x, bias = arrays(1000)
    np.testing.assert_array_equal(fn(x, bias), (x + bias) * np.float32(2))
    with pytest.raises(DriverError):
        autofuse.set_num_threads(0)


def test_kernels_that_differ_in_names_only_are_emitted_once(tmp_path: Path) -> None:
    b = GraphBuilder("twice")
    x, y = b.input("x", ("n",), dt.float32), b.input("y", ("n",), dt.float32)
    outputs = {"s": b.op("Add", x, x, name="s"), "p": b.op("Mul", x, y, name="p"), "q": b.op("Mul", y, x, name="q")}
    fn = autofuse.compile(b.build(outputs=outputs), fusion=FusionOptions(enable=False))
    kernels = {kernel.arguments[-1].name: kernel for kernel in fn.lowered.program.kernels}
    assert len({kernel.name for kernel in kernels.values()}) == 3
    assert kernels["p"].launch == kernels["q"].launch != kernels["s"].launch
    assert [graph.nodes[-1].source for graph in kernels["q"].graphs] == [("q",)]
    x, y = np.float32([1, 2]), np.float32([3, 5])
    fn.save(tmp_path / "bundle")
    assert len(list((tmp_path / "bundle" / "src").glob("*_tiling_func.cpp"))) == 2
    for twice in (fn, autofuse.load(tmp_path / "bundle")):
        assert [out.tolist() for out in twice(x, y)] == [[2, 4], [3, 10], [3, 10]]


def test_kernels_of_one_program_are_compiled_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path))
    b = GraphBuilder("several")
    x = b.input("x", ("n",), dt.float32)
    outputs = {name: b.op(name, x) for name in ("Abs", "Exp", "Neg", "Sqrt", "Tanh")}
    toolchain = find_toolchain()
    lowered = autofuse.compile(b.build(outputs=outputs), fusion=FusionOptions(enable=False)).lowered
    compile_library(lowered.program, lowered.bundles, ArtefactCache(tmp_path / "other"), toolchain)
    assert len(lowered.bundles) == 5
    assert toolchain.processes_started == 3, "one for the kernels, one for the tiling solver, one links"
