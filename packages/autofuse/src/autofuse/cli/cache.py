"""``autofuse cache``: what is kept of earlier compilations."""

import json
import shutil
from pathlib import Path

import click

from autofuse.options import settings


@click.group()
def cache() -> None:
    """Look into the artefact cache, or clear it."""


@cache.command("ls")
def ls() -> None:
    """List the entries with their sizes."""
    root = settings().cache
    total = 0
    for record in sorted(root.glob("*/*/record.json")):
        about = json.loads(record.read_text(encoding="utf-8"))
        size = _bytes(record.parent)
        total += size
        click.echo(
            f"{size / 1024:8.0f} KiB  {record.parent.parent.name:10}  {about.get('about', about).get('what', '')}"
        )
    click.echo(f"{total / 1e6:.1f} MB in {root}")


@cache.command("clear")
def clear() -> None:
    """Remove every entry."""
    root = settings().cache
    if root.is_dir():
        for entry in sorted(root.iterdir()):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    click.echo(f"cleared {root}")


def _bytes(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
