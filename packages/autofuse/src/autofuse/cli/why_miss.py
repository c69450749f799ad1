"""``autofuse cache why-miss``: what of a model the cache has, and what differs in the rest."""

import json
from typing import Any

import click
from autofuse_ir.target import TargetKind
from autofuse_runtime.cache_survey import Miss, miss_of
from autofuse_runtime.compile_kernels import library_recipes
from autofuse_runtime.extension import extension_recipe
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import find_toolchain

from autofuse.cli.cache import print_line, what_is
from autofuse.cli.choices import Choices, model_options
from autofuse.cli.progress import stages
from autofuse.errors import DriverError
from autofuse.options import settings

SHOWN_CHANGES = 8
"""Another compiler changes every part: the first ones say it."""


@click.command("why-miss")
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


def _miss_facts(recipe: Recipe, miss: Miss | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"entry": f"{recipe.kind}/{recipe.key}", "what": recipe.what, "hit": miss is None}
    if miss is not None:
        facts |= {"damage": miss.damage, "nearest": miss.nearest and miss.nearest.name}
        facts["changed"] = [{"part": name, "kept": kept, "wanted": new} for name, kept, new in miss.changed]
    return facts


def _show_miss(recipe: Recipe, miss: Miss | None) -> None:
    print_line(f"{'hit ' if miss is None else 'miss'}  {recipe.kind}/{recipe.key[:8]}  {recipe.what}")
    if miss is None:
        return
    if miss.damage is not None:
        click.echo(f"      its entry is damaged: {miss.damage}")
    elif miss.nearest is None:
        click.echo(f"      the cache has no entry of kind {recipe.kind}")
    else:
        print_line(f"      nearest: {miss.nearest.name[:18]}  {what_is(miss.nearest)}")
    for name, kept, new in miss.changed[:SHOWN_CHANGES]:
        print_line(f"      {_change(name, kept, new)}")
    if len(miss.changed) > SHOWN_CHANGES:
        click.echo(f"      and {len(miss.changed) - SHOWN_CHANGES} parts more (--json lists them)")


def _change(name: str, kept: str | None, new: str | None) -> str:
    if kept is None:
        return f"{name}: new"
    if new is None:
        return f"{name}: gone"
    if kept.startswith("sha256:") or new.startswith("sha256:"):
        return f"{name}: changed"
    return f"{name}: {kept!r} -> {new!r}"
