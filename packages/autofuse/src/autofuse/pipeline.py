"""The stages in a row: a graph -> program and kernels. Decides nothing; observers see every artefact."""

from collections.abc import Callable
from typing import TypeVar

from attrs import evolve, frozen
from autofuse_codegen.content import content_of, shared
from autofuse_codegen.stage import emit, link
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

    Kernels that differ in names only are tiled and emitted once, and share their sources.
    """

    def seen(stage: str, artefact: T) -> T:
        observe(stage, artefact)
        return artefact

    inferred, facts = infer(graph, values)
    seen("infer", facts)
    fused = seen("fuse", fuse(inferred, facts, target, options))
    schedules: list[ScheduleResult] = []
    tilings: list[TilingModel] = []
    bundles: list[KernelBundle] = []
    firsts: dict[str, tuple[TilingModel, KernelBundle]] = {}
    for node in fused.nodes:
        if isinstance(node, (AscBackend, FusedAscBackend)):
            scheduled = seen("schedule", schedule(node, fused.facts, target))
            content = content_of(scheduled)
            if content not in firsts:
                tiling = tile(scheduled, fused.facts, target)
                firsts[content] = tiling, emit(scheduled, tiling, fused.facts, target)
            tiling, bundle = firsts[content]
            schedules.append(scheduled)
            tilings.append(seen("tile", evolve(tiling, name=scheduled.name)))
            bundles.append(seen("emit", shared(bundle, scheduled)))
    program = seen("link", link(fused, tuple(bundles), fused.facts, target))
    return Lowered(graph, options, inferred, facts, fused, tuple(schedules), tuple(tilings), tuple(bundles), program)
