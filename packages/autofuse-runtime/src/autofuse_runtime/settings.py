"""Where things are unless the caller says otherwise. Nothing here reads AutoFuse's environment variables."""

from pathlib import Path

from autofuse_runtime.cache import ArtefactCache


def default_cache() -> ArtefactCache:
    """Return the cache in the user's cache directory."""
    return ArtefactCache(Path.home() / ".cache" / "autofuse")
