"""``autofuse verify``: is the fused program right?"""

import json
from typing import Any

import click
from rich.table import Table

from autofuse.cli.choices import Choices, model_options, parse_arrays, parse_ranges, parse_sizes
from autofuse.cli.console import counted, terminal
from autofuse.cli.progress import steps
from autofuse.verification import OutputCheck, Verification
from autofuse.verification import verify as run_verify

SHOWN_FAILURES = 3
"""A model that has no result at some sizes mostly has one reason."""


@click.command()
@click.argument("model")
@click.option("--samples", default=20, show_default=True, type=click.IntRange(1), help="Sizes to try.")
@click.option("--seed", default=0, show_default=True, help="Seed of sizes and inputs.")
@click.option("--largest", default=128, show_default=True, type=click.IntRange(1), help="Largest random size of a dim.")
@click.option("--multiple", "multiples", multiple=True, metavar="NAME=N", help="Try multiples of N only for a dim.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A .npy file instead of random content.")
@click.option("--content", "contents", multiple=True, metavar="NAME=LO..HI", help="Range of an input's random numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@model_options
def verify(
    model: str,
    samples: int,
    seed: int,
    largest: int,
    multiples: tuple[str, ...],
    inputs: tuple[str, ...],
    contents: tuple[str, ...],
    as_json: bool,
    choices: Choices,
) -> int:
    """Compare the fused MODEL with its unfused run and with float64 at sampled sizes; exit 1 on a mismatch."""
    with steps(samples) as advance:
        result = run_verify(
            model,
            samples,
            seed,
            dims=choices.dims,
            hints=choices.hints,
            values=choices.values,
            numerics=choices.numerics,
            target=choices.spec,
            device=choices.device,
            largest=largest,
            inputs=parse_arrays(inputs, "--input"),
            contents=parse_ranges(contents, "--content"),
            multiples=parse_sizes(multiples, "--multiple"),
            progress=advance,
        )
    if as_json:
        click.echo(json.dumps(as_data(result), indent=2, sort_keys=True))
    else:
        _show(result)
    return 0 if result.passed else 1


def as_data(result: Verification) -> dict[str, Any]:
    """Return ``result`` as JSON data."""
    return {
        "model": result.model,
        "passed": result.passed,
        "checks": [
            {
                "output": c.output,
                "sizes": dict(c.sizes),
                "passed": c.passed,
                "exact": c.is_exact,
                "same_bits": c.same_bits,
                "max_abs": c.fused.max_abs,
                "max_rel": c.fused.max_rel,
                "max_ulp": c.fused.max_ulp,
                "unfused_max_ulp": c.unfused.max_ulp,
            }
            for c in result.checks
        ],
        "skipped": [{"sizes": dict(sizes), "why": why} for sizes, why in result.skipped],
    }


def _show(result: Verification) -> None:
    table = Table(
        title=f"{result.model}: worst of {counted(len({c.sizes for c in result.checks}), 'size')}", title_justify="left"
    )
    for column in ("output", "max abs", "max rel", "max ULP", "unfused ULP", "verdict"):
        table.add_column(column, justify="left" if column == "output" else "right", overflow="fold")
    for name in dict.fromkeys(c.output for c in result.checks):
        checks = [c for c in result.checks if c.output == name]
        worst = max(checks, key=lambda c: (not c.passed, c.fused.max_ulp))
        table.add_row(name, *_figures(worst), "ok" if worst.passed else "MISMATCH")
    console = terminal()
    if result.checks:
        console.print(table)
    if any(not check.is_exact for check in result.checks):
        console.print("ok: at most 4 x the unfused error, plus 4 ULP of the tensor's largest element", style="dim")
    for check in result.checks:
        if not check.passed:
            console.print(f"mismatch in {check.output} at {_sizes(check.sizes)}: element {check.fused.first_mismatch}")
    for sizes, why in result.skipped[:SHOWN_FAILURES]:
        console.print(f"skipped {_sizes(sizes)}: the model itself fails ({why})", markup=False)
    if len(result.skipped) > SHOWN_FAILURES:
        console.print(f"skipped {len(result.skipped) - SHOWN_FAILURES} more for such reasons; --json lists them")
    if not result.checks:
        console.print(
            f"{result.model}: nothing was checked: the model failed at every sampled size; say with --dim, --multiple "
            "and --content what it takes"
        )


def _figures(check: OutputCheck) -> tuple[str, ...]:
    if check.is_exact:
        return (f"{check.fused.mismatches} differ", "", "", "")
    return tuple(
        f"{figure:.3g}"
        for figure in (check.fused.max_abs, check.fused.max_rel, check.fused.max_ulp, check.unfused.max_ulp)
    )


def _sizes(sizes: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes) or "fixed sizes"
