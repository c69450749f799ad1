"""Options from the environment: the one place where AutoFuse reads its own variables (the emulator has one more)."""

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from autofuse.errors import DriverError
from autofuse.flags import Flags, read_flags


@frozen
class Settings:
    """What the environment says: threads of the pool (None: all cores), cache directory, default target, flags.

    ``cann`` is the folder of CANN, "" where none is named.
    """

    threads: int | None
    cache: Path
    target: str
    flags: Flags
    cann: str = ""


def settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read ``AUTOFUSE_NUM_THREADS`` (else ``OMP_NUM_THREADS``), ``AUTOFUSE_CACHE``, ``AUTOFUSE_TARGET`` and the flags.

    The flags are ``AUTOFUSE_FLAGS`` and ``AUTOFUSE_DFX_FLAGS`` (see ``autofuse.flags``). ``ASCEND_HOME_PATH`` is what
    CANN's ``set_env.sh`` sets.
    """
    env = os.environ if environment is None else environment
    own = env.get("AUTOFUSE_NUM_THREADS")
    text = own or env.get("OMP_NUM_THREADS", "").split(",")[0]
    cache = env.get("AUTOFUSE_CACHE")
    if not cache:
        base = env.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        cache = str(Path(base) / "autofuse")
    return Settings(
        threads=_threads(text, bool(own)),
        cache=Path(cache),
        target=env.get("AUTOFUSE_TARGET") or "cpu",
        flags=read_flags(env.get("AUTOFUSE_FLAGS", ""), env.get("AUTOFUSE_DFX_FLAGS", "")),
        cann=env.get("ASCEND_HOME_PATH", ""),
    )


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
