"""The tiling stage: per scheduled kernel, the model its tile sizes are solved from at run time."""

from autofuse_ir.comment import comment_text
from autofuse_ir.dims import TRUE
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.given import check_kinds, check_same
from autofuse_ir.schedule import ImplGraph, ScheduleGroup, ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import CaseModel, Condition, TilingModel, support_file

from autofuse_tiling.constraints import constraints
from autofuse_tiling.model.cost import blocks_of, head_cost, pipe_costs
from autofuse_tiling.problems import problem_of
from autofuse_tiling.solver.c_functions import c_model
from autofuse_tiling.solver.encode import HEADER, header_text


def tile(schedule_result: ScheduleResult, facts: SymbolFacts, target: TargetSpec) -> TilingModel:
    """Model the choice of tile sizes for ``schedule_result`` on ``target``.

    Keys number the ImplGraphs of all alternatives in order. The support files are the solver's header and the case
    models as compiled C++ functions.
    """
    check_kinds(
        "tile",
        schedule_result=(schedule_result, ScheduleResult),
        facts=(facts, SymbolFacts),
        target=(target, TargetSpec),
    )
    check_same("tile", "target", schedule_result=schedule_result.target, target=target.name)
    del facts  # ranges are in the schedule's variables already
    cases: list[CaseModel] = []
    for alternative in schedule_result.alternatives:
        for group in alternative.groups:
            for impl in group.implementations:
                cases.append(_case(len(cases), alternative.name, group, impl, target))
    alternatives = schedule_result.alternatives
    has_choice = len(alternatives) > 1 or any(alternative.applies is not TRUE for alternative in alternatives)
    models = _models_text(schedule_result.name, tuple(cases), schedule_result.symbols)
    return TilingModel(
        name=schedule_result.name,
        target=target.name,
        symbols=schedule_result.symbols,
        cases=tuple(cases),
        support_files=(
            support_file(HEADER, header_text()),
            support_file(models_file_name(schedule_result.name), models),
        ),
        conditions=tuple(Condition(a.name, a.applies) for a in alternatives) if has_choice else (),
    )


def models_file_name(kernel: str) -> str:
    """Return the name of the support file that holds the case models of ``kernel`` (array ``af_models_<kernel>``)."""
    return f"{kernel}_tiling_model.h"


def _case(key: int, alternative: str, group: ScheduleGroup, impl: ImplGraph, target: TargetSpec) -> CaseModel:
    return CaseModel(
        key=key,
        alternative=alternative,
        group=group.name,
        implementation=impl.name,
        variables=impl.tile_variables,
        constraints=constraints(impl, target, group.workspace_bytes),
        costs=pipe_costs(impl, target),
        head=head_cost(impl, target),
        blocks=blocks_of(impl),
    )


def _models_text(kernel: str, cases: tuple[CaseModel, ...], symbols: tuple[str, ...]) -> str:
    names = [f"af_model_{kernel}_{case.key}" for case in cases]
    parts = [
        f"// requires: {HEADER}",
        f"// Tiling cases of {kernel}; values: {comment_text(', '.join((*symbols, 'cores')))}, then tiles.",
        "",
    ]
    parts += [c_model(problem_of(case, symbols), name) for case, name in zip(cases, names, strict=True)]
    parts.append(f"static const AfModel af_models_{kernel}[] = {{{', '.join(names)}}};")
    return "\n".join(parts) + "\n"
