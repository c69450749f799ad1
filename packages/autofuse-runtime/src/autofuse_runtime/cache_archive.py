"""Entries of a cache as one file: a compressed tar whose first member lists what has to follow, byte for byte.

The same entries give the same bytes. What is read is checked whole before any of it becomes an entry: each member must
be the one that the list names next, of the size and sha256 that it states. The digests find damage; they are no
signature: an archive holds code that will be run, so its own sha256 is what a receiver compares.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from attrs import asdict, frozen

from autofuse_runtime.cache import sweep
from autofuse_runtime.cache_entry import RECORD, damage_of, is_intact, place_of, publish, read_record, sha256_of
from autofuse_runtime.cache_locks import in_use
from autofuse_runtime.cache_survey import CacheEntry
from autofuse_runtime.errors import CacheError, DiskError

FORMAT = "autofuse.cache-archive"
VERSION = (1, 0)

_LIST = "autofuse-cache.json"
_LARGEST_LIST = 64 << 20
_KIND = re.compile(r"[a-z][a-z0-9-]{0,31}")
_HEX = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20
"""Bytes that are read at a time."""


@frozen
class ArchiveFile:
    """A file of an entry: its size in bytes and its sha256."""

    name: str
    size: int
    sha256: str


@frozen
class ArchiveEntry:
    """An entry of an archive and its files, the record first."""

    kind: str
    key: str
    files: tuple[ArchiveFile, ...]

    @property
    def name(self) -> str:
        """How errors call it."""
        return f"{self.kind}/{self.key}"


def export_entries(chosen: Iterable[CacheEntry], target: Path) -> str:
    """Write ``chosen`` to the archive ``target``, whole or not at all, and return the archive's sha256.

    Raises `CacheError` for an entry that is damaged, `DiskError`.
    """
    partial: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            partial = Path(file.name)
            _write(chosen, file)
            file.flush()
            os.fsync(file.fileno())
        digest = sha256_of(partial)
        partial.chmod(0o644)
        partial.replace(target)
    except CacheError:
        raise
    except OSError as error:
        raise DiskError(
            f"the archive cannot be written: {error.strerror}", where=str(target), fix="check the path and the disk"
        ) from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)
    return digest


def import_entries(source: Path, root: Path) -> tuple[int, int]:
    """Add the archive's entries to the cache ``root``; returns how many were added and how many it had already.

    Raises `CacheError`, naming the entry, for an archive that is cut short, changed, or not one of ours, and then no
    entry has been added; `DiskError` where something cannot be read or written.
    """
    try:
        source.stat()  # before a cache is made for what is not there
        root.mkdir(parents=True, exist_ok=True)
        sweep(root)
        with in_use(root), tempfile.TemporaryDirectory(dir=root, prefix=".import-") as name:
            return _published(_unpacked(source, Path(name)), root)
    except CacheError:
        raise
    except OSError as error:
        raise DiskError(
            f"the archive cannot be imported: {error.strerror or error}",
            where=str(error.filename or source),
            fix="check the path, its rights and the disk",
        ) from error


def _write(chosen: Iterable[CacheEntry], target: IO[bytes]) -> None:
    listed = [_listed(entry) for entry in sorted(chosen, key=lambda entry: entry.name)]
    head = {"format": FORMAT, "version": list(VERSION), "entries": [asdict(entry) for entry, _ in listed]}
    # Neither times nor names of this machine: the same entries make the same file.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.USTAR_FORMAT) as tar,
    ):
        _add(tar, _LIST, json.dumps(head, indent=1, sort_keys=True).encode())
        for entry, directory in listed:
            for file in entry.files:
                content = (directory / file.name).read_bytes()
                if len(content) != file.size or hashlib.sha256(content).hexdigest() != file.sha256:
                    raise CacheError(f"{file.name} changed meanwhile", where=entry.name, fix="export again")
                _add(tar, _member(entry, file), content)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o644
    tar.addfile(member, io.BytesIO(content))


def _member(entry: ArchiveEntry, file: ArchiveFile) -> str:
    return f"{entry.name}/{file.name}"


def _listed(entry: CacheEntry) -> tuple[ArchiveEntry, Path]:
    record = entry.record
    problem = (
        "its record cannot be read; it is damaged, or of another version"
        if record is None
        else damage_of(entry.directory, record)
    )
    if record is None or problem is not None:
        raise CacheError(
            f"a damaged entry: {problem}", where=entry.name, fix="`autofuse cache doctor --fix` removes it"
        )
    paths = [entry.directory / name for name in (RECORD, *sorted(record.files))]
    files = tuple(ArchiveFile(path.name, path.stat().st_size, sha256_of(path)) for path in paths)
    return ArchiveEntry(record.kind, record.key, files), entry.directory


def _unpacked(source: Path, folder: Path) -> list[tuple[Path, ArchiveEntry]]:
    """Write the archive's entries to ``folder/<number>/``, check them, and return them with their places."""
    made: list[tuple[Path, ArchiveEntry]] = []
    with source.open("rb") as raw, gzip.GzipFile(fileobj=raw, mode="rb") as packed:
        with _named(source, "its list of entries"):
            tar = tarfile.open(fileobj=packed, mode="r|")  # noqa: SIM115 - it holds nothing beyond `packed`
            listed = _read_list(tar.next(), tar, source)
        for number, entry in enumerate(listed):
            directory = folder / str(number)
            directory.mkdir()
            with _named(source, f"entry {entry.name}"):
                for file in entry.files:
                    _unpack(tar, entry, file, directory / file.name, source)
            _check_record(directory, entry, source)
            made.append((directory, entry))
        with _named(source, "its end"):
            if tar.next() is not None or packed.read(_PIECE).strip(b"\0"):
                raise CacheError("more follows than its list names", where=str(source), fix="export it again")
    return made


@contextmanager
def _named(source: Path, place: str) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CacheError(
            f"the archive is cut short or damaged at {place} ({error})",
            where=str(source),
            fix="copy or export it again; nothing was imported",
        ) from error


def _read_list(member: tarfile.TarInfo | None, tar: tarfile.TarFile, source: Path) -> tuple[ArchiveEntry, ...]:
    try:
        if member is None or member.name != _LIST or not member.isreg() or member.size > _LARGEST_LIST:
            raise ValueError("no list of entries comes first")
        content = tar.extractfile(member)
        data = json.loads(content.read() if content is not None else b"")
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r}")
        version = tuple(int(part) for part in data["version"])
        if version[:1] != VERSION[:1]:
            raise CacheError(
                f"the archive has version {'.'.join(map(str, version))}, this AutoFuse reads {VERSION[0]}",
                where=str(source),
                fix="upgrade AutoFuse, or export with this version",
            )
        return tuple(_entry(item) for item in data["entries"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CacheError(
            f"this is no archive of cache entries ({error})",
            where=str(source),
            fix="give a file that `autofuse cache export` wrote",
        ) from error


def _entry(data: Any) -> ArchiveEntry:
    files = tuple(ArchiveFile(str(f["name"]), int(f["size"]), str(f["sha256"])) for f in data["files"])
    entry = ArchiveEntry(str(data["kind"]), str(data["key"]), files)
    if not _KIND.fullmatch(entry.kind) or not _HEX.fullmatch(entry.key):
        raise ValueError(f"an entry is called {entry.name[:100]!r}")
    names = [file.name for file in files]
    if len(set(names)) != len(names) or RECORD not in names:
        raise ValueError(f"entry {entry.name} lists {RECORD} not once, or a file twice")
    for file in files:
        if "/" in file.name or file.name.startswith(".") or not file.name.isprintable() or file.size < 0:
            raise ValueError(f"entry {entry.name} lists the file {file.name[:100]!r}")
    return entry


def _unpack(tar: tarfile.TarFile, entry: ArchiveEntry, file: ArchiveFile, target: Path, source: Path) -> None:
    member = tar.next()
    if member is None:
        raise tarfile.ReadError("nothing more follows")
    content = tar.extractfile(member) if member.isreg() else None
    if content is None or member.name != _member(entry, file) or member.size != file.size:
        _refuse(f"{file.name} is not the next file", entry, source)
    digest = hashlib.sha256()
    with target.open("wb") as out:
        while piece := content.read(_PIECE):
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != file.sha256:
        _refuse(f"{file.name} is not what was exported", entry, source)


def _check_record(directory: Path, entry: ArchiveEntry, source: Path) -> None:
    record = read_record(directory)
    if record is None or (record.kind, record.key) != (entry.kind, entry.key):
        _refuse("its record is that of another entry", entry, source)
    if set(record.files) != {file.name for file in entry.files} - {RECORD}:
        _refuse("its record names other files", entry, source)
    problem = damage_of(directory, record)
    if problem is not None:
        _refuse(problem, entry, source)


def _refuse(problem: str, entry: ArchiveEntry, source: Path) -> NoReturn:
    raise CacheError(
        f"entry {entry.name} is refused: {problem}",
        where=str(source),
        fix="copy or export it again; nothing was imported",
    )


def _published(staged: list[tuple[Path, ArchiveEntry]], root: Path) -> tuple[int, int]:
    """Make entries of what was unpacked; by now all of it has been checked."""
    added = 0
    for directory, entry in staged:
        final = place_of(root, entry.kind, entry.key)
        final.parent.mkdir(parents=True, exist_ok=True)
        if not is_intact(final):
            publish(directory, final)
            added += 1
    return added, len(staged) - added
