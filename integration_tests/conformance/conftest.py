"""Options and counts of the conformance suites."""

from collections import Counter

import pytest

Counts = Counter[tuple[str, str]]
COUNTS = pytest.StashKey[Counts]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-node-cases", action="store_true", help="Run every ONNX node case with both kinds of dims, not a slice."
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[COUNTS] = Counter()


@pytest.fixture
def node_case_counts(pytestconfig: pytest.Config) -> Counts:
    """Counts by family and outcome ("kernels", "host", "refused"), shown at the end."""
    return pytestconfig.stash[COUNTS]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = terminalreporter.config.stash[COUNTS]
    if not counts:
        return
    terminalreporter.section("ONNX node cases by family")
    for family in sorted({family for family, _ in counts}):
        found = "  ".join(f"{outcome} {counts[family, outcome]}" for outcome in ("kernels", "host", "refused"))
        terminalreporter.write_line(f"{family:24}{found}")
