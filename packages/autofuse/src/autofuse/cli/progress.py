"""Progress: a bar on a terminal, nothing elsewhere unless asked for."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from autofuse.pipeline import Observer


@contextmanager
def stages() -> Iterator[Observer]:
    """Yield an observer of the pipeline that shows which stage runs and for which kernel."""
    with _bar(None) as advance:

        def observe(stage: str, artefact: object) -> None:
            advance(f"{stage} {getattr(artefact, 'name', '')}".strip())

        yield observe


@contextmanager
def steps(total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that advances a bar of ``total`` steps by one and says what is being done."""
    with _bar(total) as advance:
        yield advance


@contextmanager
def _bar(total: int | None) -> Iterator[Callable[[str], None]]:
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    columns = (TextColumn("{task.description:<36.36}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        yield lambda text: progress.update(task, advance=1, description=text)
