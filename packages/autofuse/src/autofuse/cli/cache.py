"""``autofuse cache``: what is kept of earlier compilations."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from autofuse.errors import DriverError
from autofuse.options import settings


@click.group()
def cache() -> None:
    """Look into the artefact cache, or clear it."""


@cache.command("ls")
def ls() -> None:
    """List the entries with their sizes."""
    root = settings().cache
    total = 0
    for folder, record in _entries(root):
        size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        total += size
        about = record.get("about", {})
        click.echo(f"{size / 1024:8.0f} KiB  {record.get('kind', '?'):10}  {about.get('what', '?')}")
    click.echo(f"{total / 1e6:.1f} MB in {root}")


@cache.command("clear")
def clear() -> None:
    """Remove every entry; anything else in the folder stays."""
    root = settings().cache
    folders = [folder for folder, _ in _entries(root)]
    try:
        for folder in folders:
            shutil.rmtree(folder)
    except OSError as error:
        raise DriverError(
            f"an entry cannot be removed ({error.strerror})", where=str(root), fix="check who owns the folder"
        ) from error
    click.echo(f"removed {len(folders)} entries from {root}")


def _entries(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The entries ``<kind>/<two digits>/<key>/`` with their records; damaged records are empty."""
    for file in sorted(root.glob("*/??/*/entry.json")):
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            record = {}
        yield file.parent, record if isinstance(record, dict) else {}
