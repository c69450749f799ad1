"""``autofuse show``: a model or any artefact as text."""

from pathlib import Path

import click
from autofuse_ir.artefact import read
from autofuse_ir.text import Showable
from autofuse_ir.text import show as text_of

from autofuse.errors import DriverError
from autofuse.front_end import import_graph


@click.command()
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="List every payload, and up to 64 elements or the sha256 of constants.")
def show(path: Path, full: bool) -> None:
    """Print FILE as text: a model as the graph it becomes, a .json file that a stage wrote, or a bundle's program.

    Constants over 8 elements are shown by their size; the payloads, which hold operators as a host takes them, are
    counted.
    """
    click.echo(text_of(_shown(path), brief=not full), nl=False)


def _shown(path: Path) -> Showable:
    if path.is_dir() and not (path / "program.json").exists():
        raise DriverError("this folder is no bundle", where=str(path), fix="give a bundle, or one file of the folder")
    if path.is_dir():
        return read(path / "program.json")
    if path.suffix == ".json":
        return read(path)
    return import_graph(path)
