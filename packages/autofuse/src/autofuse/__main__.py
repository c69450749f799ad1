"""``python -m autofuse``: the command line."""

from autofuse.cli import main

main()
