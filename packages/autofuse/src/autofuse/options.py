"""Options from the environment. This is the only module of AutoFuse that reads environment variables."""

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from autofuse.errors import DriverError


@frozen
class Settings:
    """What the environment says: threads of the pool (None: all cores), cache directory, default target."""

    threads: int | None
    cache: Path
    target: str


def settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read ``AUTOFUSE_NUM_THREADS`` (else ``OMP_NUM_THREADS``), ``AUTOFUSE_CACHE`` and ``AUTOFUSE_TARGET``."""
    env = os.environ if environment is None else environment
    own = env.get("AUTOFUSE_NUM_THREADS")
    text = own or env.get("OMP_NUM_THREADS", "").split(",")[0]
    cache = env.get("AUTOFUSE_CACHE")
    if cache is None:
        base = env.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        cache = str(Path(base) / "autofuse")
    return Settings(_threads(text, own is not None), Path(cache), env.get("AUTOFUSE_TARGET") or "cpu")


def _threads(text: str, is_own: bool) -> int | None:
    if not text.strip():
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        if not is_own:
            return None
        raise DriverError(
            f"AUTOFUSE_NUM_THREADS is {text!r}", where="environment", fix="set it to a whole number from 1 up"
        )
    return number
