"""``autofuse show``: any artefact as text."""

from pathlib import Path

import click
from autofuse_ir.artefact import read
from autofuse_ir.text import show as text_of


@click.command(short_help="Print an artefact or bundle as text.")
@click.argument("artefact", type=click.Path(path_type=Path))
def show(artefact: Path) -> None:
    """Print the text form of ARTEFACT (a .json file that a stage wrote, or a bundle)."""
    path = artefact / "program.json" if artefact.is_dir() else artefact
    click.echo(text_of(read(path)))
