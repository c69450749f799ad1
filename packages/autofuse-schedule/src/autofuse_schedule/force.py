"""Leave the tiling function less to choose from: to test each template, or to measure one."""

from attrs import evolve
from autofuse_ir.schedule import ImplGraph, ScheduleResult

from autofuse_schedule.errors import ScheduleError


def template_names(result: ScheduleResult) -> tuple[str, ...]:
    """Return the templates of ``result``'s implementations, in order."""
    return tuple(
        dict.fromkeys(impl.template for a in result.alternatives for g in a.groups for impl in g.implementations)
    )


def only_alternative(result: ScheduleResult, name: str) -> ScheduleResult:
    """Return ``result`` with alternative ``name`` alone, for the sizes it applies to.

    Raises ``ScheduleError`` where there is none of that name.
    """
    kept = tuple(alternative for alternative in result.alternatives if alternative.name == name)
    if not kept:
        raise ScheduleError(
            f"there is no alternative {name!r}",
            where=f"kernel {result.name}",
            fix=f"its alternatives are {', '.join(alternative.name for alternative in result.alternatives)}",
        )
    return evolve(result, alternatives=kept)


def only_template(result: ScheduleResult, name: str) -> ScheduleResult:
    """Return ``result`` with the implementations of template ``name`` alone, wherever a group has any.

    Alternatives that have none at all are left out.
    Sizes for which that template does not fit have no tiling then. Raises ``ScheduleError`` where no group has it.
    """
    if name not in template_names(result):
        raise ScheduleError(
            f"there is no template {name!r}",
            where=f"kernel {result.name}",
            fix=f"its templates are {', '.join(template_names(result))}",
        )

    def chosen(implementations: tuple[ImplGraph, ...]) -> tuple[ImplGraph, ...]:
        return tuple(impl for impl in implementations if impl.template == name) or implementations

    alternatives = tuple(
        evolve(a, groups=tuple(evolve(g, implementations=chosen(g.implementations)) for g in a.groups))
        for a in result.alternatives
        if any(impl.template == name for g in a.groups for impl in g.implementations)
    )
    return evolve(result, alternatives=alternatives)
