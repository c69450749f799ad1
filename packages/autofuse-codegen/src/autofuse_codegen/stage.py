"""The codegen stage: ``emit`` writes one kernel, ``link`` makes the program of a whole model."""

from autofuse_ir.facts import SymbolFacts
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_ir.tiling import TilingModel

from autofuse_codegen.link import link
from autofuse_codegen.targets.ascendc.emitter import emit_ascendc
from autofuse_codegen.targets.cpu.emitter import emit_cpu

__all__ = ["emit", "link"]


def emit(
    schedule_result: ScheduleResult, tiling_model: TilingModel, facts: SymbolFacts, target: TargetSpec
) -> KernelBundle:
    """Write kernel, tiling function, TilingData and shape inference of one backend node for ``target``."""
    match target.kind:
        case TargetKind.CPU:
            return emit_cpu(schedule_result, tiling_model, facts, target)
        case TargetKind.ASCEND:
            return emit_ascendc(schedule_result, tiling_model, facts, target)
