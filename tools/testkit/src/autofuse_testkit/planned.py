"""Models run as they are scheduled for a target: kernels by the interpreter of plans, in buffers of the planned bytes.

No source is written, so it shows what a schedule is worth where no emitter can write it yet.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen
from autofuse import plugins
from autofuse_codegen.stage import link
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program, ProgramKernel
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec, load_target
from autofuse_ir.tiling import TilingModel
from autofuse_reference.executor import ProgramExecutor
from autofuse_reference.impl_graph.groups import Chosen, interpret_schedule
from autofuse_runtime.load import load_interpreted
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.evaluate import choose_groups
from autofuse_tiling.stage import tile

Array = np.ndarray[Any, Any]

LARGEST = 10**5
"""Sizes that an index has to hold: an undeclared dim may have 2^31 - 1 elements, and two of them joined more."""


@frozen
class PlannedModel:
    """A model for a target; ``function`` takes arrays and returns arrays."""

    fused: FusedGraph
    schedules: Mapping[str, ScheduleResult]
    function: Any


def planned(graph: Graph, target_name: str, numerics: str = "strict") -> PlannedModel:
    """Return ``graph`` scheduled for a target. Raises what the stages raise where they cannot."""
    target = load_target(target_name)
    bounded = evolve(graph, symbols=tuple(evolve(symbol, hi=min(symbol.hi, LARGEST)) for symbol in graph.symbols))
    inferred, facts = infer(bounded)
    fused = fuse(inferred, facts, target, FusionOptions(numerics=numerics))
    kernels = [node for node in fused.nodes if isinstance(node, AscBackend | FusedAscBackend)]
    schedules = {node.name: schedule(node, fused.facts, target) for node in kernels}
    models = {name: tile(scheduled, fused.facts, target) for name, scheduled in schedules.items()}
    bundles = tuple(_described(scheduled, models[name]) for name, scheduled in schedules.items())
    runner = _Runner(target, schedules, models)

    def executor(program: Program, hosts: Any) -> ProgramExecutor:
        return ProgramExecutor(program, hosts, run_kernel=runner.run)

    module = load_interpreted(link(fused, bundles, fused.facts, target), executor, plugins.hosts())
    return PlannedModel(fused, schedules, module)


def _described(scheduled: ScheduleResult, model: TilingModel) -> KernelBundle:
    """What a program has to know of a kernel that nobody writes."""
    return KernelBundle(
        name=scheduled.name,
        target=scheduled.target,
        arguments=scheduled.arguments,
        symbols=model.symbols,
        launch="",
        tiling="",
        tiling_bytes=0,
        workspace_bytes=scheduled.workspace_bytes,
        files=(),
        support_files=(),
        flags=(),
        safe_aliases=(),
        status_messages=(),
    )


@frozen
class _Runner:
    """Runs kernels by the interpreter of plans, with the tiles that the generated function would choose."""

    target: TargetSpec
    schedules: Mapping[str, ScheduleResult]
    models: Mapping[str, TilingModel]

    def run(self, kernel: ProgramKernel, inputs: Sequence[Array], sizes: Mapping[str, int]) -> list[Array]:
        scheduled, model = self.schedules[kernel.name], self.models[kernel.name]
        choices = choose_groups(model, {symbol: sizes[symbol] for symbol in model.symbols}, self.target.cores)
        chosen = {group: Chosen(choice.implementation, choice.sizes) for group, choice in choices.items()}
        return interpret_schedule(scheduled, inputs, sizes, chosen, seed=len(kernel.name))
