"""The lengths of source files: a file past 300 lines is a question."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

LONG = 300


def table(files: Iterable[Path], root: Path) -> list[str]:
    """Return one line per file, longest first, then how many there are and how many are long."""
    lengths = sorted(((count_lines(file), file.relative_to(root).as_posix()) for file in files), reverse=True)
    lines = [f"{length:6}{'  ?' if length > LONG else '   '} {name}" for length, name in lengths]
    long = sum(length > LONG for length, _ in lengths)
    total = sum(length for length, _ in lengths)
    return [*lines, f"{total:6}    lines in {len(lengths)} files; {long} of them past {LONG}"]


def count_lines(file: Path) -> int:
    """Return how many lines a file has."""
    return len(file.read_text(encoding="utf-8").splitlines())
