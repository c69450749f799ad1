"""Times of candidates that take turns."""

import statistics
import time
from collections.abc import Callable


def cpu_times(candidates: dict[str, Callable[[], object]], rounds: int, calls: int) -> list[float]:
    """Median CPU seconds of each candidate's call; in every round each is called ``calls`` times in turn.

    CPU time, because whoever else runs on the machine takes wall time from one candidate and not from another.
    """
    taken: list[list[float]] = [[] for _ in candidates]
    for call in candidates.values():
        call()
    for _ in range(rounds):
        for times, call in zip(taken, candidates.values(), strict=True):
            start = time.process_time()
            for _ in range(calls):
                call()
            times.append((time.process_time() - start) / calls)
    return [statistics.median(times) for times in taken]
