"""Importing is cheap, and what other packages bring is asked for by name."""

import subprocess
import sys

import autofuse
import pytest
from autofuse.errors import PluginMissingError

HEAVY = ("sympy", "numpy", "jinja2", "rich", "onnx", "autofuse_fusion")
SECONDS = 0.3


def test_importing_takes_little_time_and_nothing_heavy() -> None:
    code = (
        "import sys, time; start = time.process_time(); import autofuse; took = time.process_time() - start; "
        f"print(took, *(name for name in {HEAVY} if name in sys.modules))"
    )
    took, *loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded == []
    assert float(took) < SECONDS


def test_compiling_a_small_graph_needs_no_algebra_engine(affine_file: object) -> None:
    code = f"import sys, autofuse; autofuse.compile({str(affine_file)!r}); print('sympy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert answer.strip() == "False"


@pytest.mark.parametrize("name", ["jit", "erf", "evaluate"])
def test_what_autofuse_numpy_brings_names_it_where_it_is_missing(name: str) -> None:
    with pytest.raises(PluginMissingError, match="autofuse-numpy"):
        getattr(autofuse, name)


def test_an_unknown_attribute_is_what_python_says_it_is() -> None:
    with pytest.raises(AttributeError, match="frobnicate"):
        _ = autofuse.frobnicate
