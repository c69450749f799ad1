"""Content-addressed store of what compilers made: safe among processes, checked on every read, never half-written."""

import errno
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autofuse_runtime.cache_entry import is_intact, place_of, publish, write_record
from autofuse_runtime.cache_locks import entry_locked, in_use
from autofuse_runtime.errors import DiskError
from autofuse_runtime.recipe import Recipe

LEFTOVER_SECONDS = 24 * 3600.0
"""What a maker left and nobody touched for so long, nobody will finish."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


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

    def entry(self, recipe: Recipe, make: Callable[[Path], None]) -> Path:
        """Return the directory of the entry for ``recipe``; where it is missing or damaged, ``make`` fills a new one.

        Raises `DiskError` when nothing can be written anywhere; what ``make`` raises passes through (unless somebody
        removed the directory it worked in), and nothing of its work stays. Hold `in_use` until what was asked for has
        been read: it keeps entries from being removed.
        """
        found = self._checked(place_of(self.root, recipe.kind, recipe.key))
        if found is not None:
            return found
        if self._fallback is None:
            try:
                return self._made(self.root, recipe, make)
            except OSError as error:
                self._fall_back(error)
        root = Path(self._fallback.name) if self._fallback is not None else self.root
        found = self._checked(place_of(root, recipe.kind, recipe.key))
        if found is not None:
            return found
        try:
            return self._made(root, recipe, make)
        except DiskError:
            raise
        except OSError as error:
            raise DiskError(
                f"nothing can be written: {error.strerror}", where=str(root), fix="free some space and try again"
            ) from error

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep other processes from removing entries; may be nested, and holds up nobody who makes or reads them."""
        with in_use(self.root):
            yield

    def _checked(self, directory: Path) -> Path | None:
        if not is_intact(directory):
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

    def _made(self, root: Path, recipe: Recipe, make: Callable[[Path], None]) -> Path:
        final = place_of(root, recipe.kind, recipe.key)
        final.parent.mkdir(parents=True, exist_ok=True)
        with entry_locked(root, recipe.kind, recipe.key):
            # Another process may have made it while this one waited.
            found = self._checked(final)
            if found is not None:
                return found
            sweep(final.parent)
            made = Path(tempfile.mkdtemp(prefix=f".{recipe.key[:8]}-", dir=final.parent))
            try:
                make(made)
                write_record(made, recipe)
                publish(made, final)
            except Exception as error:
                if made.exists():
                    raise
                raise FileNotFoundError(errno.ENOENT, "it was removed meanwhile", str(made)) from error
            finally:
                shutil.rmtree(made, ignore_errors=True)
        with self._lock:
            self.misses += 1
        return final


def _is_full(error: OSError) -> bool:
    return isinstance(error, DiskError) or error.errno in _NO_ROOM


def leftovers(directory: Path, older_than: float = LEFTOVER_SECONDS) -> tuple[Path, ...]:
    """Return what makers that were killed have left in ``directory``; what is younger may still be in use."""
    oldest = time.time() - older_than
    found: list[Path] = []
    for path in sorted(directory.glob(".*")):
        try:
            is_old = path.lstat().st_mtime <= oldest
        except OSError:
            continue
        if is_old:
            found.append(path)
    return tuple(found)


def sweep(directory: Path) -> None:
    """Remove the leftovers of ``directory``."""
    for path in leftovers(directory):
        shutil.rmtree(path, ignore_errors=True)
