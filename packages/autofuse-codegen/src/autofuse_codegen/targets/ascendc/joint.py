"""The parts of an Ascend kernel, and the ways to run them: steps of parts side by side."""

from attrs import frozen
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim
from autofuse_ir.dims_c import c_cond, c_text
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.group_order import levels
from autofuse_ir.kernel_memory import users_of_internals, workspace_plan
from autofuse_ir.schedule import Alternative

from autofuse_codegen.kernel.several_groups import is_joint
from autofuse_codegen.targets.ascendc.parts import Part, Spot, part_of
from autofuse_codegen.targets.ascendc.request import Request
from autofuse_codegen.targets.ascendc.views import AlternativeView, StepView


@frozen
class Layout:
    """The parts of a kernel, the ways to run them, and the symbols that places in the workspace depend on."""

    parts: tuple[Part, ...]
    alternatives: tuple[AlternativeView, ...] = ()
    place_symbols: frozenset[str] = frozenset()


def layout_of(request: Request) -> Layout:
    """Return the parts of the kernel that ``request`` asks for, and how they are run."""
    return _joint(request) if is_joint(request.schedule) else _alone(request)


def _alone(request: Request) -> Layout:
    schedule = request.schedule
    implementations = tuple(i for a in schedule.alternatives for g in a.groups for i in g.implementations)
    return Layout((part_of(Spot(request.kernel), schedule.name, implementations, 0, request, workspace="workspace"),))


def _joint(request: Request) -> Layout:
    kernel, schedule, parameters, names = request.kernel, request.schedule, request.parameters, request.names
    parts: list[Part] = []
    views: list[AlternativeView] = []
    offsets: list[Dim] = []
    first = 0
    sizes = {symbol: f"sizes[{at}]" for at, symbol in enumerate(schedule.symbols)}
    for number, alternative in enumerate(schedule.alternatives):
        own: dict[str, Part] = {}
        plan = workspace_plan(schedule.internals, alternative)
        used = users_of_internals(alternative.groups)
        values = zip(schedule.internals, plan.internals, strict=True)
        places = [(parameters["internal", value.index], at) for value, at in values if value.index in used]
        for group in alternative.groups:
            spot = Spot(kernel, len(parts))
            workspace = f"graph{spot.number}_workspace"
            while workspace in parameters.values():
                workspace += "_"
            own[group.name] = part_of(spot, group.name, group.implementations, first, request, workspace)
            first += len(group.implementations)
            if workspace in own[group.name].view.call:
                places.append((workspace, plan.of_group(group.name)))
            parts.append(own[group.name])
        lines = tuple(f"GM_ADDR const {name} = workspace{_behind(offset, names)};" for name, offset in places)
        offsets += [offset for _, offset in places]
        views.append(
            AlternativeView(
                number=number,
                name=comment_text(alternative.name),
                function=f"af_{kernel}_alternative{number}",
                condition=c_cond(alternative.applies, sizes.__getitem__),
                parts=tuple(part.view for part in own.values()),
                steps=_steps(alternative, own),
                places=lines,
            )
        )
    return Layout(tuple(parts), tuple(views), frozenset(s for offset in offsets for s in free_symbols(offset)))


def _steps(alternative: Alternative, parts: dict[str, Part]) -> tuple[StepView, ...]:
    steps = []
    for level in levels(alternative.groups):
        views = tuple(parts[group.name].view for group in level)
        blocks = " + ".join(f"t->{view.place}.block_dim" for view in views)
        steps.append(StepView(comment_text(", ".join(group.name for group in level)), views, blocks))
    return tuple(steps)


def _behind(offset: Dim, names: dict[str, str]) -> str:
    """Return what is added to an address that ``offset`` bytes are behind of."""
    text = c_text(offset, names.__getitem__)
    if offset.constant_value is not None:
        return f" + {text}" if offset.constant_value else ""
    return f" + ({text})"
