"""``autofuse targets``: the machines that kernels can be made for; and measuring this one."""

from pathlib import Path

import click
from autofuse_ir.target import load_target, target_names
from autofuse_runtime.cache import ArtefactCache
from rich.table import Table

from autofuse.calibration.measure import measure_machine
from autofuse.calibration.overlay import checked_place, overlay_text, write_overlay
from autofuse.cli.console import terminal
from autofuse.errors import DriverError
from autofuse.options import settings

MEASURABLE = "cpu"


@click.command()
@click.option("--calibrate", is_flag=True, help="Measure this machine (seconds) and write what was measured.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"With --calibrate: the file, which ends in .toml (default {MEASURABLE}-measured.toml).",
)
def targets(calibrate: bool, output: Path | None) -> None:
    """List the targets with their cores, memories and vector widths.

    --calibrate writes an overlay: a file of numbers that stand for the target's own wherever the file is named
    (--target FILE.toml, or AUTOFUSE_TARGET), and nowhere else.
    """
    if calibrate:
        _calibrate(output if output is not None else Path(f"{MEASURABLE}-measured.toml"))
        return
    if output is not None:
        raise DriverError("-o needs --calibrate", where="targets", fix="add --calibrate")
    table = Table()
    for column in ("target", "cores", "local memory", "vector", "description"):
        table.add_column(column, overflow="fold")
    for name in target_names():
        spec = load_target(name)
        memory = f"{spec.local_memory.usable // 1024} KiB {spec.local_memory.name}"
        cores = str(spec.cores) if spec.cores else "this machine's"
        table.add_row(name, cores, memory, f"{spec.vector_bytes} B", spec.description)
    terminal().print(table)


def _calibrate(place: Path) -> None:
    checked_place(place)
    chosen = settings()
    measured = measure_machine(load_target(MEASURABLE), ArtefactCache(chosen.cache), chosen.threads)
    write_overlay(overlay_text(MEASURABLE, measured), place)
    for name, figure in (
        ("machine", f"{measured.machine}, {measured.threads} threads"),
        ("clock", f"{measured.clock_hz / 1e9:.2f} GHz"),
        ("memory", f"{measured.read / 1e9:.1f} GB/s read, {measured.write / 1e9:.1f} GB/s written"),
        ("local memory", f"{measured.cache_copy / 1e9:.1f} GB/s copied"),
        ("launch", f"{measured.fork_awake * 1e6:.2f} us awake, {measured.fork_asleep * 1e6:.2f} us asleep"),
        ("vector operation", f"{measured.vector_op * 1e9:.4f} ns an element"),
    ):
        click.echo(f"{name:17} {figure}")
    click.echo(f"{place}: use it with --target {place}")
