"""Options and counts of the conformance suites."""

from collections import Counter

import pytest

COUNTS = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-node-cases", action="store_true", help="Run every ONNX node test every way, not a slice.")
    parser.addoption("--write-pins", action="store_true", help="Write the counts of ONNX node tests that are found.")


@pytest.fixture
def writes_pins(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--write-pins"))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counter()


@pytest.fixture
def node_test_counts(pytestconfig: pytest.Config) -> Counter[str]:
    """Counts by outcome, shown at the end."""
    return pytestconfig.stash[COUNTS]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = terminalreporter.config.stash[COUNTS]
    if not counts:
        return
    terminalreporter.section("ONNX node tests")
    for outcome in sorted(counts):
        terminalreporter.write_line(f"{counts[outcome]:6} {outcome}")
