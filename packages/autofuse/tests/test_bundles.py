"""``save`` and ``load``: a bundle holds the model, and shows when it was changed."""

import json
from pathlib import Path

import autofuse
import numpy as np
import pytest
from autofuse_ir.artefact import read
from autofuse_ir.graph import Graph
from autofuse_runtime.errors import BundleError

X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(4, 6)
BIAS = np.arange(6, dtype=np.float32)


def test_a_saved_model_gives_the_same_elsewhere(affine: Graph, tmp_path: Path) -> None:
    fn = autofuse.compile(affine)
    fn.save(tmp_path / "first")
    moved = (tmp_path / "first").rename(tmp_path / "second")
    loaded = autofuse.load(moved)
    np.testing.assert_array_equal(loaded(X, BIAS), fn(X, BIAS))
    assert loaded.stats.compiles == 0


def test_saving_a_built_model_compiles_nothing_and_an_interpreted_one_once(affine: Graph, tmp_path: Path) -> None:
    built = autofuse.compile(affine)
    built.save(tmp_path / "built")
    assert built.stats.compiles == 1


def test_a_bundle_says_what_it_was_made_of(affine: Graph, tmp_path: Path) -> None:
    autofuse.compile(affine).save(tmp_path / "bundle")
    assert read(tmp_path / "bundle" / "graph.json") == affine
    report = json.loads((tmp_path / "bundle" / "report.json").read_text(encoding="utf-8"))
    assert report["launches"] == {"before": 2, "after": 1}


def test_a_model_is_compiled_again_from_its_bundle(affine: Graph, tmp_path: Path) -> None:
    autofuse.compile(affine).save(tmp_path / "bundle")
    again = autofuse.compile(tmp_path / "bundle")
    np.testing.assert_array_equal(again(X, BIAS), (X + BIAS) * np.float32(2))


def test_a_changed_bundle_is_refused(affine: Graph, tmp_path: Path) -> None:
    autofuse.compile(affine).save(tmp_path / "bundle")
    program = tmp_path / "bundle" / "program.json"
    program.write_text(program.read_text(encoding="utf-8").replace("affine", "refine"), encoding="utf-8")
    with pytest.raises(BundleError, match=r"program\.json"):
        autofuse.load(tmp_path / "bundle")


def test_nothing_but_a_bundle_is_overwritten(affine: Graph, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine", encoding="utf-8")
    with pytest.raises(BundleError):
        autofuse.compile(affine).save(tmp_path)
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "mine"
