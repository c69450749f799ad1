"""What the tiling function decides, and TilingData holds: for a kernel, or for each of its groups by itself."""

from autofuse_ir.comment import comment_text
from autofuse_ir.dims_c import c_cond
from autofuse_ir.schedule import Alternative, ScheduleResult
from autofuse_ir.tiling import CaseModel, TilingModel

from autofuse_codegen.kernel.names import identifier
from autofuse_codegen.kernel.several_groups import has_choice, is_joint
from autofuse_codegen.targets.cpu.joint import member
from autofuse_codegen.targets.cpu.views import (
    StoreView,
    TilingAlternativeView,
    TilingCaseView,
    TilingPartView,
    TilingView,
)


def tiling_view(kernel: str, schedule: ScheduleResult, model: TilingModel, tiling_data: str) -> TilingView:
    """Return what the templates of TilingData (header ``tiling_data``) and of the tiling function see."""
    first_value = len(model.symbols) + 1
    solver, models = (file.name for file in model.support_files[:2])
    by_alternative = _parts(schedule, model, first_value)
    return TilingView(
        kernel=kernel,
        symbols=tuple(comment_text(s) for s in model.symbols),
        symbol_indices=tuple(range(len(model.symbols))),
        solver_header=solver,
        models_header=models,
        tiling_data_header=tiling_data,
        tiling=f"af_{kernel}_tiling",
        tiling_type=f"AfTiling_{kernel}",
        models=f"af_models_{kernel}",
        value_count=first_value + max(len(case.variables) for case in model.cases),
        groups=tuple(part for parts in by_alternative for part in parts),
        alternatives=_alternatives(kernel, schedule, model, by_alternative) if has_choice(model) else (),
    )


def field_count(view: TilingView) -> int:
    """Return how many 8-byte fields TilingData has: the alternative, then case, blocks and tile sizes of each group."""
    return bool(view.alternatives) + sum(2 + len(group.fields) for group in view.groups)


def _parts(schedule: ScheduleResult, model: TilingModel, first_value: int) -> tuple[tuple[TilingPartView, ...], ...]:
    """Return the parts of each alternative, numbered through."""
    if not is_joint(schedule):
        return ((_part("", schedule.name, 0, model.cases, first_value),),)
    start, number = 0, 0
    found = []
    for alternative in schedule.alternatives:
        parts: list[TilingPartView] = []
        for group in alternative.groups:
            cases = model.cases[start : start + len(group.implementations)]
            parts.append(_part(member(number), group.name, start, cases, first_value))
            start, number = start + len(cases), number + 1
        found.append(tuple(parts))
    return tuple(found)


def _alternatives(
    kernel: str, schedule: ScheduleResult, model: TilingModel, parts: tuple[tuple[TilingPartView, ...], ...]
) -> tuple[TilingAlternativeView, ...]:
    sizes = {symbol: f"sizes[{at}]" for at, symbol in enumerate(model.symbols)}

    def view(number: int, alternative: Alternative) -> TilingAlternativeView:
        return TilingAlternativeView(
            number,
            comment_text(alternative.name),
            f"af_{kernel}_alternative{number}",
            c_cond(alternative.applies, sizes.__getitem__),
            parts[number],
        )

    return tuple(view(number, alternative) for number, alternative in enumerate(schedule.alternatives))


def _part(place: str, name: str, first: int, cases: tuple[CaseModel, ...], first_value: int) -> TilingPartView:
    fields = dict.fromkeys(identifier(variable.name) for case in cases for variable in case.variables)
    views = tuple(
        TilingCaseView(
            case.key, tuple(StoreView(identifier(v.name), first_value + i) for i, v in enumerate(case.variables))
        )
        for case in cases
    )
    return TilingPartView(place, comment_text(name), first, len(cases), tuple(fields), views)
