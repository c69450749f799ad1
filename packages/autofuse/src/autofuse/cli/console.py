"""The console that tables are printed on: 80 columns wide unless a terminal says otherwise."""

import os
import sys

from rich.console import Console

NARROW = 80


def terminal() -> Console:
    """Return the console of standard output; files and pipes get lines of 80 columns, so that they read alike."""
    return Console() if sys.stdout.isatty() or "COLUMNS" in os.environ else Console(width=NARROW)
