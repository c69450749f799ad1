"""``autofuse compile``: a model -> a bundle."""

from pathlib import Path

import click
from attrs import evolve
from autofuse_fusion.options import FusionOptions
from autofuse_ir.target import TargetKind, load_target
from autofuse_runtime.build import write_sources

from autofuse.cli.choices import model_options, parse_arrays, parse_dims, parse_sizes
from autofuse.cli.progress import stages
from autofuse.compiler import import_graph, load_lowered
from autofuse.dump import dump_into
from autofuse.errors import DriverError
from autofuse.options import settings
from autofuse.pipeline import lower


@click.command("compile")
@click.argument("model")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the bundle.")
@click.option("--emit-only", is_flag=True, help="Write the sources, build nothing.")
@click.option("--dump", type=click.Path(path_type=Path), help="Write every stage's artefact here.")
@model_options
def compile_command(
    model: str,
    output: Path,
    emit_only: bool,
    dump: Path | None,
    target: str | None,
    dims: tuple[str, ...],
    hints: tuple[str, ...],
    values: tuple[str, ...],
    numerics: str,
    device: str,
) -> None:
    """Compile MODEL into a bundle: program, sources, built libraries, constants."""
    del device
    spec = load_target(target or settings().target)
    graph = import_graph(model, parse_dims(dims), parse_sizes(hints, "--hint"), parse_arrays(values, "--values"))
    options = evolve(FusionOptions(), numerics=numerics)
    with stages() as observe:
        lowered = lower(graph, spec, options, None, dump_into(dump, observe) if dump else observe)
    if emit_only:
        if output.exists() and any(output.iterdir()):
            raise DriverError("the folder is not empty", where=str(output), fix="give a new folder")
        output.mkdir(parents=True, exist_ok=True)
        write_sources(lowered.program, lowered.bundles, output)
    else:
        if spec.kind is not TargetKind.CPU:
            raise DriverError(
                f"this version builds for cpu only, not for {spec.name}", where="compile", fix="add --emit-only"
            )
        load_lowered(lowered, spec, "jit").save(output)
    kernels = len(lowered.bundles)
    click.echo(
        f"{output}: {len(graph.nodes)} operators in {kernels} kernels, {len(lowered.program.regions)} host regions"
    )
