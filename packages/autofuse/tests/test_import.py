"""Importing is cheap, and what other packages bring is asked for by name."""

import subprocess
import sys

import autofuse
import click
import pytest
from autofuse.cli import COMMANDS, cli
from autofuse.errors import PluginMissingError

HEAVY = ("sympy", "numpy", "jinja2", "rich", "onnx", "autofuse_fusion")


def test_importing_brings_nothing_heavy() -> None:
    code = f"import sys, autofuse; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("words", [["--help"], ["cache", "--help"], ["cache", "ls"], ["show", "missing.json"]])
def test_commands_that_need_no_stage_import_none(words: list[str]) -> None:
    stages = ("autofuse.pipeline", "autofuse_codegen", "autofuse_schedule", "autofuse_fusion.stage", "sympy", "onnx")
    code = (
        f"import sys; from autofuse.cli import exit_code_of; exit_code_of({words}); "
        f"print([name for name in {stages} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_the_table_says(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert command.help


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
