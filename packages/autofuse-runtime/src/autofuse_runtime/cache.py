"""Content-addressed store of what compilers made: safe among processes, checked on every read, never half-written."""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from autofuse_runtime.errors import DiskError

_RECORD = "entry.json"
_LOCK_SECONDS = 300.0
_POLL_SECONDS = 0.02
_LEFTOVER_SECONDS = 24 * 3600.0
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def key_of(*parts: str | bytes) -> str:
    """Return the name of what is made from ``parts`` (sources, flags, identities): a sha256 over them in order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """Return the hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ArtefactCache:
    """Directory of entries ``<kind>/<key[:2]>/<key>/``, each with its files and a record of their sha256.

    Where the directory cannot be written, entries go to a temporary one for this process, after a one-line warning.
    ``hits`` and ``misses`` count what ``entry`` found and made.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hits = 0
        self.misses = 0
        self._fallback: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    def entry(self, kind: str, key: str, about: Mapping[str, str], make: Callable[[Path], None]) -> Path:
        """Return the directory of entry ``key``; where it is missing or damaged, ``make(directory)`` fills a new one.

        ``about`` says in words what went into the key. Raises `DiskError` when nothing can be written anywhere; what
        ``make`` raises passes through, and nothing of its work stays.
        """
        found = self._checked(self.root / kind / key[:2] / key)
        if found is not None:
            return found
        if self._fallback is None:
            try:
                return self._made(self.root, kind, key, about, make)
            except OSError as error:
                self._fall_back(error)
        root = Path(self._fallback.name) if self._fallback is not None else self.root
        found = self._checked(root / kind / key[:2] / key)
        if found is not None:
            return found
        try:
            return self._made(root, kind, key, about, make)
        except DiskError:
            raise
        except OSError as error:
            raise DiskError(
                f"nothing can be written: {error.strerror}", where=str(root), fix="free some space and try again"
            ) from error

    def _checked(self, directory: Path) -> Path | None:
        if not _is_intact(directory):
            return None
        with self._lock:
            self.hits += 1
        return directory

    def _fall_back(self, error: OSError) -> None:
        with self._lock:
            if self._fallback is not None:
                return
            reason = "the disk is full" if _is_full(error) else error.strerror or str(error)
            try:
                self._fallback = tempfile.TemporaryDirectory(prefix="autofuse-")
            except OSError as second:
                raise DiskError(
                    f"neither the cache nor a temporary directory can be written: {reason}",
                    where=str(self.root),
                    fix="free some space or set AUTOFUSE_CACHE to a writable directory",
                ) from second
        warnings.warn(
            f"the cache {self.root} cannot be written ({reason}); compiled code is kept for this process only",
            RuntimeWarning,
            stacklevel=4,
        )

    def _made(self, root: Path, kind: str, key: str, about: Mapping[str, str], make: Callable[[Path], None]) -> Path:
        final = root / kind / key[:2] / key
        final.parent.mkdir(parents=True, exist_ok=True)
        with _locked(root / "locks", f"{kind}-{key[:3]}"):
            # Another process may have made it while this one waited.
            found = self._checked(final)
            if found is not None:
                return found
            _sweep(final.parent)
            made = Path(tempfile.mkdtemp(prefix=f".{key[:8]}-", dir=final.parent))
            try:
                make(made)
                _write_record(made, kind, key, about)
                _publish(made, final)
            finally:
                shutil.rmtree(made, ignore_errors=True)
        with self._lock:
            self.misses += 1
        return final


def _is_full(error: OSError) -> bool:
    return isinstance(error, DiskError) or error.errno in _NO_ROOM


def _write_record(directory: Path, kind: str, key: str, about: Mapping[str, str]) -> None:
    files = {path.name: sha256_of(path) for path in sorted(directory.iterdir())}
    record = {"kind": kind, "key": key, "about": dict(about), "files": files}
    with (directory / _RECORD).open("w", encoding="utf-8") as file:
        json.dump(record, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())


def _is_intact(directory: Path) -> bool:
    try:
        record = json.loads((directory / _RECORD).read_text(encoding="utf-8"))
        return bool(record["files"]) and all(
            sha256_of(directory / name) == digest for name, digest in record["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _publish(made: Path, final: Path) -> None:
    """Rename ``made`` to ``final``; what stands there is damaged, or was made by someone else just now."""
    for _ in range(3):
        try:
            os.rename(made, final)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        if _is_intact(final):
            return
        damaged = Path(tempfile.mkdtemp(prefix=".damaged-", dir=final.parent)) / "entry"
        try:
            os.rename(final, damaged)
        except FileNotFoundError:
            pass
        finally:
            shutil.rmtree(damaged.parent, ignore_errors=True)
    raise OSError(errno.EEXIST, "a damaged entry cannot be replaced", str(final))


def _sweep(directory: Path) -> None:
    """Remove what makers that were killed have left; what is young may still be in use."""
    oldest = time.time() - _LEFTOVER_SECONDS
    for path in directory.glob(".*"):
        try:
            is_old = path.stat().st_mtime < oldest
        except OSError:
            continue
        if is_old:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(directory: Path, name: str) -> Iterator[None]:
    """Keep other processes from making the same entry at the same time; goes on without a lock where there are none.

    A lock only saves work: entries are published by an atomic rename, with it or without. Locks are apart by kind, so
    that making an entry may ask for entries of another kind (a library for its objects) and never waits for itself.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{name}.lock").open("a") as file:
        end = time.monotonic() + _LOCK_SECONDS
        while time.monotonic() < end:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_POLL_SECONDS)
            except OSError:
                break
        yield
