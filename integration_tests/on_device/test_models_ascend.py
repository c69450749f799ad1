"""Real models that ship in wheels: sources for Ascend chips are written, and their kernels run in the emulator.

Every launch is compared with the interpreter; host steps run in ONNX Runtime. The default run takes the models of
``SLICE``, `nox -s on_device -- --all` takes all.
"""

import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse import plugins
from autofuse.cli import exit_code_of
from autofuse.example_inputs import call_sizes, random_inputs
from autofuse_fusion.options import FusionOptions
from autofuse_onnx.frontend import import_model
from autofuse_reference.executor import ProgramExecutor
from autofuse_runtime.module import CompiledModule
from autofuse_symshape.stage import infer
from checked_kernels import compiled, emitted

CORPUS = Path(__file__).parents[1] / "corpus.toml"
MODELS: tuple[dict[str, Any], ...] = tuple(tomllib.loads(CORPUS.read_text(encoding="utf-8"))["models"])
SLICE = ("silero_vad_16k_sequence", "rnet")
TARGET = "ascend-a2"


def name_of(model: dict[str, Any]) -> str:
    return Path(model["path"]).stem


def file_of(model: dict[str, Any]) -> Path:
    return Path(str(distribution(model["distribution"]).locate_file(model["path"])))


CASES = [
    pytest.param(model, id=name_of(model), marks=[] if name_of(model) in SLICE else pytest.mark.whole)
    for model in MODELS
]


def ranges_of(model: dict[str, Any]) -> dict[str, Any]:
    return {name: size if isinstance(size, int) else tuple(size) for name, size in model.get("dims", {}).items()}


@pytest.mark.parametrize("model", CASES)
def test_sources_are_written(model: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(model)
    output = tmp_path / "sources"
    code = exit_code_of(["compile", str(file), "--target", TARGET, "--emit-only", "-o", str(output), "-q"])
    assert code == 0, capsys.readouterr().err
    assert (output / "program.json").is_file()
    assert list((output / "src").glob("*_tiling_func.cpp"))


@pytest.mark.parametrize("model", CASES)
def test_islands_run_in_the_emulator(model: dict[str, Any], tmp_path: Path) -> None:
    graph = import_model(str(file_of(model)), dims=ranges_of(model))
    made = emitted(graph, TARGET, FusionOptions(), "m")
    kernels = compiled([made], tmp_path, TARGET)
    _, facts = infer(graph)
    sizes = smallest_sizes(model, facts)
    given = random_inputs(made.program, facts, sizes, contents=contents_of(model))
    given |= {name: np.array(number, given[name].dtype) for name, number in model.get("inputs", {}).items()}
    executor = ProgramExecutor(made.program, plugins.hosts(), run_kernel=kernels.run, tier="sim")
    CompiledModule(made.program, executor)(*(given[v.name] for v in made.program.inputs))
    assert kernels.launches
    print(f"{name_of(model)}: {len(set(kernels.launches))} kernels, {len(kernels.launches)} launches at {sizes}")


def contents_of(model: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {name: (low, high) for name, (low, high) in model.get("contents", {}).items()}


def smallest_sizes(model: dict[str, Any], facts: Any) -> dict[str, int]:
    """Small sizes at which the model has a result: the least that its entry allows, in multiples that it asks for."""
    known = {}
    for symbol in facts.symbols:
        divisor = model.get("multiples", {}).get(symbol.name, 1)
        if divisor > 1 or symbol.lo > 0:
            known[symbol.name] = -(-max(symbol.lo, 1) // divisor) * divisor
    return call_sizes(facts, known, largest=4)
