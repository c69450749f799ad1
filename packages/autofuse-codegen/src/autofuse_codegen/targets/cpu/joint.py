"""Kernels of several groups on the CPU: levels of groups side by side, for each way to run them."""

from attrs import frozen
from autofuse_ir.comment import comment_text
from autofuse_ir.group_order import levels
from autofuse_ir.kernel_memory import workspace_plan
from autofuse_ir.schedule import Alternative, ScheduleGroup, ScheduleResult

from autofuse_codegen.kernel.constants import Constants
from autofuse_codegen.kernel.names import Names, identifier
from autofuse_codegen.targets.cpu.borders import Borders
from autofuse_codegen.targets.cpu.functions import case_view
from autofuse_codegen.targets.cpu.views import AlternativeView, CaseView, LevelView, PartView


@frozen
class KernelFunctions:
    """The functions of all cases, how the launch runs them, and the header functions they call."""

    cases: tuple[CaseView, ...]
    alternatives: tuple[AlternativeView, ...]
    called: frozenset[str]


def joint_functions(schedule: ScheduleResult, constants: Constants, launch_names: dict[str, str]) -> KernelFunctions:
    """Return the functions of a kernel of several groups; ``launch_names`` is what its launch calls the symbols."""
    functions = Names()
    cases: list[CaseView] = []
    views: list[AlternativeView] = []
    called: set[str] = set()
    first = 0
    for number, alternative in enumerate(schedule.alternatives):
        members = {group.name: member(first + at) for at, group in enumerate(alternative.groups)}
        by_group, used = _cases(schedule, constants, alternative, members, len(cases), functions, launch_names)
        own = [functions.of(f"level {number} {depth}", f"{identifier(schedule.name)}_level{depth}")
               for depth, _ in enumerate(levels(alternative.groups))]  # fmt: skip
        steps = zip(levels(alternative.groups), own, strict=True)
        made = tuple(_level(level, members, by_group, function) for level, function in steps)
        views.append(AlternativeView(number, comment_text(alternative.name), made))
        cases += [case for each in by_group.values() for case in each]
        called |= used
        first += len(alternative.groups)
    return KernelFunctions(tuple(cases), tuple(views), frozenset(called))


def _cases(
    schedule: ScheduleResult,
    constants: Constants,
    alternative: Alternative,
    members: dict[str, str],
    first: int,
    functions: Names,
    launch_names: dict[str, str],
) -> tuple[dict[str, tuple[CaseView, ...]], set[str]]:
    """Return the cases of each group, keys from ``first`` on, and the header functions that they call."""
    plan = workspace_plan(schedule.internals, alternative)
    found: dict[str, tuple[CaseView, ...]] = {}
    called: set[str] = set()
    for group in alternative.groups:
        own: list[CaseView] = []
        workspace, tiling = plan.of_group(group.name), f"{members[group.name]}."
        for impl in group.implementations:
            borders = Borders(plan.internals, workspace, tiling, constants.of(first))
            view, used = case_view(first, identifier(group.name), impl, schedule, functions, launch_names, borders)
            own.append(view)
            called |= used
            first += 1
        found[group.name] = tuple(own)
    return found, called


def member(number: int) -> str:
    """Return the name of group ``number``'s part of TilingData."""
    return f"part{number}"


def _level(
    level: tuple[ScheduleGroup, ...], members: dict[str, str], cases: dict[str, tuple[CaseView, ...]], function: str
) -> LevelView:
    """Groups of one phase group run together with others; what must wait in between runs by itself."""
    names = comment_text(", ".join(group.name for group in level))
    if len(level) == 1:
        whole = PartView(members[level[0].name], cases[level[0].name])
        return LevelView(names, (whole,), (), "", "", "")
    alone: list[PartView] = []
    together: list[PartView] = []
    for group in level:
        waiting = tuple(case for case in cases[group.name] if len(case.groups) > 1)
        if waiting:
            alone.append(PartView(members[group.name], waiting))
        at_once = tuple(case for case in cases[group.name] if len(case.groups) == 1)
        if at_once:
            together.append(PartView(members[group.name], at_once, _blocks(members[group.name], waiting)))
    if len(together) < 2:
        alone = [PartView(members[group.name], cases[group.name]) for group in level]
        return LevelView(names, tuple(alone), (), "", "", "")
    counts = [f"{part.member}_blocks" for part in together]
    most = counts[0]
    for count in counts[1:]:
        most = f"af_max({most}, {count})"
    return LevelView(names, tuple(alone), tuple(together), function, " + ".join(counts), most)


def _blocks(name: str, waiting: tuple[CaseView, ...]) -> str:
    """Return how many blocks a group has in the run of its level: none where its case runs by itself."""
    if not waiting:
        return f"t->{name}.blocks"
    by_itself = " || ".join(f"t->{name}.key == {case.key}" for case in waiting)
    return f"({by_itself}) ? 0 : t->{name}.blocks"
