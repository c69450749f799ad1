"""``autofuse trace``: one call on the emulator, as a timeline of every pipe."""

import json
from pathlib import Path

import click

from autofuse.cli.choices import Choices, model_options, parse_arrays
from autofuse.cli.console import counted, terminal
from autofuse.cli.kernel_table import cycles_text, kernel_table, kib_text
from autofuse.cli.progress import stages
from autofuse.cli.run import arguments_of
from autofuse.emulation import Emulation, Launch, emulate
from autofuse.errors import DriverError
from autofuse.prediction import KernelPrediction, Prediction, predict

PIPES = {"MTE2": "MTE2", "VEC": "V", "MTE3": "MTE3"}
"""Our name of each pipe, and the emulator's."""


@click.command()
@click.argument("model")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File of the Chrome trace.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A .npy file for an input.")
@click.option("--random", "seed", type=int, default=0, show_default=True, help="Seed of the other inputs.")
@click.option("--timing-only", is_flag=True, help="Compute no values, run two blocks of each launch: fast at any size.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@model_options
def trace(
    model: str,
    output: Path,
    inputs: tuple[str, ...],
    seed: int,
    timing_only: bool,
    as_json: bool,
    choices: Choices,
) -> None:
    """Run MODEL (a model file or a bundle) once on the emulator of --target and write what every pipe did when.

    Open the file in https://ui.perfetto.dev. All times are estimates of the emulator.
    """
    with stages() as observe:
        lowered, target = choices.lower(model, observe, ranges_only=True)
    given = arguments_of(lowered.program, parse_arrays(inputs, "--input"), choices.sizes, seed)
    found = emulate(lowered, target, [given[v.name] for v in lowered.program.inputs], timing_only)
    try:
        output.write_text(json.dumps(found.trace), encoding="utf-8")
    except OSError as error:
        raise DriverError(
            f"the trace cannot be written ({error.strerror})", where=str(output), fix="give a writable file"
        ) from error
    predicted = [_predicted(predict(lowered, target, dict(launch.sizes)), launch) for launch in found.launches]
    if as_json:
        rows = [
            launch.as_data() | {"predicted_us": None if known is None else known.microseconds}
            for launch, known in zip(found.launches, predicted, strict=True)
        ]
        data = {"model": lowered.program.name, "target": target.name, "trace": str(output), "launches": rows}
        click.echo(json.dumps(data, indent=2, sort_keys=True))
        return
    _show(lowered.program.name, target.name, found, predicted)
    click.echo(f"{output}: open it in https://ui.perfetto.dev")


def _predicted(prediction: Prediction, launch: Launch) -> KernelPrediction | None:
    """The prediction of a launch; None where its sizes come out of a step."""
    return next((kernel for kernel in prediction.kernels if kernel.kernel == launch.kernel), None)


def _show(model: str, target: str, found: Emulation, predicted: list[KernelPrediction | None]) -> None:
    rows = []
    for launch, known in zip(found.launches, predicted, strict=True):
        busy = dict(launch.busy_cycles)
        rows.append(
            (
                launch.kernel,
                f"{launch.microseconds:.1f}",
                "?" if known is None else f"{known.microseconds:.1f}",
                str(launch.blocks),
                *(cycles_text(busy.get(pipe, 0.0)) for pipe in PIPES.values()),
                kib_text(launch.local_bytes),
            )
        )
    console = terminal()
    console.print(f"{model} on {target} (estimates of the emulator; cycles by pipe)", highlight=False, markup=False)
    columns = ("launch", "us", "predicted", "blocks", *PIPES, "KiB of UB")
    console.print(kernel_table(columns, rows, console.width))
    total = sum(launch.microseconds for launch in found.launches)
    console.print(f"{total:.1f} us in {counted(len(found.launches), 'launch')}", highlight=False)
