"""Progress: a bar on a terminal, elsewhere a plain line now and then; ``-v`` says more, ``-q`` nothing."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from autofuse.cli.console import is_terminal
from autofuse.pipeline import Observer

SECONDS_BETWEEN_LINES = 10.0
_VERBOSITY = "autofuse.verbosity"


def verbosity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``-v`` and ``-q``."""

    def keep(context: click.Context, option: click.Parameter, given: bool) -> None:
        if given:
            context.meta[_VERBOSITY] = option.name

    for letter, name, text in (("-q", "quiet", "Show no progress."), ("-v", "verbose", "Say every step.")):
        command = click.option(letter, f"--{name}", name, is_flag=True, expose_value=False, callback=keep, help=text)(
            command
        )
    return command


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
    verbosity = click.get_current_context().meta.get(_VERBOSITY)
    if verbosity == "quiet":
        yield lambda text: None
    elif verbosity == "verbose" or not is_terminal(sys.stderr):
        yield _lines(total, 0.0 if verbosity == "verbose" else SECONDS_BETWEEN_LINES)
    else:
        columns = (TextColumn("{task.description:<36.36}"), BarColumn(bar_width=24), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=total)
            yield lambda text: progress.update(task, advance=1, description=text)


def _lines(total: int | None, seconds_between: float) -> Callable[[str], None]:
    """Return a function that prints a line for a step unless it printed one just before."""
    count, last = 0, time.monotonic()

    def advance(text: str) -> None:
        nonlocal count, last
        count += 1
        if time.monotonic() - last >= seconds_between:
            last = time.monotonic()
            click.echo(f"{count}{'' if total is None else f'/{total}'} {text}", err=True)

    return advance
