"""What a kernel for Ascend can be at most; refused before a line of it is written."""

from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import bounds
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec

from autofuse_codegen.errors import CodegenError

MOST_WORKSPACE = 2**32 - 1
"""Bytes that the tiling data can state."""

MOST_SIZE = 2**31 - 1
"""Elements along one dim: kernels count those of a tile in 32 bits, and no product of two dims leaves 64."""


def check_sizes(schedule: ScheduleResult, facts: SymbolFacts) -> None:
    """Raise where a dim has more elements than kernels count, at any sizes; tiling functions look at others."""
    ranges = {s.name: (s.lo, s.hi) for s in facts.symbols}
    for argument in schedule.arguments:
        for number, dim in enumerate(argument.shape):
            least, _ = bounds(dim, ranges)
            if least > MOST_SIZE:
                raise CodegenError(
                    f"dim {number} of {argument.name!r} has at least {least} elements, {MOST_SIZE} are the most",
                    where=f"kernel {schedule.name}",
                    fix="give smaller sizes",
                )


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
