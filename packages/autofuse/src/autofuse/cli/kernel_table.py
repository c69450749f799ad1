"""Tables with a row for each launch of a chip: narrow enough for 80 columns, with figures that can be compared."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

KIB = 1024
GAP = 3
"""Characters between two columns."""
LEAST_NAME = 12


def kernel_table(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Table:
    """Return a table of ``rows``: names first, which are cut where ``width`` is too small, then figures, whole."""
    widths = [max(len(cell) for cell in (column, *cells)) for column, *cells in zip(columns, *rows, strict=True)]
    left = width - sum(widths[1:]) - GAP * (len(columns) - 1)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(columns[0], overflow="ellipsis", no_wrap=True, width=max(min(left, widths[0]), LEAST_NAME))
    for column, its_width in zip(columns[1:], widths[1:], strict=True):
        table.add_column(column, justify="right", no_wrap=True, min_width=its_width)
    for row in rows:
        table.add_row(*row)
    return table


def cycles_text(cycles: float) -> str:
    """Return a number of cycles in at most five characters: ``812``, ``9.03k``, ``2.38M``."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if cycles >= size:
            return f"{cycles / size:.3g}{unit}" if cycles < 999.5 * size else f"{cycles / size:.0f}{unit}"
    return f"{cycles:.0f}"


def kib_text(size_bytes: int) -> str:
    """Return whole KiB, rounded up, so that what is used up is not said to leave something."""
    return str(-(-size_bytes // KIB))
