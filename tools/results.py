"""What the pytest runs of one nox run said, kept as JUnit files so that it can be repeated at the end."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree


def folder(root: Path) -> Path:
    """Return where the sessions write their JUnit files."""
    return root / ".nox" / "results"


def clear(root: Path) -> None:
    """Forget earlier runs."""
    shutil.rmtree(folder(root), ignore_errors=True)


def closing_lines(root: Path) -> list[str]:
    """Return one line per pytest run, and one for all together: `N passed, N failed, N skipped`."""
    counts = {file.stem: count(file) for file in sorted(folder(root).glob("*.xml"))}
    if not counts:
        return []
    width = max(map(len, counts))
    lines = [f"{name:{width}}  {describe(*numbers)}" for name, numbers in counts.items()]
    passed, failed, skipped = (sum(column) for column in zip(*counts.values(), strict=True))
    return ["", *lines, "", describe(passed, failed, skipped)]


def describe(passed: int, failed: int, skipped: int) -> str:
    """Return the counts as pytest spells them."""
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def count(file: Path) -> tuple[int, int, int]:
    """Return how many tests passed, failed (or could not run) and were skipped or failed as expected."""
    suites = list(ElementTree.parse(file).getroot().iter("testsuite"))
    total, failures, errors, skipped = (
        sum(int(suite.get(name, "0")) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    )
    return total - failures - errors - skipped, failures + errors, skipped
