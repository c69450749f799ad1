"""What the tiling function decides, and TilingData holds: for a kernel, or for each of its groups by itself."""

from autofuse_ir.comment import comment_text
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.tiling import CaseModel, TilingModel

from autofuse_codegen.kernel.names import identifier
from autofuse_codegen.kernel.several_groups import is_joint, only_alternative
from autofuse_codegen.targets.cpu.joint import member
from autofuse_codegen.targets.cpu.views import StoreView, TilingCaseView, TilingPartView, TilingView


def tiling_view(kernel: str, schedule: ScheduleResult, model: TilingModel, tiling_data: str) -> TilingView:
    """Return what the templates of TilingData (header ``tiling_data``) and of the tiling function see."""
    first_value = len(model.symbols) + 1
    solver, models = (file.name for file in model.support_files[:2])
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
        groups=_parts(schedule, model, first_value),
    )


def field_count(view: TilingView) -> int:
    """Return how many 8-byte fields TilingData has: case, blocks and tile sizes of each group."""
    return sum(2 + len(group.fields) for group in view.groups)


def _parts(schedule: ScheduleResult, model: TilingModel, first_value: int) -> tuple[TilingPartView, ...]:
    if not is_joint(schedule):
        return (_part("", schedule.name, 0, model.cases, first_value),)
    parts: list[TilingPartView] = []
    start = 0
    for number, group in enumerate(only_alternative(schedule).groups):
        cases = model.cases[start : start + len(group.implementations)]
        parts.append(_part(member(number), group.name, start, cases, first_value))
        start += len(cases)
    return tuple(parts)


def _part(place: str, name: str, first: int, cases: tuple[CaseModel, ...], first_value: int) -> TilingPartView:
    fields = dict.fromkeys(identifier(variable.name) for case in cases for variable in case.variables)
    views = tuple(
        TilingCaseView(
            case.key, tuple(StoreView(identifier(v.name), first_value + i) for i, v in enumerate(case.variables))
        )
        for case in cases
    )
    return TilingPartView(place, comment_text(name), first, len(cases), tuple(fields), views)
