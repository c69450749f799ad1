"""Kernels of several groups, or of several ways to run them, whatever the target."""

from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.tiling import TilingModel


def is_joint(schedule: ScheduleResult) -> bool:
    """True for a kernel whose groups are solved by themselves: it has several, or several alternatives."""
    return len(schedule.alternatives) > 1 or any(len(alternative.groups) > 1 for alternative in schedule.alternatives)


def has_choice(model: TilingModel) -> bool:
    """True where the tiling function picks an alternative, and TilingData says which."""
    return bool(model.conditions)
