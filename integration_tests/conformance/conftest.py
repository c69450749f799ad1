"""Options and counts of the conformance suites."""

from collections import Counter
from collections.abc import Iterator

import pytest

COUNTS = "ONNX node tests"
"""The property of a test's report that has its counts: reports come from all processes that run tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-node-cases", action="store_true", help="Run every ONNX node test every way, not a slice.")
    parser.addoption("--write-pins", action="store_true", help="Write the counts of ONNX node tests that are found.")


@pytest.fixture
def writes_pins(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--write-pins"))


@pytest.fixture
def node_test_counts(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counts by outcome, shown at the end."""
    counts: Counter[str] = Counter()
    yield counts
    request.node.user_properties.append((COUNTS, dict(counts)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: Counter[str] = Counter()
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if getattr(report, "when", None) == "teardown":
            for name, value in report.user_properties:
                counts.update(value if name == COUNTS else {})
    if counts:
        terminalreporter.section(COUNTS)
    for outcome in sorted(counts):
        terminalreporter.write_line(f"{counts[outcome]:6} {outcome}")
