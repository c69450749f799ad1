"""``autofuse cache``: what is kept of earlier compilations. `autofuse.cli.why_miss` says what of a model is in it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click
from autofuse_runtime.cache_archive import export_entries, import_entries
from autofuse_runtime.cache_entry import sha256_of
from autofuse_runtime.cache_survey import CacheEntry, clear, cure, entries, findings

from autofuse.cli.console import terminal
from autofuse.cli.lazy_group import LazyGroup
from autofuse.errors import DriverError
from autofuse.options import settings

NEEDS_THE_PIPELINE = {
    "why-miss": ("autofuse.cli.why_miss:why_miss", "Say what compiling MODEL would find, and what not.")
}
KINDS = ("library", "object", "extension", "emulated")


@click.group(cls=LazyGroup, lazy=NEEDS_THE_PIPELINE)
def cache() -> None:
    """Look into the cache of compiled code, check it, move it, or clear it.

    It lies where AUTOFUSE_CACHE says, else in the user's cache folder.
    """


@cache.command("ls")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def ls(as_json: bool) -> None:
    """List the entries with their sizes."""
    root = settings().cache
    found = list(entries(root))
    if as_json:
        click.echo(json.dumps({"cache": str(root), "entries": [_facts(e) for e in found]}, indent=2, sort_keys=True))
        return
    for entry in found:
        print_line(f"{entry.bytes / 1024:8.0f} KiB  {entry.name[:18]:18}  {what_is(entry)}")
    print_line(f"{sum(entry.bytes for entry in found) / 1e6:.1f} MB in {len(found)} entries in {root}", cut=False)


@cache.command("doctor", short_help="Check the entries and the folder; --fix mends.")
@click.option("--fix", "fixing", is_flag=True, help="Remove damaged entries and what killed processes left.")
def doctor(fixing: bool) -> int:
    """Check every entry, the folder's rights and the room on its disk; exit 1 if something is wrong."""
    root = settings().cache
    found = findings(root)
    cured = [finding for finding in found if fixing and finding.removable]
    left = cure(root, found) if cured else found
    for finding in left:
        click.echo(f"{finding.what}\n  {finding.where}\n  {finding.fix}")
    for finding in cured:
        click.echo(f"removed: {finding.what}\n  {finding.where}")
    kinds = Counter(entry.directory.parent.parent.name for entry in entries(root))
    counted = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(kinds.items())) or "no entries"
    click.echo(f"{root}: {counted}; " + (f"{len(left)} findings" if left else "nothing is wrong"))
    return int(bool(left))


@cache.command("export", short_help="Write entries to a file.")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only entries of this kind.")
@click.option("--only", metavar="TEXT", help="Only entries whose description (see ls) contains TEXT.")
def export(archive: Path, kinds: tuple[str, ...], only: str | None) -> None:
    """Write entries to the file ARCHIVE, for `autofuse cache import` on another machine."""
    root = settings().cache
    found = [e for e in entries(root) if not kinds or e.directory.parent.parent.name in kinds]
    chosen = [e for e in found if only is None or only in what_is(e)]
    if not chosen:
        raise DriverError("there is no such entry", where=str(root), fix="`autofuse cache ls` lists what there is")
    digest = export_entries(chosen, archive)
    click.echo(f"{archive}: {len(chosen)} entries, {archive.stat().st_size / 1e6:.1f} MB\nsha256 {digest}")


@cache.command("import", short_help="Add the entries of such a file.")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--sha256", "wanted", metavar="DIGEST", help="Refuse an archive with another sha256.")
def import_command(archive: Path, wanted: str | None) -> None:
    """Add the entries of ARCHIVE to the cache.

    They are code that will be run: import only what you trust, and compare the sha256 that export printed.
    """
    if wanted is not None and sha256_of(archive) != wanted.lower():
        raise DriverError("the archive has another sha256", where=str(archive), fix="get it again from who exported it")
    added, had = import_entries(archive, settings().cache)
    click.echo(f"added {added} entries to {settings().cache}" + (f"; it had {had} already" if had else ""))


@cache.command("clear", short_help="Remove every entry.")
def clear_command() -> None:
    """Remove every entry; anything else in the folder stays. Waits for processes that are compiling."""
    root = settings().cache
    try:
        removed = clear(root)
    except OSError as error:
        raise DriverError(
            f"an entry cannot be removed ({error.strerror})", where=str(root), fix="check who owns the folder"
        ) from error
    click.echo(f"removed {removed} entries from {root}")


def what_is(entry: CacheEntry) -> str:
    """Return what an entry holds, in words."""
    return entry.record.what if entry.record is not None else "? (see `autofuse cache doctor`)"


def print_line(text: str, cut: bool = True) -> None:
    """Print a line as it stands; ``cut``: no wider than the terminal."""
    terminal().print(text, highlight=False, markup=False, soft_wrap=not cut, no_wrap=cut, overflow="ellipsis")


def _facts(entry: CacheEntry) -> dict[str, Any]:
    made_by = entry.record.made_by if entry.record is not None else None
    return {
        "entry": entry.name,
        "bytes": entry.bytes,
        "what": entry.record and entry.record.what,
        "made_by": made_by,
    }
