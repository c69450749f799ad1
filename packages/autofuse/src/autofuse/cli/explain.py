"""``autofuse explain``: what was fused, what was not, and why."""

from collections import Counter

import click
from autofuse_ir.dims import Dim
from autofuse_ir.tiling import TilingModel
from rich.table import Table

from autofuse.cli.choices import Choices, model_options
from autofuse.cli.console import counted, terminal
from autofuse.cli.kernel_table import cycles_text, kernel_table, kib_text
from autofuse.cli.progress import stages
from autofuse.errors import DriverError
from autofuse.pipeline import Lowered
from autofuse.prediction import Prediction
from autofuse.reasons import MEANINGS
from autofuse.report import Report, report_of


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--why-not", nargs=2, metavar="A B", help="Why operators A and B were not fused.")
@click.option("--details", is_flag=True, help="Also list each kernel's operators, and each pair left apart with why.")
@click.option("--tiling", is_flag=True, help="Also list the tiling cases of each kernel.")
@model_options
def explain(
    model: str, as_json: bool, why_not: tuple[str, str] | None, details: bool, tiling: bool, choices: Choices
) -> int:
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
    if details:
        _show_details(report)
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
            f"{refusal.reason.value}: {refusal.tensor} [{shape}], fusing would save {refusal.bytes_saved} bytes\n"
            f"  {MEANINGS[refusal.reason]}" + (f"\n  {refusal.detail}" if refusal.detail else "")
        )
    if not refusals:
        click.echo(f"{a} and {b} share no tensor")
    return 0


def _show(report: Report) -> None:
    console = terminal()
    table = Table(title=f"{report.name}: {counted(report.operators, 'operator')}", title_justify="left")
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
    hints = ", ".join(f"{name}={size}" for name, size in report.hints)
    lines = []
    if report.operators_in_neither:
        neither = counted(report.operators_in_neither, "operator")
        lines.append(f"in neither    {neither}: to rename, make sizes, or known when compiling")
    lines += [
        f"launches      {report.launches_before} -> {report.launches}",
        f"MB moved      {_mega(report, report.bytes_moved_before)} -> {_moved(report)}",
        f"MB at hosts   {_mega(report, report.bytes_handled)}",
        f"peak memory   {_mega(report, report.peak_bytes)} MB",
        "hints         " + (f"{hints} (--hint NAME=N changes them)" if hints else "all sizes are fixed"),
    ]
    reasons = Counter(refusal.reason.value for refusal in report.refusals)
    lines += [f"not fused     {counted(count, 'pair')}: {reason}" for reason, count in sorted(reasons.items())]
    hosted = Counter(reason for region in report.regions for _, reason in region.reasons)
    lines += [f"on the host   {counted(count, 'operator')}: {reason}" for reason, count in sorted(hosted.items())]
    if report.roundings:
        lines.append(f"roundings     {len(report.roundings)} removed (--json lists them)")
    for line in lines:
        console.print(line, highlight=False, markup=False)


def _show_details(report: Report) -> None:
    """The operators of each kernel, and what was not fused by reason. Names are whole, however long."""
    for kernel in report.kernels:
        click.echo(f"{kernel.name}:")
        for name in kernel.operators:
            click.echo(f"  {name}")
    for reason, meaning in MEANINGS.items():
        pairs = [f"{r.first} -> {r.second}" for r in report.refusals if r.reason is reason]
        alone = [name for region in report.regions for name, why in region.reasons if why == reason.value]
        if pairs or alone:
            click.echo(f"{reason.value}: {meaning}")
        for line in dict.fromkeys((*pairs, *alone)):
            click.echo(f"  {line}")


def _show_prediction(found: Prediction) -> None:
    """What the tiling functions decide at the hints; a kernel of several groups has a row for each."""
    console = terminal()
    parts = [part for kernel in found.kernels for part in kernel.parts]
    pipes = tuple(dict.fromkeys(pipe for part in parts for pipe, _ in part.pipe_cycles))
    rows = []
    for kernel in found.kernels:
        for number, part in enumerate(kernel.parts):
            cycles = dict(part.pipe_cycles)
            way = f" ({kernel.alternative})" if kernel.alternative else ""
            name, time = ("", "") if number else (kernel.kernel + way, f"{kernel.microseconds:.1f}")
            memory = f"{kib_text(part.local_bytes)} of {kib_text(part.local_limit)}"
            by_pipe = (cycles_text(cycles.get(pipe, 0.0)) for pipe in pipes)
            rows.append((name, time, str(part.blocks), cycles_text(part.head_cycles), *by_pipe, memory))
    console.print(
        f"Predicted for {found.target} at the hints (cycles of the head, then by pipe)",
        highlight=False,
        markup=False,
    )
    console.print(kernel_table(("kernel", "us", "blocks", "head", *pipes, "KiB of UB"), rows, console.width))
    line = f"predicted     {found.microseconds:.1f} us in {counted(len(found.kernels), 'launch')}"
    if found.unfused_microseconds is not None and found.microseconds:
        ratio = found.unfused_microseconds / found.microseconds
        line += f"; {found.unfused_microseconds:.1f} us in {found.unfused_launches} unfused ({ratio:.2f} x)"
    console.print(line, highlight=False, markup=False)
    if found.without:
        told = f"{counted(len(found.without), 'kernel')}, whose sizes come out of a step, or for which no tiles fit"
        console.print(f"not predicted {told}", highlight=False)


def _show_tiling(tilings: tuple[TilingModel, ...]) -> None:
    for tiled in tilings:
        click.echo(tiled.name)
        for case in tiled.cases:
            way = f"{case.alternative}: " if tiled.conditions else ""
            click.echo(f"  {way}{case.implementation}")


def _moved(report: Report) -> str:
    """Return the megabytes that fused kernels move, and those where rows stay in local memory."""
    moved, kept = _mega(report, report.bytes_moved), _mega(report, report.bytes_with_rows_kept)
    return moved if kept == moved else f"{moved} ({kept} where rows stay in local memory)"


def _mega(report: Report, formula: Dim) -> str:
    value = report.at_hints(formula)
    return "?" if value is None else f"{value / 1e6:.3f}"
