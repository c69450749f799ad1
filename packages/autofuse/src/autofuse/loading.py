"""``autofuse.load``: a bundle -> a callable."""

from pathlib import Path
from typing import Any

from autofuse_reference.executor import ProgramExecutor
from autofuse_runtime.bundle import MANIFEST
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.open import open_bundle

from autofuse import plugins
from autofuse.errors import DriverError
from autofuse.options import settings


def load(bundle: str | Path) -> Any:
    """Return the bundle as a callable; every file is checked before anything is loaded."""
    if not isinstance(bundle, str | Path) or "\0" in str(bundle):
        raise DriverError(f"{bundle!r} is no path", where="autofuse.load", fix="give the folder of a bundle")
    chosen = settings()
    return open_bundle(
        bundle,
        plugins.hosts(),
        cache=ArtefactCache(chosen.cache),
        threads=chosen.threads,
        interpreter=ProgramExecutor,
    )


def is_bundle(path: str | Path) -> bool:
    """Answer whether ``path`` is a folder that was built, not the sources alone."""
    return (Path(path) / MANIFEST).is_file()
