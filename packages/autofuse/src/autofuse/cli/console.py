"""The console that tables are printed on: 80 columns wide unless a terminal says otherwise."""

import os
import sys
from typing import TextIO

from rich.console import Console

NARROW = 80


def is_terminal(stream: TextIO | None) -> bool:
    """True where ``stream`` is shown to somebody; Python has None for a stream that was closed when it began."""
    return stream is not None and stream.isatty()


def terminal() -> Console:
    """Return the console of standard output; files and pipes get lines of 80 columns, so that they read alike."""
    return Console() if is_terminal(sys.stdout) or "COLUMNS" in os.environ else Console(width=NARROW)


def counted(number: int, noun: str) -> str:
    """Return ``1 kernel``, ``2 kernels``, ``2 launches``."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
