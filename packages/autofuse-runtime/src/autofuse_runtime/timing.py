"""Time of a call: interleaved medians, so that what else runs on the machine hits all candidates alike."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping

from attrs import frozen

_CALIBRATION_NS = 2_000_000
"""How long one sample should take at least: far above the clock's resolution."""


@frozen
class Timing:
    """Time of one call: median, least and number of samples; ``first_call_ns`` is the very first."""

    name: str
    median_ns: float
    least_ns: float
    samples: int
    first_call_ns: float


def measure(candidates: Mapping[str, Callable[[], object]], samples: int = 15) -> tuple[Timing, ...]:
    """Return the timing of each candidate, called in turn ``samples`` times (each sample repeats short calls)."""
    first = {name: _timed(call, 1) for name, call in candidates.items()}
    repeats = {name: max(1, int(_CALIBRATION_NS / max(_timed(call, 1), 1.0))) for name, call in candidates.items()}
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(samples):
            for name, call in candidates.items():
                taken[name].append(_timed(call, repeats[name]))
    finally:
        if was_enabled:
            gc.enable()
    return tuple(
        Timing(name, statistics.median(times), min(times), samples, first[name]) for name, times in taken.items()
    )


def _timed(call: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(repeats):
        call()
    return (time.perf_counter_ns() - start) / repeats
