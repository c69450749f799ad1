"""The hooks and fixtures that pytest finds through the entry point."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings

from autofuse_testkit.cases import Case
from autofuse_testkit.compile_and_run import CompileAndRun
from autofuse_testkit.golden import Golden, require_same

# Hypothesis's own plug-in loads the profile of --hypothesis-profile after this import, so an explicit choice wins.
settings.register_profile("autofuse", derandomize=True, database=None, deadline=None)
settings.register_profile("fuzz", derandomize=False, database=None, deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("autofuse")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="write golden files and case sections, not compare")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare text with the files of `golden/` beside the test: `golden(text, "name.txt")`."""
    return Golden(request.path.parent / "golden", bool(request.config.getoption("--update-golden")))


@pytest.fixture
def check_case(request: pytest.FixtureRequest) -> Callable[[Case, str, str], None]:
    """Compare text with a section of a case: `check_case(case, "output", text)`."""
    update = bool(request.config.getoption("--update-golden"))

    def check(case: Case, section: str, text: str) -> None:
        text = text if text.endswith("\n") else f"{text}\n"
        if update:
            case.file.write_text(case.with_section(section, text).text(), encoding="utf-8")
        else:
            require_same(case[section], text, f"{case.file} [{section}]")

    return check


@pytest.fixture(scope="session")
def compile_and_run(tmp_path_factory: pytest.TempPathFactory) -> CompileAndRun:
    """Compile a C or C++ program and return what it prints: `compile_and_run("int main() { ... }")`."""
    return CompileAndRun(tmp_path_factory.mktemp("compiled"))
