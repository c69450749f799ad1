"""Whether a slice runs, or everything: `nox -s on_device -- --all`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="Run everything that the default run takes a slice of.")


@pytest.fixture(scope="session")
def is_whole(request: pytest.FixtureRequest) -> bool:
    """True where everything was asked for."""
    return bool(request.config.getoption("--all"))
