import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bootstrap
import environment
import pytest

SCRIPT = Path(bootstrap.__file__)
WHOLE = bootstrap.Machine(python=(3, 12), has_venv=True, has_headers=True, compilers=("g++",))


def run_script(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    inherited = {**os.environ, **variables}
    return subprocess.run(command, env=inherited, capture_output=True, text=True, timeout=60, check=False)


def test_nothing_is_missing_on_a_whole_machine() -> None:
    assert bootstrap.missing(WHOLE) == []
    assert bootstrap.missing(bootstrap.Machine((3, 11), True, True, ("clang++",))) == []


@pytest.mark.parametrize(
    ("machine", "package"),
    [
        (bootstrap.Machine((3, 12), False, True, ("g++",)), "python3.12-venv"),
        (bootstrap.Machine((3, 12), True, False, ("g++",)), "python3.12-dev"),
        (bootstrap.Machine((3, 12), True, True, ()), "apt-get install g++"),
        (bootstrap.Machine((3, 10), False, False, ("g++",)), "Python 3.11 or newer"),
    ],
)
def test_what_is_missing_is_named_with_the_package_that_brings_it(machine: bootstrap.Machine, package: str) -> None:
    (line,) = bootstrap.missing(machine)
    assert package in line


def test_everything_missing_is_told_at_once() -> None:
    assert len(bootstrap.missing(bootstrap.Machine((3, 11), False, False, ()))) == 3


def test_without_a_compiler_the_script_says_so_and_fails(tmp_path: Path) -> None:
    answer = run_script("test", PATH=str(tmp_path))
    assert answer.returncode == bootstrap.MISSING
    assert "apt-get install g++" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_an_unknown_command_shows_the_usage_and_fails() -> None:
    answer = run_script("tset")
    assert answer.returncode == bootstrap.WRONG_USAGE
    assert "bootstrap.py quickstart" in answer.stderr
    assert run_script("--help").returncode == 0


def test_an_old_interpreter_can_read_the_script() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_only_the_standard_library_is_imported_before_anything_is_installed() -> None:
    local = {file.stem for file in SCRIPT.parent.glob("*.py")}
    for name in ("bootstrap", "environment", "workspace", "results"):
        tree = ast.parse((SCRIPT.parent / f"{name}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            modules = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names | local


def made(root: Path) -> bootstrap.Venv:
    venv = bootstrap.Venv(root, environment.clean(os.environ))
    venv.ensure()
    return venv


def without_pip(command: list[str], environment: dict[str, str], purpose: str) -> None:
    """Make a venv as `bootstrap.run` does, without pip, which is all the time that it takes."""
    subprocess.run([*command, "--without-pip"], env=environment, check=True)


def test_a_whole_venv_is_kept_and_any_other_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "here"
    (root / ".venv" / "bin").mkdir(parents=True)  # what an interruption may leave
    (root / ".venv" / "bin" / "python").write_text("not an interpreter")
    venv = made(root)
    subprocess.run([str(venv.python), "-m", "pip", "--version"], check=True, stdout=subprocess.DEVNULL)

    witness = venv.folder / "witness"
    witness.touch()
    made(root)
    assert witness.exists()  # nothing to do the second time

    monkeypatch.setattr(bootstrap, "run", without_pip)
    copied = tmp_path / "copied"
    shutil.copytree(root, copied, symlinks=True)
    made(copied)
    assert not (copied / ".venv" / "witness").exists()  # its scripts would run the other folder's

    venv.record.unlink()  # as while something is being installed
    made(root)
    assert not witness.exists()


def test_a_step_is_done_once_until_what_it_reads_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, declared = tmp_path / "here", tmp_path / "pyproject.toml"
    declared.write_text("one")
    (root / ".venv").mkdir(parents=True)
    venv = bootstrap.Venv(root, {})
    venv.record.write_text(json.dumps({"identity": "any", "steps": {}}))
    ran: list[list[str]] = []

    def note(command: list[str], environment: dict[str, str], purpose: str) -> None:
        assert not venv.record.exists()  # an interruption now leaves no record
        ran.append(command)

    monkeypatch.setattr(bootstrap, "run", note)
    venv.install("packages", ["a"], [declared])
    venv.install("packages", ["a"], [declared])
    assert len(ran) == 1
    declared.write_text("two")
    venv.install("packages", ["a"], [declared])
    venv.install("packages", ["a", "b"], [declared])
    assert len(ran) == 3


def test_a_failed_step_ends_the_set_up_with_its_command() -> None:
    with pytest.raises(bootstrap.SetupError, match=r"could not do this: .* ended with 3"):
        bootstrap.run([sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ), "do this")
