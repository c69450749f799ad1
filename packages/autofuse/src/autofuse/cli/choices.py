"""Options that several commands share, and how their text is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from autofuse.errors import DriverError

F = TypeVar("F", bound=Callable[..., Any])


def model_options(command: F) -> F:
    """Add the options that say how a model is compiled."""
    options = (
        click.option("--target", default=None, help="cpu (default), ascend-a2, ascend-a3, ascend-350."),
        click.option(
            "--dim", "dims", multiple=True, metavar="NAME=LO..HI", help="Range of a dim (inclusive), or NAME=N."
        ),
        click.option("--hint", "hints", multiple=True, metavar="NAME=N", help="Size at which profit is judged."),
        click.option("--values", multiple=True, metavar="NAME=FILE.npy", help="Structural input known now."),
        click.option("--numerics", type=click.Choice(["strict", "fp32", "auto"]), default="auto", show_default=True),
        click.option("--device", type=click.Choice(["auto", "sim", "real"]), default="auto", hidden=True),
    )
    for option in reversed(options):
        command = option(command)
    return command


def parse_dims(words: tuple[str, ...]) -> dict[str, int | tuple[int, int]]:
    """Return ranges and sizes by dim name from ``NAME=LO..HI`` and ``NAME=N``."""
    found: dict[str, int | tuple[int, int]] = {}
    for word in words:
        name, separator, text = word.rpartition("=")
        low, dots, high = text.partition("..")
        try:
            if not separator or not name:
                raise ValueError
            found[name] = (int(low), int(high)) if dots else int(text)
        except ValueError:
            raise DriverError(
                f"--dim {word!r} is malformed", where="options", fix="write NAME=LO..HI or NAME=N"
            ) from None
    return found


def parse_sizes(words: tuple[str, ...], option: str) -> dict[str, int]:
    """Return sizes by name from ``NAME=N``."""
    found: dict[str, int] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        if not name or not text.lstrip("-").isdigit():
            raise DriverError(f"{option} {word!r} is malformed", where="options", fix="write NAME=N")
        found[name] = int(text)
    return found


def parse_arrays(words: tuple[str, ...], option: str) -> dict[str, Any]:
    """Return arrays by name from ``NAME=FILE.npy``; files are read without pickles."""
    found: dict[str, Any] = {}
    for word in words:
        name, separator, path = word.partition("=")
        if not separator or not name:
            raise DriverError(f"{option} {word!r} is malformed", where="options", fix="write NAME=FILE.npy")
        found[name] = read_array(Path(path))
    return found


def read_array(path: Path) -> Any:
    """Return the array in a ``.npy`` file; ``DriverError`` where it cannot be read."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DriverError(f"the array cannot be read ({error})", where=str(path), fix="give a .npy file") from None
