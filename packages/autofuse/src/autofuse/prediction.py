"""What the tiling functions decide for given sizes, and the time their cost models predict.

The numbers are those of the tiling model: estimates from cost tables, not measurements. ``autofuse trace`` asks the
emulator instead, which counts every instruction.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve, frozen
from autofuse_codegen.content import content_of
from autofuse_fusion.stage import fuse
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_ir.tiling import CORES_SYMBOL, CaseModel, CostTerm, TilingModel
from autofuse_schedule.stage import schedule
from autofuse_tiling.evaluate import Choice, decide
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.stage import tile

from autofuse.pipeline import Lowered


@frozen
class PartPrediction:
    """One group of a kernel: the chosen case, tile sizes, blocks, cycles of each pipe in the busiest block, and memory.

    ``head_cycles`` are spent before any block works; the group takes those and the largest of ``pipe_cycles``.
    """

    case: str
    tiles: tuple[tuple[str, int], ...]
    blocks: int
    head_cycles: float
    pipe_cycles: tuple[tuple[str, float], ...]
    local_bytes: int
    local_limit: int

    @property
    def cycles(self) -> float:
        """Cycles of the group."""
        return self.head_cycles + max((cycles for _, cycles in self.pipe_cycles), default=0.0)


@frozen
class KernelPrediction:
    """One launch: its groups (most kernels have one), and microseconds with the launch itself.

    ``alternative`` is the one that is picked of several ways to run the kernel; "" where there is one.
    """

    kernel: str
    parts: tuple[PartPrediction, ...]
    microseconds: float
    alternative: str = ""

    @property
    def cycles(self) -> float:
        """Cycles of all groups, one after the other."""
        return sum(part.cycles for part in self.parts)


@frozen
class Prediction:
    """Predicted times of the kernels of a model at ``sizes``, and of a kernel for each operator (None: not asked for).

    ``without`` names kernels whose time is not known: their sizes come out of a step, or no tiles fit.
    """

    target: str
    sizes: tuple[tuple[str, int], ...]
    kernels: tuple[KernelPrediction, ...]
    unfused_microseconds: float | None = None
    unfused_launches: int | None = None
    without: tuple[str, ...] = ()

    @property
    def microseconds(self) -> float:
        """All launches, one after the other; host steps are not counted."""
        return sum(kernel.microseconds for kernel in self.kernels)

    def as_data(self) -> dict[str, Any]:
        """Return the prediction as JSON data."""
        return {
            "target": self.target,
            "sizes": dict(self.sizes),
            "fused_us": self.microseconds,
            "unfused_us": self.unfused_microseconds,
            "unfused_launches": self.unfused_launches,
            "without": list(self.without),
            "kernels": [
                {
                    "name": kernel.kernel,
                    "alternative": kernel.alternative,
                    "us": kernel.microseconds,
                    "cycles": kernel.cycles,
                    "parts": [
                        {
                            "case": part.case,
                            "tiles": dict(part.tiles),
                            "blocks": part.blocks,
                            "head_cycles": part.head_cycles,
                            "pipe_cycles": dict(part.pipe_cycles),
                            "local_bytes": part.local_bytes,
                            "local_limit": part.local_limit,
                        }
                        for part in kernel.parts
                    ],
                }
                for kernel in self.kernels
            ],
        }


def predict(lowered: Lowered, target: TargetSpec, sizes: Mapping[str, int], unfused: bool = False) -> Prediction:
    """Return what ``lowered`` takes on ``target`` at ``sizes`` (those that are missing: their hints).

    ``unfused``: predict a kernel for each operator, too; that is another run of fusion, schedule and tiling.
    """
    known = {symbol.name: symbol.hint for symbol in lowered.program.symbols} | dict(sizes)
    kernels, without = _predicted(zip(lowered.schedules, lowered.tilings, strict=True), target, known)
    found = Prediction(target.name, tuple(sorted(known.items())), kernels, without=without)
    if not unfused:
        return found
    alone = fuse(lowered.graph, lowered.facts, target, evolve(lowered.options, enable=False))
    others, unknown = predict_kernels(alone, target, known)
    return evolve(
        found,
        unfused_microseconds=sum(kernel.microseconds for kernel in others),
        unfused_launches=len(others),
        without=(*without, *unknown),
    )


def predict_kernels(
    fused: FusedGraph, target: TargetSpec, sizes: Mapping[str, int]
) -> tuple[tuple[KernelPrediction, ...], tuple[str, ...]]:
    """Return the predictions of all kernels of ``fused``, and the names of those whose sizes are not in ``sizes``."""
    return _predicted(_tiled(fused, target), target, sizes)


def _tiled(fused: FusedGraph, target: TargetSpec) -> Iterable[tuple[ScheduleResult, TilingModel]]:
    """Schedules and tiling models of all kernels; those that differ in names only are modelled once."""
    models: dict[str, TilingModel] = {}
    for node in fused.nodes:
        if isinstance(node, (AscBackend, FusedAscBackend)):
            scheduled = schedule(node, fused.facts, target)
            content = content_of(scheduled)
            if content not in models:
                models[content] = tile(scheduled, fused.facts, target)
            yield scheduled, evolve(models[content], name=scheduled.name)


def _predicted(
    tiled: Iterable[tuple[ScheduleResult, TilingModel]], target: TargetSpec, sizes: Mapping[str, int]
) -> tuple[tuple[KernelPrediction, ...], tuple[str, ...]]:
    found, without = [], []
    for scheduled, model in tiled:
        if any(name not in sizes for name in model.symbols):
            without.append(model.name)
        elif _has_work(scheduled, sizes):
            try:
                found.append(_kernel(model, target, sizes))
            except TilingError:
                without.append(model.name)
    return tuple(found), tuple(without)


def _has_work(scheduled: ScheduleResult, sizes: Mapping[str, int]) -> bool:
    """False where all outputs are empty: such kernels are not launched."""
    return any(all(evaluate(d, sizes) for d in a.shape) for a in scheduled.arguments if a.is_output)


def _kernel(model: TilingModel, target: TargetSpec, sizes: Mapping[str, int]) -> KernelPrediction:
    cases = {case.key: case for case in model.cases}
    found = decide(model, sizes, target.cores)
    parts = tuple(_part(cases[choice.key], choice, sizes, target.cores) for choice in found.groups.values())
    cycles = sum(part.cycles for part in parts) + launch_cycles(target)
    alternative = found.alternative if model.conditions else ""
    return KernelPrediction(model.name, parts, cycles / target.quantity("clock_hz") * 1e6, alternative)


def launch_cycles(target: TargetSpec) -> float:
    """Return the cycles of a launch before the first core starts."""
    if target.kind is TargetKind.CPU:
        return 0.0  # it calls a function; waking threads counts as the head of a case
    return target.quantity("launch_cycles") - target.cores * target.quantity("core_launch_cycles")


def _part(case: CaseModel, choice: Choice, sizes: Mapping[str, int], cores: int) -> PartPrediction:
    values = {**sizes, **choice.sizes, CORES_SYMBOL: cores}

    def cycles(terms: Iterable[CostTerm]) -> float:
        return sum(t.coefficient * evaluate(t.count, values) / evaluate(t.divisor, values) for t in terms)

    memory = [c for c in case.constraints if c.resource == "local_memory"]
    return PartPrediction(
        case=case.implementation,
        tiles=choice.tile_sizes,
        blocks=choice.blocks,
        head_cycles=cycles(case.head),
        pipe_cycles=tuple((cost.pipe, cycles(cost.terms)) for cost in case.costs),
        local_bytes=max((evaluate(c.need, values) for c in memory), default=0),
        local_limit=min((evaluate(c.limit, values) for c in memory), default=0),
    )
