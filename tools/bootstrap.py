#!/usr/bin/env python3
"""Set this repository up on a machine that has only Python and a C++ compiler.

    python3 tools/bootstrap.py quickstart       make .venv, install AutoFuse, compile and run real models
    python3 tools/bootstrap.py test [ARGS...]   make .venv, run `nox ARGS...` (its default sessions without any)
    python3 tools/bootstrap.py shell-env        print how to use .venv from a shell

Standard library only, and no syntax newer than Python 3.7: an old interpreter must reach the message that says so.
Running it again is cheap; a .venv left by an interrupted run, or copied from another folder, is made anew.
Exit codes: 0 done, 1 a step failed, 2 wrong usage, 3 something is missing on this machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
NOX = ("nox>=2024.10.9",)
UV = ("uv>=0.5",)
DONE, FAILED, WRONG_USAGE, MISSING = 0, 1, 2, 3


class SetupError(Exception):
    """A step of the set-up failed; the message says which and what to do."""


@dataclass(frozen=True)
class Machine:
    """What set-up needs to find on a machine."""

    python: tuple[int, int]
    has_venv: bool
    has_headers: bool
    compilers: tuple[str, ...]


def inspect_machine() -> Machine:
    """Look at the machine this runs on."""
    headers = Path(sysconfig.get_paths()["include"]) / "Python.h"
    return Machine(
        python=(sys.version_info[0], sys.version_info[1]),
        has_venv=all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip")),
        has_headers=headers.is_file(),
        compilers=tuple(name for name in ("g++", "clang++") if shutil.which(name)),
    )


def missing(machine: Machine) -> list[str]:
    """Return one line per thing that the machine lacks, with the Debian package that brings it."""
    version = f"python{machine.python[0]}.{machine.python[1]}"
    oldest = ".".join(map(str, OLDEST_PYTHON))
    lines = []
    if machine.python < OLDEST_PYTHON:
        lines.append(f"Python {oldest} or newer (this is {version[6:]}): apt-get install python3, or run a newer one")
        return lines  # venv and headers are asked of the interpreter that will be used
    if not machine.has_venv:
        lines.append(f"Python's venv module: apt-get install {version}-venv")
    if not machine.has_headers:
        lines.append(f"Python's C headers (Python.h): apt-get install {version}-dev")
    if not machine.compilers:
        lines.append("a C++ compiler (g++ or clang++): apt-get install g++")
    return lines


class Venv:
    """The repository's `.venv` and the record, in a file inside it, of what was installed to the end."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.python = self.folder / "bin" / "python"
        self.environment = dict(environment)
        self.record = self.folder / "autofuse-setup.json"

    def ensure(self) -> None:
        """Make `.venv`, unless a whole one of this folder and this Python is there."""
        if self._identity() == self._read_record().get("identity") and self._answers():
            return
        if self.folder.is_symlink() or self.folder.is_file():
            self.folder.unlink()
        elif self.folder.exists():
            say("making .venv anew: the one that is here was not finished, or belongs to another folder or Python")
            shutil.rmtree(self.folder)
        else:
            say("making .venv")
        run([sys.executable, "-m", "venv", str(self.folder)], self.environment, "make .venv")
        self._write_record({})

    def install(self, what: str, arguments: Sequence[str], inputs: Iterable[Path] = (), required: bool = True) -> bool:
        """Install with pip what `arguments` name, once per content of `inputs`; answer whether it is there."""
        digest = hashlib.sha256("\0".join(arguments).encode())
        for file in inputs:
            digest.update(file.read_bytes())
        steps = self._read_record()["steps"]
        if steps.get(what) == digest.hexdigest():
            return True
        say(f"installing {what}")
        self.record.unlink()  # an interruption from here on leaves a .venv without a record: it is made anew
        command = [*self._installer(), *arguments]
        try:
            run(command, self.environment, f"install {what}")
        except SetupError:
            if required:
                raise
            self._write_record(steps)
            return False
        self._write_record({**steps, what: digest.hexdigest()})
        return True

    def _installer(self) -> list[str]:
        uv = self.folder / "bin" / "uv"
        if uv.exists() and uv_works(uv, self.python, self.environment):
            return [str(uv), "pip", "install", "--quiet", "--python", str(self.python)]
        return [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]

    def _identity(self) -> str:
        return f"{self.folder} {sys.version} {sys.base_prefix}"

    def _answers(self) -> bool:
        command = [str(self.python), "-m", "pip", "--version"]
        return self.python.exists() and subprocess.call(command, env=self.environment, stdout=subprocess.DEVNULL) == 0

    def _read_record(self) -> dict[str, Any]:
        try:
            record: dict[str, Any] = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return record

    def _write_record(self, steps: Mapping[str, str]) -> None:
        self.record.write_text(json.dumps({"identity": self._identity(), "steps": dict(steps)}), encoding="utf-8")


def uv_works(uv: Path, python: Path, environment: Mapping[str, str]) -> bool:
    """Answer whether uv finds packages with this machine's settings; pip may know an index that uv does not."""
    command = [str(uv), "pip", "install", "--quiet", "--dry-run", "--reinstall", "--python", str(python), "packaging"]
    return subprocess.call(command, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def say(line: str) -> None:
    """Print one line of progress at once."""
    print(f"bootstrap: {line}", flush=True)


def run(command: Sequence[str], environment: Mapping[str, str], purpose: str) -> None:
    """Run a command with its output shown; a failure is a `SetupError` that names it."""
    code = subprocess.call(list(command), env=dict(environment), cwd=str(ROOT), stdin=subprocess.DEVNULL)
    if code != 0:
        raise SetupError(f"could not {purpose}: {' '.join(command)} ended with {code}. What it printed is above.")


def prepare(root: Path) -> Venv:
    """Make `.venv` with uv in it where uv can be had, and an environment that both installers agree on."""
    import environment as environments  # noqa: PLC0415  # newer syntax: only after the version check

    inherited = environments.clean(os.environ)
    venv = Venv(root, inherited)
    venv.ensure()
    settings = environments.read_pip_settings(str(venv.python), inherited)
    venv.environment.update(environments.uv_settings(settings, inherited))
    venv.environment["PATH"] = os.pathsep.join([str(venv.folder / "bin"), inherited.get("PATH", os.defpath)])
    if not venv.install("uv", UV, required=False):
        say("uv cannot be had here; pip and virtualenv do its work, more slowly")
    return venv


def quickstart(arguments: Sequence[str]) -> int:
    """Install AutoFuse with what the real models need, and run them."""
    import workspace  # noqa: PLC0415  # newer syntax: only after the version check

    venv = prepare(ROOT)
    packages = workspace.read_workspace(ROOT)
    editable = [word for package in packages for word in ("--editable", str(package.folder))]
    inputs = [package.folder / "pyproject.toml" for package in packages]
    venv.install("AutoFuse", [*editable, *workspace.dependency_group("quickstart", ROOT)], inputs)
    venv.install("real models", ["--no-deps", *workspace.dependency_group("quickstart-models", ROOT)])
    say("compiling and running real models")
    script = ROOT / "tools" / "quickstart.py"
    return subprocess.call([str(venv.python), str(script), *arguments], env=venv.environment, cwd=str(ROOT))


def test(arguments: Sequence[str]) -> int:
    """Run nox and repeat, as the last lines, what every pytest run said."""
    import results  # noqa: PLC0415  # newer syntax: only after the version check

    venv = prepare(ROOT)
    venv.install("nox", NOX)
    results.clear(ROOT)
    command = [str(venv.python), "-m", "nox", *arguments]
    uv = venv.folder / "bin" / "uv"
    if not (uv.exists() and uv_works(uv, venv.python, venv.environment)):
        command[3:3] = ["--default-venv-backend", "virtualenv"]
    code = subprocess.call(command, env=venv.environment, cwd=str(ROOT), stdin=subprocess.DEVNULL)
    for line in results.closing_lines(ROOT):
        print(line, flush=True)
    return code


def shell_env(arguments: Sequence[str]) -> int:
    """Print the shell lines that put `.venv` in use: `eval "$(python3 tools/bootstrap.py shell-env)"`."""
    folder = ROOT / ".venv"
    if not (folder / "bin" / "activate").exists():
        print("bootstrap: there is no .venv yet: run `python3 tools/bootstrap.py quickstart` first", file=sys.stderr)
        return FAILED
    print(f"# eval \"$(python3 '{ROOT}/tools/bootstrap.py' shell-env)\"; then: autofuse --help")
    print("unset PYTHONPATH PYTHONHOME")
    print(f". '{folder}/bin/activate'")
    return DONE


COMMANDS = {"quickstart": quickstart, "test": test, "shell-env": shell_env}


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code."""
    command = COMMANDS.get(arguments[0]) if arguments else None
    if command is None:
        asked_for_help = bool(arguments) and arguments[0] in ("-h", "--help")
        print(__doc__, file=sys.stdout if asked_for_help else sys.stderr)
        return DONE if asked_for_help else WRONG_USAGE
    lacking = missing(inspect_machine())
    if lacking:
        print("bootstrap: this machine lacks\n" + "".join(f"  * {line}\n" for line in lacking), file=sys.stderr, end="")
        return MISSING
    try:
        return command(arguments[1:])
    except SetupError as error:
        print(f"bootstrap: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("bootstrap: interrupted; the same command starts again where it can", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main(sys.argv[1:]))
