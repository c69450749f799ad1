"""The quickstart's models are installed, at sizes they have; its table fits a narrow terminal."""

import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve
from rich.console import Console


@pytest.fixture(scope="module")
def quickstart(repository: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("quickstart", repository / "tools" / "quickstart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["quickstart"] = module
    spec.loader.exec_module(module)
    return module


def test_it_runs_three_models_at_three_sizes_each(quickstart: ModuleType) -> None:
    assert len(quickstart.MODELS) == 3
    assert all(len(model.sizes) == 3 for model in quickstart.MODELS)


def test_a_models_table_shows_right_results_and_fits_80_columns(quickstart: ModuleType) -> None:
    model = next(m for m in quickstart.MODELS if m.distribution == "silero-vad")
    text = io.StringIO()
    assert quickstart.show(evolve(model, sizes=model.sizes[:1]), Console(file=text, width=quickstart.WIDTH))
    lines = text.getvalue().splitlines()
    assert max(len(line) for line in lines) <= 80
    assert "…" not in text.getvalue()
    assert sum(line.startswith("│") for line in lines) == 1  # a size a line: no cell was wrapped
