"""What a kernel for Ascend can be at most; refused before a line of it is written."""

from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import bounds
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec

from autofuse_codegen.errors import CodegenError

MOST_WORKSPACE = 2**32 - 1
"""Bytes that the tiling data can state."""


def check_workspace(workspace: Dim, schedule: ScheduleResult, facts: SymbolFacts) -> None:
    """Raise where the field for the workspace's size cannot state it at any sizes; tiling functions look at others."""
    least, _ = bounds(workspace, {s.name: (s.lo, s.hi) for s in facts.symbols})
    if least > MOST_WORKSPACE:
        raise CodegenError(
            f"the workspace takes at least {least} bytes, {MOST_WORKSPACE} are the most",
            where=f"kernel {schedule.name}",
            fix="fuse fewer operators, or give smaller sizes",
        )


def check_tiling_data(tiling_bytes: int, schedule: ScheduleResult, target: TargetSpec) -> None:
    """Raise where there is more tiling data than the target takes."""
    if tiling_bytes > target.limits.tiling_bytes:
        raise CodegenError(
            f"the tiling data takes {tiling_bytes} bytes, {target.limits.tiling_bytes} are the most",
            where=f"kernel {schedule.name}",
            fix="fuse fewer operators",
        )
