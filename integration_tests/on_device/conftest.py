"""Whether a slice runs, or everything: `nox -s on_device -- --all`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="Run everything that the default run takes a slice of.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "whole: what only the run of everything takes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the whole run takes."""
    if not config.getoption("--all"):
        left_out = [item for item in items if item.get_closest_marker("whole")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("whole")]


@pytest.fixture(scope="session")
def is_whole(request: pytest.FixtureRequest) -> bool:
    """True where everything was asked for."""
    return bool(request.config.getoption("--all"))
