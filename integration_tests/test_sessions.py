"""The nox sessions are found from what lies on disk."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def sessions(repository: Path) -> dict[str, bool]:
    """Every session, and whether the default run has it."""
    command = [sys.executable, "-m", "nox", "--list-sessions"]
    listing = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in listing.splitlines() if line.startswith(("* ", "- "))]
    return {name: mark == "*" for mark, name, *_ in lines}


def test_every_package_on_disk_is_tested_by_default(repository: Path, sessions: dict[str, bool]) -> None:
    packages = [folder.parent.name for folder in (repository / "packages").glob("*/pyproject.toml")]
    assert packages
    for package in packages:
        assert sessions[f"tests-{package}"]
        assert not sessions[f"oldest-{package}"]
    assert sum(name.startswith("tests-") for name in sessions) == len(packages)


def test_the_default_run_has_every_check(sessions: dict[str, bool]) -> None:
    for name in ("lint", "typecheck", "layers", "schemas", "docs", "build", "integration", "on_device"):
        assert sessions[name]
    for name in ("bench", "conformance", "corpus", "fuzz", "sizes"):
        assert not sessions[name]
