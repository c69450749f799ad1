"""``autofuse verify`` passes on the networks that ship with onnx: image classifiers whose sizes are fixed."""

from pathlib import Path

import onnx
import pytest
from autofuse_testkit.model_verification import check_model

LIGHT = sorted((Path(onnx.__file__).parent / "backend" / "test" / "data" / "light").glob("*.onnx"))


@pytest.mark.parametrize("file", LIGHT, ids=lambda file: file.stem)
def test_light_models_compute_what_they_did(file: Path) -> None:
    check_model(file, 1)  # their sizes are fixed


def test_light_models_are_there() -> None:
    assert len(LIGHT) == 9
