"""``autofuse compile``: a model -> a bundle."""

from pathlib import Path

import click
from autofuse_ir.artefact import write
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_runtime.build import write_sources

from autofuse.cli.choices import Choices, model_options
from autofuse.cli.console import counted
from autofuse.cli.progress import stages
from autofuse.compiler import load_lowered
from autofuse.dump import dump_into
from autofuse.errors import DriverError
from autofuse.pipeline import Lowered
from autofuse.report import report_of


@click.command("compile")
@click.argument("model")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the bundle.")
@click.option("--emit-only", is_flag=True, help="Write the sources, build nothing.")
@click.option("--dump", type=click.Path(path_type=Path), help="Write every stage's artefact here.")
@model_options
def compile_command(model: str, output: Path, emit_only: bool, dump: Path | None, choices: Choices) -> None:
    """Compile MODEL into a bundle: program, sources, built libraries, constants."""
    with stages() as observe:
        lowered, target = choices.lower(model, dump_into(dump, observe) if dump else observe)
    if emit_only:
        _write_sources(lowered, target, output)
    elif target.kind is TargetKind.CPU:
        load_lowered(lowered, target, "jit").save(output)
    else:
        raise DriverError(
            f"bundles with built libraries are for cpu, not for {target.name}",
            where="compile",
            fix="add --emit-only for its sources; `autofuse run` and `autofuse trace` run the model in the emulator",
        )
    report = report_of(lowered)
    fused, hosted, others = report.operators_in_kernels, report.operators_on_hosts, report.operators_in_neither
    told = f"{fused} in {counted(report.launches, 'kernel')}, {hosted} in {counted(len(report.regions), 'host region')}"
    told += f", {others} that only rename, make sizes or are known" if others else ""
    click.echo(f"{output}: {counted(report.operators, 'operator')}: {told}")


def _write_sources(lowered: Lowered, target: TargetSpec, folder: Path) -> None:
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DriverError("something is here already", where=str(folder), fix="give a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_sources(lowered.program, lowered.bundles, folder, c_library=target.kind is TargetKind.CPU)
        write(lowered.source, folder / "graph.json")
        (folder / "report.json").write_text(report_of(lowered, target).to_json(), encoding="utf-8")
    except OSError as error:
        raise DriverError(
            f"the sources cannot be written ({error.strerror})", where=str(folder), fix="give a writable folder"
        ) from error
