"""What work costs, counted so that it is the same on any machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType


def calls_made(work: Callable[[], object]) -> int:
    """How many functions are called while `work` runs: those written in C as well.

    Garbage is not collected meanwhile: what is called then is not the work's.
    """
    made = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return made
