"""Options that several commands share, and how their text is read."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np
from attrs import frozen
from autofuse_fusion.options import NUMERICS
from autofuse_ir.target import TargetSpec

from autofuse.cli.progress import verbosity_options
from autofuse.compiler import DEVICES, chosen_options, chosen_target, lower_graph
from autofuse.errors import DriverError
from autofuse.front_end import import_graph
from autofuse.pipeline import Lowered, Observer


@frozen
class Choices:
    """What the common options say about how a model is compiled."""

    target: str | None
    dims: dict[str, int | tuple[int, int]]
    hints: dict[str, int]
    values: dict[str, Any]
    numerics: str | None
    device: str

    @property
    def sizes(self) -> dict[str, int]:
        """The dims that were given as one size."""
        return {name: size for name, size in self.dims.items() if isinstance(size, int)}

    @property
    def ranges(self) -> dict[str, int | tuple[int, int]]:
        """The dims that were given as a range."""
        return {name: size for name, size in self.dims.items() if not isinstance(size, int)}

    @property
    def spec(self) -> TargetSpec:
        """The target, which goes with the device."""
        return chosen_target(self.target, self.device)

    def lower(self, model: str, observe: Observer, ranges_only: bool = False) -> tuple[Lowered, TargetSpec]:
        """Run the stages on the model file; with ``ranges_only``, single sizes stay open (they are a call's)."""
        spec = self.spec
        graph = import_graph(model, self.ranges if ranges_only else self.dims, self.hints, self.values)
        return lower_graph(graph, spec, chosen_options(numerics=self.numerics), None, observe), spec


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a model is compiled; the command gets them as one argument ``choices``."""

    @wraps(command)
    def with_choices(
        *,
        target: str | None,
        dims: tuple[str, ...],
        hints: tuple[str, ...],
        values: tuple[str, ...],
        numerics: str | None,
        device: str,
        **others: Any,
    ) -> Any:
        declared, hinted = parse_dims(dims), parse_sizes(hints, "--hint")
        choices = Choices(target, declared, hinted, parse_arrays(values, "--values"), numerics, device)
        return command(choices=choices, **others)

    options = (
        click.option("--target", metavar="NAME", help="One that `autofuse targets` lists (default cpu), or FILE.toml."),
        click.option("--dim", "dims", multiple=True, metavar="NAME=LO..HI", help="Range of a dim, or one size NAME=N."),
        click.option("--hint", "hints", multiple=True, metavar="NAME=N", help="Typical size; judges profit."),
        click.option(
            "--values", multiple=True, metavar="NAME=FILE", help="A .npy file: an input known when compiling."
        ),
        click.option("--numerics", type=click.Choice(NUMERICS), help="Where roundings are kept (default auto)."),
        click.option(
            "--device",
            type=click.Choice(DEVICES),
            default="auto",
            help="Where Ascend kernels run: emulator or chip (default auto: the emulator).",
        ),
    )
    for option in reversed(options):
        with_choices = option(with_choices)
    return verbosity_options(with_choices)


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


def parse_ranges(words: tuple[str, ...], option: str) -> dict[str, tuple[int, int]]:
    """Return inclusive ranges by name from ``NAME=LO..HI``; ends may be negative."""
    found: dict[str, tuple[int, int]] = {}
    for word in words:
        name, separator, text = word.rpartition("=")
        low, _, high = text.partition("..")
        try:
            if not separator or not name or int(low) > int(high):
                raise ValueError
            found[name] = (int(low), int(high))
        except ValueError:
            raise DriverError(f"{option} {word!r} is malformed", where="options", fix="write NAME=LO..HI") from None
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
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DriverError(f"the array cannot be read ({reason})", where=str(path), fix="give a .npy file") from None
