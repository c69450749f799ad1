"""``autofuse stage``: one stage alone, artefact in, artefact out."""

from pathlib import Path
from typing import Any, TypeVar

import click
from autofuse_codegen.stage import emit, link
from autofuse_fusion.options import NUMERICS
from autofuse_fusion.stage import fuse
from autofuse_ir.artefact import read, write
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.tiling import TilingModel
from autofuse_runtime.build import build
from autofuse_runtime.cache import ArtefactCache
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.stage import tile

from autofuse.cli.choices import parse_dims, parse_sizes
from autofuse.compiler import chosen_options, chosen_target
from autofuse.errors import DriverError
from autofuse.front_end import import_graph
from autofuse.options import settings

A = TypeVar("A")
STAGES = ("infer", "fuse", "schedule", "tile", "emit", "link", "build")


@click.command()
@click.argument("name", type=click.Choice(STAGES), metavar="|".join(STAGES))
@click.argument("inputs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="A file or folder, as above.")
@click.option("--node", help="Only the backend node of this name.")
@click.option("--target", metavar="NAME", help="One that `autofuse targets` lists (default cpu), or FILE.toml.")
@click.option("--numerics", type=click.Choice(NUMERICS), help="Where roundings are kept (default auto).")
@click.option("--dim", "dims", multiple=True, metavar="NAME=LO..HI", help="Range of a dim, or one size NAME=N.")
@click.option("--hint", "hints", multiple=True, metavar="NAME=N", help="Typical size; judges profit.")
def stage(
    name: str,
    inputs: tuple[Path, ...],
    output: Path,
    node: str | None,
    target: str | None,
    numerics: str | None,
    dims: tuple[str, ...],
    hints: tuple[str, ...],
) -> None:
    """Run one stage on artefacts; `schedule`, `tile` and `emit` write one file per kernel into the folder OUTPUT.

    \b
    infer MODEL                      -> OUTPUT/graph.json, OUTPUT/facts.json
    fuse GRAPH FACTS                 -> OUTPUT
    schedule FUSED                   -> OUTPUT/NODE.json
    tile FUSED SCHEDULES             -> OUTPUT/NODE.json
    emit FUSED SCHEDULES TILINGS     -> OUTPUT/NODE.json
    link FUSED KERNELS               -> OUTPUT
    build PROGRAM KERNELS            -> OUTPUT, a bundle
    """
    spec = chosen_target(target)
    match name, inputs:
        case "infer", (model,):
            graph = import_graph(str(model), parse_dims(dims), parse_sizes(hints, "--hint"))
            inferred, facts = infer(graph)
            output.mkdir(parents=True, exist_ok=True)
            write(inferred, output / "graph.json")
            write(facts, output / "facts.json")
        case "fuse", (graph_path, facts_path):
            graph, facts = _read(graph_path, Graph), _read(facts_path, SymbolFacts)
            write(fuse(graph, facts, spec, chosen_options(numerics=numerics)), output)
        case "schedule", (fused_path,):
            fused = _read(fused_path, FusedGraph)
            _write_each({n.name: schedule(n, fused.facts, spec) for n in _nodes(fused, node)}, output)
        case "tile", (fused_path, schedules):
            fused = _read(fused_path, FusedGraph)
            names = [n.name for n in _nodes(fused, node)]
            _write_each({n: tile(_one(schedules, n, ScheduleResult), fused.facts, spec) for n in names}, output)
        case "emit", (fused_path, schedules, tilings):
            fused = _read(fused_path, FusedGraph)
            made = {}
            for each in _nodes(fused, node):
                scheduled, tiled = _one(schedules, each.name, ScheduleResult), _one(tilings, each.name, TilingModel)
                made[each.name] = emit(scheduled, tiled, fused.facts, spec)
            _write_each(made, output)
        case "link", (fused_path, kernels):
            fused = _read(fused_path, FusedGraph)
            bundles = tuple(_one(kernels, n.name, KernelBundle) for n in _nodes(fused, None))
            write(link(fused, bundles, fused.facts, spec), output)
        case "build", (program_path, kernels):
            program = _read(program_path, Program)
            built = tuple(_one(kernels, k.name, KernelBundle) for k in program.kernels)
            build(program, built, spec, output, cache=ArtefactCache(settings().cache))
        case _:
            raise DriverError(
                f"stage {name} does not take {len(inputs)} inputs", where="stage", fix="see autofuse stage --help"
            )


def _nodes(fused: FusedGraph, only: str | None) -> list[AscBackend | FusedAscBackend]:
    nodes = [n for n in fused.nodes if isinstance(n, AscBackend | FusedAscBackend)]
    if only is None:
        return nodes
    found = [n for n in nodes if n.name == only]
    if not found:
        names = ", ".join(n.name for n in nodes) or "none"
        raise DriverError(f"there is no backend node {only!r}", where=fused.name, fix=f"its nodes are: {names}")
    return found


def _read(path: Path, kind: type[A]) -> A:
    artefact: Any = read(path)
    if not isinstance(artefact, kind):
        raise DriverError(
            f"this is a {type(artefact).__name__}, not a {kind.__name__}",
            where=str(path),
            fix="give the right artefact",
        )
    return artefact


def _one(place: Path, name: str, kind: type[A]) -> A:
    return _read(place / f"{name}.json" if place.is_dir() else place, kind)


def _write_each(artefacts: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, artefact in artefacts.items():
        write(artefact, folder / f"{name}.json")
