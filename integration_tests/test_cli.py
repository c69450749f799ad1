"""The installed command on a real model, in processes of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest


def autofuse(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "autofuse"), *(str(word) for word in words)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert answer.returncode == code, answer.stderr
    assert "Traceback" not in answer.stderr
    return answer


@pytest.fixture(scope="module")
def speech(model_file: Callable[[str, str], Path]) -> Path:
    return model_file("silero-vad", "silero_vad/data/silero_vad_16k_sequence.onnx")


def test_a_model_goes_into_a_bundle_and_runs_at_two_sizes(speech: Path, tmp_path: Path) -> None:
    autofuse("compile", speech, "-o", tmp_path / "bundle", "--dim", "sequence_length=1..64")
    for length in (1, 3):
        answer = autofuse("run", tmp_path / "bundle", "--random", 1, "--dim", f"sequence_length={length}", "--json")
        assert length in json.loads(answer.stdout)["speech_probs"]["shape"]
    too_long = autofuse("run", tmp_path / "bundle", "--random", 1, "--dim", "sequence_length=65", code=2)
    assert "1..64" in too_long.stderr


def test_a_bundle_and_the_model_give_the_same(speech: Path, tmp_path: Path) -> None:
    autofuse("compile", speech, "-o", tmp_path / "bundle")
    words = ("--random", 3, "--dim", "sequence_length=4")
    autofuse("run", speech, *words, "--output", tmp_path / "model")
    autofuse("run", tmp_path / "bundle", *words, "--output", tmp_path / "saved")
    files = sorted((tmp_path / "model").glob("*.npy"))
    assert files
    for file in files:
        np.testing.assert_array_equal(np.load(file), np.load(tmp_path / "saved" / file.name))


def test_explain_is_narrow_and_its_json_the_same_twice(speech: Path) -> None:
    shown = autofuse("explain", speech).stdout
    assert "launches" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert autofuse("explain", speech, "--json").stdout == autofuse("explain", speech, "--json").stdout


def test_a_model_is_shown_as_the_graph_it_becomes(speech: Path) -> None:
    text = autofuse("show", speech).stdout
    assert text.startswith("graph ")
    assert " = Conv(" in text
    assert "\n  payloads: " in text
    assert "\n  payload @" not in text
    assert "\n  payload @" in autofuse("show", speech, "--full").stdout


def test_bench_compares_with_onnx_runtime(speech: Path) -> None:
    words = ("--samples", 1, "--dim", "sequence_length=2", "--json")
    rows = json.loads(autofuse("bench", speech, *words).stdout)["rows"]
    assert set(rows) == {"autofuse", "numpy", "onnxruntime"}


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07\x12"])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    assert "model.onnx" in autofuse("explain", tmp_path / "model.onnx", code=2).stderr
