"""``autofuse cache``: what is kept of earlier compilations."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click
from autofuse_ir.target import TargetKind
from autofuse_runtime.cache_archive import export_entries, import_entries
from autofuse_runtime.cache_entry import sha256_of
from autofuse_runtime.cache_survey import CacheEntry, Miss, clear, cure, entries, findings, miss_of
from autofuse_runtime.compile_kernels import library_recipes
from autofuse_runtime.extension import extension_recipe
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import find_toolchain

from autofuse.cli.choices import Choices, model_options
from autofuse.cli.console import terminal
from autofuse.cli.progress import stages
from autofuse.errors import DriverError
from autofuse.options import settings

KINDS = ("library", "object", "extension", "emulated")
_SHOWN_CHANGES = 8


@click.group(short_help="Look into the cache of compiled code, or check or move it.")
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
        _line(f"{entry.bytes / 1024:8.0f} KiB  {entry.name[:18]:18}  {_what(entry)}")
    _line(f"{sum(entry.bytes for entry in found) / 1e6:.1f} MB in {len(found)} entries in {root}", cut=False)


@cache.command("why-miss", short_help="Say what compiling MODEL would find, and what not.")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@model_options
def why_miss(model: str, as_json: bool, choices: Choices) -> int:
    """Say what compiling MODEL would have to compile, and what differs from what the cache has.

    Exits with 0 where all of it is in the cache, with 1 where something is not.
    """
    with stages() as observe:
        lowered, target = choices.lower(model, observe)
    if target.kind is not TargetKind.CPU:
        raise DriverError(
            f"code for {target.name} is built elsewhere, not kept in the cache", where="why-miss", fix="use target cpu"
        )
    root, toolchain = settings().cache, find_toolchain()
    wanted: list[Recipe] = [extension_recipe()]
    if lowered.bundles:
        library, *objects = library_recipes(lowered.program, lowered.bundles, toolchain)
        wanted.append(library)
        if miss_of(root, library) is not None:  # objects are asked for only to link a library
            wanted += objects
    misses = [(recipe, miss_of(root, recipe)) for recipe in wanted]
    if as_json:
        click.echo(json.dumps([_miss_facts(recipe, miss) for recipe, miss in misses], indent=2, sort_keys=True))
    else:
        for recipe, miss in misses:
            _show_miss(recipe, miss)
    return int(any(miss is not None for _, miss in misses))


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
    chosen = [e for e in found if only is None or only in _what(e)]
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


def _what(entry: CacheEntry) -> str:
    return entry.record.what if entry.record is not None else "? (see `autofuse cache doctor`)"


def _line(text: str, cut: bool = True) -> None:
    terminal().print(text, highlight=False, markup=False, soft_wrap=not cut, no_wrap=cut, overflow="ellipsis")


def _facts(entry: CacheEntry) -> dict[str, Any]:
    made_by = entry.record.made_by if entry.record is not None else None
    return {
        "entry": entry.name,
        "bytes": entry.bytes,
        "what": entry.record and entry.record.what,
        "made_by": made_by,
    }


def _miss_facts(recipe: Recipe, miss: Miss | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"entry": f"{recipe.kind}/{recipe.key}", "what": recipe.what, "hit": miss is None}
    if miss is not None:
        facts |= {"damage": miss.damage, "nearest": miss.nearest and miss.nearest.name}
        facts["changed"] = [{"part": name, "kept": kept, "wanted": new} for name, kept, new in miss.changed]
    return facts


def _show_miss(recipe: Recipe, miss: Miss | None) -> None:
    _line(f"{'hit ' if miss is None else 'miss'}  {recipe.kind}/{recipe.key[:8]}  {recipe.what}")
    if miss is None:
        return
    if miss.damage is not None:
        click.echo(f"      its entry is damaged: {miss.damage}")
    elif miss.nearest is None:
        click.echo(f"      the cache has no entry of kind {recipe.kind}")
    else:
        _line(f"      nearest: {miss.nearest.name[:18]}  {_what(miss.nearest)}")
    for name, kept, new in miss.changed[:_SHOWN_CHANGES]:
        _line(f"      {_change(name, kept, new)}")
    if len(miss.changed) > _SHOWN_CHANGES:
        click.echo(f"      and {len(miss.changed) - _SHOWN_CHANGES} parts more (--json lists them)")


def _change(name: str, kept: str | None, new: str | None) -> str:
    if kept is None:
        return f"{name}: new"
    if new is None:
        return f"{name}: gone"
    if kept.startswith("sha256:") or new.startswith("sha256:"):
        return f"{name}: changed"
    return f"{name}: {kept!r} -> {new!r}"
