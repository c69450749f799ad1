"""Files inside artefacts: relative paths, and the sha256 of their text."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.tiling import SupportFile


def check_sha256(path: str, text: str, sha256: str) -> Iterator[Finding]:
    """The sha256 is that of the text."""
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != sha256:
        yield Finding(f"file {path!r}", "its text has another sha256", "it was edited or damaged: make it again")


def check_path(path: str) -> Iterator[Finding]:
    """The path stays inside its folder."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or ".." in parts:
        yield Finding(f"file {path!r}", "its path leads out of its folder", "use a relative path")


def check_support_files(files: Sequence[SupportFile]) -> Iterator[Finding]:
    """Support files have names of their own, safe paths and their sha256."""
    for name in duplicates(file.name for file in files):
        yield Finding(f"file {name!r}", "there are two of them", "", f"support {name} ")
    for file in files:
        yield from check_path(file.name)
        yield from check_sha256(file.name, file.text, file.sha256)
