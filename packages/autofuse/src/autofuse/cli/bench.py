"""``autofuse bench``: time of a call, against peers, in one interleaved run."""

import json
from typing import Any

import click
from autofuse_runtime.timing import measure
from autofuse_symshape.sample import sample
from rich.console import Console
from rich.table import Table

from autofuse.benchmark import peers
from autofuse.cli.choices import model_options, parse_dims, parse_sizes
from autofuse.compiler import compile_model
from autofuse.example_inputs import random_inputs


@click.command()
@click.argument("model")
@click.option("--against", default="numpy,onnxruntime", show_default=True, help="Comma-separated peers.")
@click.option("--samples", default=15, show_default=True, help="Interleaved rounds.")
@click.option("--json", "as_json", is_flag=True)
@model_options
def bench(
    model: str,
    against: str,
    samples: int,
    as_json: bool,
    target: str | None,
    dims: tuple[str, ...],
    hints: tuple[str, ...],
    values: tuple[str, ...],
    numerics: str,
    device: str,
) -> None:
    """Time MODEL against peers: interleaved medians in one run, so that only ratios mean anything."""
    del device, values
    declared = parse_dims(dims)
    fn = compile_model(model, target, declared, parse_sizes(hints, "--hint"), None, numerics)
    lowered = fn.lowered
    sizes = {s.name: s.hint for s in lowered.facts.symbols}
    sizes = (sample(lowered.facts, 1, largest=64) or (sizes,))[0] | {
        k: v for k, v in declared.items() if isinstance(v, int)
    }
    arrays = random_inputs(lowered.graph, lowered.facts, sizes)
    ordered = [arrays[v.name] for v in lowered.graph.inputs]
    candidates: dict[str, Any] = {"autofuse": lambda: fn(*ordered)}
    candidates.update(peers(against.split(","), model, lowered, arrays))
    timings = {t.name: t for t in measure(candidates, samples)}
    base = timings["autofuse"].median_ns
    rows = {name: {"median_us": t.median_ns / 1e3, "ratio": t.median_ns / base} for name, t in timings.items()}
    if as_json:
        click.echo(json.dumps({"sizes": sizes, "rows": rows}, indent=2, sort_keys=True))
        return
    table = Table(title=f"{lowered.graph.name} at {sizes or 'fixed sizes'}", title_justify="left")
    for column in ("candidate", "median us", "x autofuse"):
        table.add_column(column, justify="left" if column == "candidate" else "right")
    for name, row in rows.items():
        table.add_row(name, f"{row['median_us']:.1f}", f"{row['ratio']:.2f}")
    Console().print(table)
