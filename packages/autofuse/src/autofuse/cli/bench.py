"""``autofuse bench``: time of a call, against peers, in one interleaved run."""

import json
import resource
import time
from typing import Any

import click
from autofuse_ir.target import TargetKind
from autofuse_runtime.timing import measure
from rich.table import Table

from autofuse.benchmark import KNOWN, is_onnx, peers
from autofuse.cli.choices import Choices, model_options
from autofuse.cli.console import terminal
from autofuse.cli.progress import stages
from autofuse.compiler import load_lowered
from autofuse.errors import DriverError
from autofuse.example_inputs import call_sizes, random_inputs
from autofuse.report import report_of


@click.command()
@click.argument("model")
@click.option("--against", metavar="PEERS", help="numpy,onnxruntime (default; for graphs and bundles numpy).")
@click.option("--samples", default=15, show_default=True, type=click.IntRange(1), help="Interleaved rounds.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@model_options
def bench(model: str, against: str | None, samples: int, as_json: bool, choices: Choices) -> None:
    """Time MODEL against peers: interleaved medians in one run, so that only ratios mean anything."""
    if choices.spec.kind is TargetKind.ASCEND and choices.device != "real":
        raise DriverError(
            f"kernels for {choices.spec.name} run in an emulator here, whose own speed says nothing of the chip",
            where="bench",
            fix="`autofuse trace` estimates times; bench takes --device real where there is a chip",
        )
    start = time.perf_counter()
    with stages() as observe:
        lowered, target = choices.lower(model, observe, ranges_only=True)
    fn = load_lowered(lowered, target, device=choices.device)
    compile_s = time.perf_counter() - start
    sizes = call_sizes(lowered.facts, choices.hints | choices.sizes)
    arrays = random_inputs(lowered.graph, lowered.facts, sizes)
    ordered = [arrays[v.name] for v in lowered.graph.inputs]
    candidates: dict[str, Any] = {"autofuse": lambda: fn(*ordered)}
    candidates |= peers(_names(model, against), model, lowered, arrays)
    timings = measure(candidates, samples)
    base = timings[0].median_ns
    rows = {
        t.name: {"median_us": t.median_ns / 1e3, "first_call_us": t.first_call_ns / 1e3, "ratio": t.median_ns / base}
        for t in timings
    }
    memory = {
        "planned_bytes": report_of(lowered).peak_memory(sizes),
        "process_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    if as_json:
        found = {"model": model, "sizes": sizes, "compile_s": compile_s, "rows": rows, "peak_memory": memory}
        click.echo(json.dumps(found, indent=2, sort_keys=True))
        return
    at = ", ".join(f"{name}={size}" for name, size in sizes.items()) or "fixed sizes"
    table = Table(title=f"{lowered.graph.name} at {at}", title_justify="left")
    for column in ("candidate", "first call us", "median us", "x autofuse"):
        table.add_column(column, justify="left" if column == "candidate" else "right")
    for name, row in rows.items():
        table.add_row(name, f"{row['first_call_us']:.1f}", f"{row['median_us']:.1f}", f"{row['ratio']:.2f}")
    console = terminal()
    console.print(table)
    console.print(
        f"compiled in {compile_s:.1f} s; intermediates {memory['planned_bytes'] / 1e6:.2f} MB, "
        f"whole process {memory['process_bytes'] / 1e6:.0f} MB",
        highlight=False,
    )


def _names(model: str, against: str | None) -> tuple[str, ...]:
    if against is not None:
        return tuple(against.split(","))
    return KNOWN if is_onnx(model) else tuple(name for name in KNOWN if name != "onnxruntime")
