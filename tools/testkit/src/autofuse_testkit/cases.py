"""Case files: small texts in named sections, one case a file, so that a new case is a new file and no code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_HEADING = re.compile(r"^--- (?P<name>[\w .-]+) ---\n", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One case file: what it says before the first section, and its sections in order."""

    file: Path
    preamble: str
    sections: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> str:
        """Return the text of a section, with its final newline."""
        for section, text in self.sections:
            if section == name:
                return text
        raise KeyError(f"{self.file} has no section {name!r}; it has {', '.join(name for name, _ in self.sections)}")

    def __contains__(self, name: str) -> bool:
        return any(section == name for section, _ in self.sections)

    def with_section(self, name: str, text: str) -> Case:
        """Return the case with one section's text replaced, or appended."""
        changed = tuple((section, text if section == name else old) for section, old in self.sections)
        return Case(self.file, self.preamble, changed if name in self else (*self.sections, (name, text)))

    def text(self) -> str:
        """Return the file's text; `parse_case` is its inverse."""
        return self.preamble + "".join(f"--- {name} ---\n{text}" for name, text in self.sections)


def parse_case(file: Path, text: str) -> Case:
    """Parse the text of a case file."""
    preamble, *rest = _HEADING.split(text)
    sections = tuple(zip(rest[::2], rest[1::2], strict=True))
    if not sections:
        raise ValueError(f"{file} is no case: it has no line `--- name ---`")
    if len({name for name, _ in sections}) != len(sections):
        raise ValueError(f"{file} has two sections of one name")
    return Case(file, preamble, sections)


def cases(test_file: str, pattern: str = "*.txt", folder: str = "cases") -> Sequence[Any]:
    """Return the cases beside a test as pytest parameters named for their files; none at all is an error."""
    root = Path(test_file).parent / folder
    files = sorted(root.rglob(pattern))
    if not files:
        raise FileNotFoundError(f"{root} holds no case {pattern}")
    return [
        pytest.param(
            parse_case(file, file.read_text(encoding="utf-8")), id=file.relative_to(root).with_suffix("").as_posix()
        )
        for file in files
    ]
