"""``autofuse explain``: what was fused, what was not, and why."""

import json
from typing import Any

import click
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate
from rich.console import Console
from rich.table import Table

from autofuse.cli.choices import model_options, parse_arrays, parse_dims, parse_sizes
from autofuse.cli.progress import stages
from autofuse.compiler import import_graph
from autofuse.options import settings
from autofuse.report import Report, report_of


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--why-not", nargs=2, metavar="A B", help="Why operators A and B were not fused.")
@click.option("--tiling", is_flag=True, help="Also list the tiling cases of each kernel.")
@model_options
def explain(
    model: str,
    as_json: bool,
    why_not: tuple[str, str] | None,
    tiling: bool,
    target: str | None,
    dims: tuple[str, ...],
    hints: tuple[str, ...],
    values: tuple[str, ...],
    numerics: str,
    device: str,
) -> int:
    """List kernels, bytes moved, host regions and refusals of MODEL."""
    del device
    from attrs import evolve  # noqa: PLC0415
    from autofuse_fusion.options import FusionOptions  # noqa: PLC0415
    from autofuse_ir.target import load_target  # noqa: PLC0415

    from autofuse.pipeline import lower  # noqa: PLC0415

    spec = load_target(target or settings().target)
    graph = import_graph(model, parse_dims(dims), parse_sizes(hints, "--hint"), parse_arrays(values, "--values"))
    with stages() as observe:
        lowered = lower(graph, spec, evolve(FusionOptions(), numerics=numerics), None, observe)
    report = report_of(lowered)
    hinted = {s.name: s.hint for s in lowered.facts.symbols}
    if why_not is not None:
        return _why_not(report, *why_not)
    if as_json:
        click.echo(json.dumps(as_data(report, hinted), indent=2, sort_keys=True))
        return 0
    _show(report, hinted)
    if tiling:
        for tiled in lowered.tilings:
            cases = ", ".join(c.implementation for c in tiled.cases)
            click.echo(f"{tiled.name}: {cases}")
    return 0


def as_data(report: Report, hints: dict[str, int]) -> dict[str, Any]:
    """Return ``report`` as JSON data; formulas as text with their value at the hints."""

    def formula(dim: Dim) -> dict[str, Any]:
        return {"formula": str(dim), "at_hints": at_hints(dim, hints)}

    return {
        "model": report.name,
        "operators": report.operators,
        "launches": report.launches,
        "bytes_moved": formula(report.bytes_moved),
        "peak_bytes": formula(report.peak_bytes),
        "kernels": [
            {
                "name": k.name,
                "operators": list(k.operators),
                "inputs": list(k.inputs),
                "outputs": list(k.outputs),
                "bytes_moved": formula(k.bytes_moved),
            }
            for k in report.kernels
        ],
        "host_regions": [
            {
                "name": r.name,
                "backend": r.backend,
                "operators": list(r.operators),
                "bytes_handled": formula(r.bytes_handled),
            }
            for r in report.regions
        ],
        "refusals": [
            {
                "first": r.first,
                "second": r.second,
                "tensor": r.tensor,
                "reason": r.reason.value,
                "detail": r.detail,
                "shape": [str(d) for d in r.shape],
                "bytes_saved": formula(r.bytes_saved),
            }
            for r in report.refusals
        ],
        "removed_roundings": [
            {"kernel": r.kernel, "operator": r.operator, "dtype": r.dtype_name} for r in report.roundings
        ],
    }


def at_hints(dim: Dim, hints: dict[str, int]) -> int | None:
    """Return the value of ``dim`` at the hints; None where it needs a size that only a call knows."""
    try:
        return evaluate(dim, hints)
    except Exception:
        return None


def _why_not(report: Report, a: str, b: str) -> int:
    for kernel in report.kernels:
        if a in kernel.operators and b in kernel.operators:
            click.echo(f"{a} and {b} are fused: both are in {kernel.name}")
            return 0
    refusals = report.why_not(a, b)
    for refusal in refusals:
        shape = ", ".join(str(d) for d in refusal.shape)
        click.echo(f"{refusal.reason.value}: {refusal.tensor} [{shape}], {refusal.bytes_saved} bytes. {refusal.detail}")
    if not refusals:
        click.echo(f"{a} and {b} share no tensor (or one of them is not in the model)")
    return 0


def _show(report: Report, hints: dict[str, int]) -> None:
    console = Console()
    table = Table(
        title=f"{report.name}: {report.operators} operators, {report.launches} launches", title_justify="left"
    )
    for column in ("kernel", "operators", "MB at hints"):
        table.add_column(column, justify="right" if column != "kernel" else "left", overflow="fold")
    for kernel in report.kernels:
        table.add_row(kernel.name, str(len(kernel.operators)), _mega(kernel.bytes_moved, hints))
    for region in report.regions:
        table.add_row(
            f"{region.name} ({region.backend})", str(len(region.operators)), _mega(region.bytes_handled, hints)
        )
    console.print(table)
    counts: dict[str, int] = {}
    for refusal in report.refusals:
        counts[refusal.reason.value] = counts.get(refusal.reason.value, 0) + 1
    for reason, count in sorted(counts.items()):
        console.print(f"not fused, {reason}: {count} pairs", highlight=False)
    console.print(f"peak memory: {_mega(report.peak_bytes, hints)} MB at hints", highlight=False)


def _mega(dim: Dim, hints: dict[str, int]) -> str:
    value = at_hints(dim, hints)
    return "?" if value is None else f"{value / 1e6:.3f}"
