"""The codegen stage: ``emit`` writes one kernel, ``link`` makes the program of a whole model."""

from autofuse_ir.facts import SymbolFacts
from autofuse_ir.given import check_kinds, check_same
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_ir.tiling import TilingModel

from autofuse_codegen.content import shared
from autofuse_codegen.link import link
from autofuse_codegen.targets.cpu.emitter import emit_cpu

__all__ = ["emit", "emit_alike", "link"]


def emit(
    schedule_result: ScheduleResult, tiling_model: TilingModel, facts: SymbolFacts, target: TargetSpec
) -> KernelBundle:
    """Write kernel, tiling function, TilingData and shape inference of one backend node for ``target``."""
    check_kinds(
        "emit",
        schedule_result=(schedule_result, ScheduleResult),
        tiling_model=(tiling_model, TilingModel),
        facts=(facts, SymbolFacts),
        target=(target, TargetSpec),
    )
    check_same("emit", "kernel", schedule_result=schedule_result.name, tiling_model=tiling_model.name)
    targets = {"schedule_result": schedule_result.target, "tiling_model": tiling_model.target, "target": target.name}
    check_same("emit", "target", **targets)
    return emit_alike((schedule_result,), tiling_model, facts, target)[0]


def emit_alike(
    alike: tuple[ScheduleResult, ...], tiling_model: TilingModel, facts: SymbolFacts, target: TargetSpec
) -> tuple[KernelBundle, ...]:
    """Write the sources that all of ``alike``, which have one form (`content.form_of`), share; a bundle for each."""
    match target.kind:
        case TargetKind.CPU:
            return emit_cpu(alike, tiling_model, facts, target)
        case TargetKind.ASCEND:
            # Half of what importing this package takes, and no CPU needs it.
            from autofuse_codegen.targets.ascendc.emitter import emit_ascendc  # noqa: PLC0415

            bundle = emit_ascendc(alike[0], tiling_model, facts, target)
            return tuple(shared(bundle, each) for each in alike)
