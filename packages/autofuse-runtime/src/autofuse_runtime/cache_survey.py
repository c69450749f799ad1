"""A cache as a whole: its entries, what is wrong with it, which entry is nearest to a recipe; clearing it."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen

from autofuse_runtime.cache import leftovers
from autofuse_runtime.cache_entry import Record, place_of, problem_of, read_record, remove
from autofuse_runtime.cache_locks import removing
from autofuse_runtime.recipe import Recipe

LITTLE_ROOM = 64 << 20
"""Free bytes under which a library of a large model may not fit."""

_ENTRIES = "*/??/*"


@frozen
class CacheEntry:
    """An entry as it lies there; ``record`` is None where it cannot be read, ``bytes`` counts all its files."""

    directory: Path
    record: Record | None
    bytes: int

    @property
    def name(self) -> str:
        """``<kind>/<key>``, from its place."""
        return f"{self.directory.parent.parent.name}/{self.directory.name}"


@frozen
class CacheFinding:
    """Something wrong: ``what`` at ``where``, and what helps; ``removable`` are the paths whose removal cures it."""

    what: str
    where: Path
    fix: str
    removable: tuple[Path, ...] = ()


@frozen
class Miss:
    """A recipe that the cache does not hold: ``damage`` of an entry that is there, else how the ``nearest`` differs.

    ``changed`` has the names of parts with their old and new digest, None where one side lacks the part.
    """

    recipe: Recipe
    damage: str | None
    nearest: CacheEntry | None
    changed: tuple[tuple[str, str | None, str | None], ...] = field(default=())


def entries(root: Path) -> Iterator[CacheEntry]:
    """Yield the entries of a cache, by kind and key; a folder that does not exist has none."""
    for directory in sorted(root.glob(_ENTRIES)):
        if not directory.name.startswith(".") and directory.is_dir():
            yield CacheEntry(directory, read_record(directory), _bytes_in(directory))


def miss_of(root: Path, recipe: Recipe) -> Miss | None:
    """Return why the cache has nothing for ``recipe``; None where it has."""
    directory = place_of(root, recipe.kind, recipe.key)
    problem = problem_of(directory)
    if problem is None:
        return None
    if directory.is_dir():
        return Miss(recipe, problem, None)
    wanted = recipe.digests

    def likeness(entry: CacheEntry) -> tuple[bool, int]:
        assert entry.record is not None
        same = sum(entry.record.parts.get(name) == digest for name, digest in wanted.items())
        return entry.record.what == recipe.what, same

    rivals = [entry for entry in entries(root) if entry.record is not None and entry.record.kind == recipe.kind]
    nearest = max(rivals, key=likeness, default=None)
    if nearest is None or nearest.record is None:
        return Miss(recipe, None, None)
    kept = nearest.record.parts
    names = dict.fromkeys((*wanted, *kept))
    changed = tuple((n, kept.get(n), wanted.get(n)) for n in names if kept.get(n) != wanted.get(n))
    return Miss(recipe, None, nearest, changed)


def findings(root: Path) -> tuple[CacheFinding, ...]:
    """Return all that is wrong with a cache: its place, its entries, what killed processes left in it."""
    if not root.exists():
        return ()
    if not root.is_dir():
        return (CacheFinding("this is no folder", root, "remove it, or set AUTOFUSE_CACHE to a folder"),)
    return (*_place_findings(root), *_entry_findings(root), *_leftover_findings(root))


def clear(root: Path) -> int:
    """Remove every entry and what killed processes left; returns how many entries. Anything else stays.

    Waits until no other process uses the cache. Raises `CacheError` where one does not finish, `OSError`.
    """
    if not root.is_dir():
        return 0
    with removing(root):
        found = list(entries(root))
        for entry in found:
            remove(entry.directory)
        for place in _places_of_leftovers(root):
            for path in leftovers(place, older_than=0.0):
                _discard(path)
    return len(found)


def cure(root: Path, found: tuple[CacheFinding, ...]) -> tuple[CacheFinding, ...]:
    """Remove what can be removed of ``found`` and return the rest. Raises like `clear`."""
    with removing(root):
        for finding in found:
            for path in finding.removable:
                # Another process may have made the entry anew meanwhile.
                if not path.name.startswith(".") and problem_of(path) is None:
                    continue
                _discard(path)
    return tuple(finding for finding in found if not finding.removable)


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
        remove(path)
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _bytes_in(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def _place_findings(root: Path) -> Iterator[CacheFinding]:
    about = root.stat()
    if about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX:
        yield CacheFinding("every user may write here, and code from here is run", root, f"chmod o-w {root}")
    if about.st_uid not in (os.geteuid(), 0):
        yield CacheFinding(
            "this belongs to another user, and code from here is run",
            root,
            "set AUTOFUSE_CACHE to a folder of your own",
        )
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        yield CacheFinding(
            f"it cannot be written ({error.strerror}), so what is missing is compiled in every process",
            root,
            "give write rights, or set AUTOFUSE_CACHE to another folder",
        )
    free = shutil.disk_usage(root).free
    if free < LITTLE_ROOM:
        yield CacheFinding(f"the disk has {free >> 20} MiB left", root, "free some space, or `autofuse cache clear`")


def _entry_findings(root: Path) -> Iterator[CacheFinding]:
    for entry in entries(root):
        problem = problem_of(entry.directory)
        if problem is not None:
            about = f" ({entry.record.what})" if entry.record is not None else ""
            what = f"damaged entry{about}: {problem}"
            yield CacheFinding(what, entry.directory, "--fix removes it", (entry.directory,))


def _leftover_findings(root: Path) -> Iterator[CacheFinding]:
    for place in _places_of_leftovers(root):
        for path in leftovers(place):
            yield CacheFinding("a process that was ended left this", path, "--fix removes it", (path,))


def _places_of_leftovers(root: Path) -> tuple[Path, ...]:
    return (root, *(path for path in sorted(root.glob("*/??")) if path.is_dir()))
