"""The order of a kernel's ScheduleGroups: which must be complete before which."""

from collections.abc import Sequence

from autofuse_ir.errors import IrError
from autofuse_ir.schedule import ScheduleGroup


def predecessors(groups: Sequence[ScheduleGroup]) -> dict[str, frozenset[str]]:
    """Return, by name, the groups that must be complete before each group, directly or not.

    Raises ``IrError`` where ``after`` names no group, or goes round in a circle.
    """
    found: dict[str, frozenset[str]] = {}
    waiting = list(groups)
    while waiting:
        ready = [group for group in waiting if all(name in found for name in group.after)]
        if not ready:
            names = ", ".join(group.name for group in waiting)
            raise IrError("they wait for one another, or for no group", where=f"groups {names}", fix="correct `after`")
        for group in ready:
            found[group.name] = frozenset(group.after).union(*(found[name] for name in group.after))
        waiting = [group for group in waiting if group.name not in found]
    return found


def levels(groups: Sequence[ScheduleGroup]) -> tuple[tuple[ScheduleGroup, ...], ...]:
    """Return ``groups`` in steps: those of one step wait for earlier steps only, so they may run side by side.

    Raises ``IrError`` as `predecessors` does.
    """
    before = predecessors(groups)
    depth: dict[str, int] = {}
    for group in sorted(groups, key=lambda group: len(before[group.name])):
        depth[group.name] = max((depth[name] + 1 for name in group.after), default=0)
    steps = max(depth.values(), default=-1) + 1
    return tuple(tuple(group for group in groups if depth[group.name] == step) for step in range(steps))
