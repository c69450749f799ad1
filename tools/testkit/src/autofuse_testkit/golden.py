"""Golden files: expected text kept beside the test, reviewed as code."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Golden:
    """Compares text with files of one folder, or writes them."""

    folder: Path
    update: bool

    def __call__(self, text: str, name: str) -> None:
        """Raise AssertionError unless `text` is what the golden file `name` holds."""
        file = self.folder / name
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
            return
        if not file.exists():
            raise AssertionError(f"{file} is missing: run pytest with --update-golden and review what it writes")
        require_same(file.read_bytes().decode(), text, str(file))


def require_same(expected: str, actual: str, where: str) -> None:
    """Raise AssertionError with a diff unless the two texts are equal."""
    if expected != actual:
        lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), where, "this run", lineterm="", n=5)
        ending = "" if expected.splitlines() != actual.splitlines() else "\n(they differ in line ends only)"
        difference = "\n".join(lines)
        raise AssertionError(f"the text differs; --update-golden accepts it\n{difference}{ending}")
