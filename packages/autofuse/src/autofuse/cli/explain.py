"""``autofuse explain``: what was fused, what was not, and why."""

from collections import Counter

import click
from autofuse_ir.dims import Dim
from autofuse_ir.tiling import TilingModel
from rich.table import Table

from autofuse.cli.choices import Choices, model_options
from autofuse.cli.console import terminal
from autofuse.cli.progress import stages
from autofuse.errors import DriverError
from autofuse.pipeline import Lowered
from autofuse.prediction import Prediction
from autofuse.report import Report, report_of


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--why-not", nargs=2, metavar="A B", help="Why operators A and B were not fused.")
@click.option("--tiling", is_flag=True, help="Also list the tiling cases of each kernel.")
@model_options
def explain(model: str, as_json: bool, why_not: tuple[str, str] | None, tiling: bool, choices: Choices) -> int:
    """List kernels, bytes moved, host regions and refusals of MODEL."""
    with stages() as observe:
        lowered, target = choices.lower(model, observe)
        report = report_of(lowered, target, unfused=why_not is None)
    if why_not is not None:
        return _why_not(lowered, report, *why_not)
    if as_json:
        click.echo(report.to_json(), nl=False)
        return 0
    _show(report)
    if report.prediction is not None:
        _show_prediction(report.prediction)
    if tiling:
        _show_tiling(lowered.tilings)
    return 0


def _why_not(lowered: Lowered, report: Report, a: str, b: str) -> int:
    known = {node.name for node in (*lowered.source.nodes, *lowered.graph.nodes)}
    for name in (a, b):
        if name not in known:
            near = [n for n in sorted(known) if name.lower() in n.lower()][:5]
            raise DriverError(
                f"the model has no operator {name!r}",
                where="--why-not",
                fix=f"near it: {', '.join(near)}" if near else "autofuse explain --json lists the operators",
            )
    for kernel in report.kernels:
        if a in kernel.operators and b in kernel.operators:
            click.echo(f"{a} and {b} are fused: both are in {kernel.name}")
            return 0
    refusals = report.why_not(a, b)
    for refusal in refusals:
        shape = ", ".join(str(d) for d in refusal.shape)
        click.echo(
            f"{refusal.reason.value}: {refusal.tensor} [{shape}], fusing would save {refusal.bytes_saved} bytes"
            + (f"\n  {refusal.detail}" if refusal.detail else "")
        )
    if not refusals:
        click.echo(f"{a} and {b} share no tensor")
    return 0


def _show(report: Report) -> None:
    console = terminal()
    table = Table(title=f"{report.name}: {report.operators} operators", title_justify="left")
    table.add_column("kernel or host region", overflow="ellipsis", no_wrap=True, max_width=40)
    for column in ("operators", "MB at hints"):
        table.add_column(column, justify="right")
    for kernel in report.kernels:
        table.add_row(kernel.name, str(len(kernel.operators)), _mega(report, kernel.bytes_moved))
    for region in report.regions:
        table.add_row(
            f"{region.name} ({region.backend})", str(len(region.operators)), _mega(report, region.bytes_handled)
        )
    console.print(table)
    lines = [
        f"launches      {report.launches_before} -> {report.launches}",
        f"MB moved      {_mega(report, report.bytes_moved_before)} -> {_mega(report, report.bytes_moved)}",
        f"MB at hosts   {_mega(report, report.bytes_handled)}",
        f"peak memory   {_mega(report, report.peak_bytes)} MB",
        "hints         " + (", ".join(f"{name}={size}" for name, size in report.hints) or "all sizes are fixed"),
    ]
    reasons = Counter(refusal.reason.value for refusal in report.refusals)
    lines += [f"not fused     {count} pairs: {reason}" for reason, count in sorted(reasons.items())]
    hosted = Counter(reason for region in report.regions for _, reason in region.reasons)
    lines += [f"on the host   {count} operators: {reason}" for reason, count in sorted(hosted.items())]
    if report.roundings:
        lines.append(f"roundings     {len(report.roundings)} removed (--json lists them)")
    for line in lines:
        console.print(line, highlight=False, markup=False)


def _show_prediction(found: Prediction) -> None:
    """What the tiling functions decide at the hints; a kernel of several groups has a row for each."""
    console = terminal()
    table = Table(title=f"Predicted for {found.target} at the hints (estimates)", title_justify="left")
    table.add_column("kernel", overflow="ellipsis", no_wrap=True, max_width=40)
    for column in ("us", "blocks", "cycles per pipe", "UB bytes"):
        table.add_column(column, justify="right")
    for kernel in found.kernels:
        for number, part in enumerate(kernel.parts):
            pipes = ", ".join(f"{pipe} {cycles:.0f}" for pipe, cycles in part.pipe_cycles)
            memory = f"{part.local_bytes} of {part.local_limit}"
            name, time = ("", "") if number else (kernel.kernel, f"{kernel.microseconds:.1f}")
            table.add_row(name, time, str(part.blocks), pipes, memory)
    console.print(table)
    line = f"predicted     {found.microseconds:.1f} us in {len(found.kernels)} launches"
    if found.unfused_microseconds is not None and found.microseconds:
        ratio = found.unfused_microseconds / found.microseconds
        line += f"; {found.unfused_microseconds:.1f} us in {found.unfused_launches} unfused ({ratio:.2f} x)"
    console.print(line, highlight=False, markup=False)
    if found.without:
        told = "kernels: their sizes come out of a step, or no tiles fit"
        console.print(f"not predicted {len(found.without)} {told}", highlight=False)


def _show_tiling(tilings: tuple[TilingModel, ...]) -> None:
    for tiled in tilings:
        click.echo(tiled.name)
        for case in tiled.cases:
            click.echo(f"  {case.implementation}")


def _mega(report: Report, formula: Dim) -> str:
    value = report.at_hints(formula)
    return "?" if value is None else f"{value / 1e6:.3f}"
