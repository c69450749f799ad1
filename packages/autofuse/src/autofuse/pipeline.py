"""The stages in a row: a graph -> program and kernels. Decides nothing; observers see every artefact."""

from collections.abc import Callable
from typing import TypeVar

from attrs import evolve, frozen
from autofuse_codegen.content import form_of
from autofuse_codegen.stage import emit_alike, link
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.tiling import TilingModel
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.stage import tile

T = TypeVar("T")

Observer = Callable[[str, object], None]
"""Called with the name of a stage and the artefact it made."""


@frozen
class Lowered:
    """Everything the stages made of one model, up to the sources; ``source`` and ``options`` are what they got."""

    source: Graph
    options: FusionOptions
    graph: Graph
    facts: SymbolFacts
    fused: FusedGraph
    schedules: tuple[ScheduleResult, ...]
    tilings: tuple[TilingModel, ...]
    bundles: tuple[KernelBundle, ...]
    program: Program


def lower(
    graph: Graph,
    target: TargetSpec,
    options: FusionOptions,
    values: dict[str, TensorData] | None = None,
    observe: Observer = lambda stage, artefact: None,
) -> Lowered:
    """Run every stage on ``graph``; no compiler is needed yet. Errors of the stages pass through.

    Kernels that differ in names only, or on a CPU in floating-point constants, are tiled and emitted once, and share
    their sources.
    """

    def seen(stage: str, artefact: T) -> T:
        observe(stage, artefact)
        return artefact

    inferred, facts = infer(graph, values)
    seen("infer", facts)
    fused = seen("fuse", fuse(inferred, facts, target, options))
    schedules = tuple(
        seen("schedule", schedule(node, fused.facts, target))
        for node in fused.nodes
        if isinstance(node, (AscBackend, FusedAscBackend))
    )
    tilings, bundles = _emitted(schedules, fused.facts, target)
    for tiling, bundle in zip(tilings, bundles, strict=True):
        seen("tile", tiling)
        seen("emit", bundle)
    program = seen("link", link(fused, bundles, fused.facts, target))
    return Lowered(graph, options, inferred, facts, fused, schedules, tilings, bundles, program)


def _emitted(
    schedules: tuple[ScheduleResult, ...], facts: SymbolFacts, target: TargetSpec
) -> tuple[tuple[TilingModel, ...], tuple[KernelBundle, ...]]:
    """Return tiling model and bundle of each kernel; those of one form are tiled and emitted once."""
    alike: dict[str, list[int]] = {}
    for number, scheduled in enumerate(schedules):
        alike.setdefault(form_of(scheduled, target), []).append(number)
    tilings: dict[int, TilingModel] = {}
    bundles: dict[int, KernelBundle] = {}
    for numbers in alike.values():
        kernels = tuple(schedules[number] for number in numbers)
        tiling = tile(kernels[0], facts, target)
        made = emit_alike(kernels, tiling, facts, target)
        for number, kernel, bundle in zip(numbers, kernels, made, strict=True):
            tilings[number], bundles[number] = evolve(tiling, name=kernel.name), bundle
    order = range(len(schedules))
    return tuple(tilings[number] for number in order), tuple(bundles[number] for number in order)
