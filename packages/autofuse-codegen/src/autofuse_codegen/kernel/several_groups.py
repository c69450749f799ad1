"""Kernels of several groups, whatever the target."""

from autofuse_ir.schedule import Alternative, ScheduleResult

from autofuse_codegen.errors import CodegenError


def is_joint(schedule: ScheduleResult) -> bool:
    """True for a kernel whose groups are solved and run by themselves."""
    return any(len(alternative.groups) > 1 for alternative in schedule.alternatives)


def only_alternative(schedule: ScheduleResult) -> Alternative:
    """Return the one way to run a kernel of several groups; ``CodegenError`` where there are more."""
    if len(schedule.alternatives) != 1:
        raise CodegenError(
            f"it has {len(schedule.alternatives)} alternatives, of several groups each",
            where=f"kernel {schedule.name}",
            fix="schedule a kernel of several groups in one alternative",
        )
    return schedule.alternatives[0]
