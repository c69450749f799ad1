"""Locks among processes that share a cache, held by the kernel: a process that is killed leaves none behind."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autofuse_runtime.errors import CacheError

_MAKING_SECONDS = 300.0
_REMOVING_SECONDS = 60.0
_POLL_SECONDS = 0.02
_IN_USE = "in-use"


@contextmanager
def entry_locked(root: Path, kind: str, key: str) -> Iterator[None]:
    """Keep other processes from making the same entry at the same time; goes on without a lock where there are none.

    A lock only saves work: entries are published by an atomic rename, with it or without. Locks are apart by kind, so
    that making an entry may ask for entries of another kind (a library for its objects) and never waits for itself.
    """
    (root / "locks").mkdir(parents=True, exist_ok=True)
    with _path(root, f"{kind}-{key[:3]}").open("a") as file:
        _acquire(file.fileno(), fcntl.LOCK_EX, _MAKING_SECONDS)
        yield


@contextmanager
def in_use(root: Path) -> Iterator[None]:
    """Hold up those who remove entries. A cache that cannot be written has no lock, and nobody removes from it."""
    try:
        (root / "locks").mkdir(parents=True, exist_ok=True)
        file = _path(root, _IN_USE).open("a")
    except OSError:
        yield
        return
    with file:
        _acquire(file.fileno(), fcntl.LOCK_SH, _MAKING_SECONDS)
        yield


@contextmanager
def removing(root: Path, seconds: float = _REMOVING_SECONDS) -> Iterator[None]:
    """Wait until nobody uses the cache, and keep others from starting to; raises `CacheError` after ``seconds``."""
    (root / "locks").mkdir(parents=True, exist_ok=True)
    with _path(root, _IN_USE).open("a") as file:
        if not _acquire(file.fileno(), fcntl.LOCK_EX, seconds):
            raise CacheError(
                f"another process has been using the cache for {seconds:.0f} s",
                where=str(root),
                fix="try again when it has finished",
            )
        yield


def _path(root: Path, name: str) -> Path:
    return root / "locks" / f"{name}.lock"


def _acquire(descriptor: int, kind: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)
        except OSError:  # a file system without locks
            return True
