"""How many threads kernels use and how much memory is kept: settings of the process."""

import os
from pathlib import Path
from types import ModuleType

_CACHE_SIZES = Path("/sys/devices/system/cpu/cpu0/cache")
_USUAL_CACHE_BYTES = 8 << 20
_KEPT_SHARE = 4
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def default_threads() -> int:
    """Return the number of CPUs this process may run on."""
    return len(os.sched_getaffinity(0))


def last_level_cache_bytes() -> int:
    """Return the size of the largest cache of CPU 0; 8 MiB where the system does not say."""
    largest = 0
    for path in sorted(_CACHE_SIZES.glob("index*/size")):
        text = path.read_text(encoding="ascii").strip()
        if text and text[:-1].isdigit() and text[-1] in _UNITS:
            largest = max(largest, int(text[:-1]) * _UNITS[text[-1]])
    return largest or _USUAL_CACHE_BYTES


def start(extension: ModuleType, threads: int | None) -> None:
    """Set the pools up: ``threads`` (None: leave, or all CPUs on the first call) and a quarter of memory kept."""
    if threads is not None:
        extension.set_num_threads(threads)
    elif not getattr(extension, "is_started", False):
        extension.set_num_threads(default_threads())
    if not getattr(extension, "is_started", False):
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        extension.set_memory_limit(pages // _KEPT_SHARE)
        setattr(extension, "is_started", True)  # noqa: B010 (types know no attributes of a C module)
