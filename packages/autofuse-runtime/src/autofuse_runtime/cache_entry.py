"""One entry of the cache on disk: where it lies, its record, whether it is whole, and how it gets there and away."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from attrs import frozen

from autofuse_runtime.recipe import Recipe

RECORD = "entry.json"


@frozen
class Record:
    """What an entry says of itself; ``parts`` and ``files`` are digests by name."""

    kind: str
    key: str
    what: str
    made_by: str
    parts: dict[str, str]
    files: dict[str, str]


def place_of(root: Path, kind: str, key: str) -> Path:
    """Return the directory of an entry."""
    return root / kind / key[:2] / key


def sha256_of(path: Path) -> str:
    """Return the hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_record(directory: Path, recipe: Recipe) -> None:
    """Write the record of a new entry, with the digests of the files that are in it now."""
    record = {
        "kind": recipe.kind,
        "key": recipe.key,
        "about": {"what": recipe.what, "made by": recipe.made_by},
        "parts": recipe.digests,
        "files": {path.name: sha256_of(path) for path in sorted(directory.iterdir())},
    }
    with (directory / RECORD).open("w", encoding="utf-8") as file:
        json.dump(record, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())


def read_record(directory: Path) -> Record | None:
    """Return the record of an entry, None where it is missing or damaged."""
    try:
        data = json.loads((directory / RECORD).read_text(encoding="utf-8"))
        about = data["about"]
        return Record(
            kind=str(data["kind"]),
            key=str(data["key"]),
            what=str(about["what"]),
            made_by=str(about["made by"]),
            parts={str(name): str(digest) for name, digest in data["parts"].items()},
            files={str(name): str(digest) for name, digest in data["files"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def problem_of(directory: Path) -> str | None:
    """Return what is wrong with an entry: its record, its place, or a file that is not what the record says."""
    record = read_record(directory)
    if record is None:
        return "its record cannot be read; it is damaged, or of another version"
    if directory.name != record.key or directory.parent.parent.name != record.kind:
        return "it stands in the place of another entry"
    return damage_of(directory, record)


def damage_of(directory: Path, record: Record) -> str | None:
    """Return which file of an entry is missing or changed."""
    if not record.files:
        return "its record lists no files"
    for name, digest in sorted(record.files.items()):
        if "/" in name or name in ("", ".", ".."):
            return f"its record lists {name!r}, which is no file of its own"
        try:
            if sha256_of(directory / name) != digest:
                return f"{name} is not what was written"
        except OSError:
            return f"{name} cannot be read"
    return None


def is_intact(directory: Path) -> bool:
    """Answer whether an entry is there and whole."""
    return problem_of(directory) is None


def publish(made: Path, final: Path) -> None:
    """Rename ``made`` to ``final``; what stands there is damaged, or was made by someone else just now."""
    for _ in range(3):
        try:
            os.rename(made, final)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        if is_intact(final):
            return
        remove(final)
    raise OSError(errno.EEXIST, "a damaged entry cannot be replaced", str(final))


def remove(directory: Path) -> None:
    """Remove an entry: it is out of the way at once, and then emptied. Raises `OSError` where it cannot be moved."""
    grave = Path(tempfile.mkdtemp(prefix=".removed-", dir=directory.parent))
    try:
        os.rename(directory, grave / "entry")
    except FileNotFoundError:
        pass
    finally:
        shutil.rmtree(grave, ignore_errors=True)
