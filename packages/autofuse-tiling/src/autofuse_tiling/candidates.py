"""The best ways to tile a kernel of all that its tiling function compares, and the cycles predicted for a given one.

What the host code of Ascend kernels answers (``GenerateTopnSolutions``, ``EvaluateModeledPerf``), in Python.
"""

from collections.abc import Mapping

from attrs import frozen
from autofuse_ir.tiling import CaseModel, TilingModel

from autofuse_tiling.evaluate import Choice, alternatives_for
from autofuse_tiling.problems import problem_of
from autofuse_tiling.solver.bound_case import BoundCase
from autofuse_tiling.solver.problem import Ranked
from autofuse_tiling.solver.twin import rank


@frozen
class Candidate:
    """One tiling of all groups of an alternative: their choices in case order, and ``cycles`` one after the other."""

    alternative: str
    choices: tuple[Choice, ...]
    cycles: float


def candidates(model: TilingModel, sizes: Mapping[str, int], cores: int, most: int) -> tuple[Candidate, ...]:
    """Return the ``most`` tilings of least predicted time, fastest first; of equals the one that is met first.

    Each group's are those that the solver compares; there are none where a group has no tiles that fit. The first is
    the choice of the tiling function.
    """
    symbols = [*(sizes[s] for s in model.symbols), cores]
    found: list[Candidate] = []
    for name, groups in alternatives_for(model, sizes).items():
        ways = [Candidate(name, (), 0.0)]
        for cases in groups.values():
            ranked = rank([problem_of(case, model.symbols) for case in cases], symbols, most)
            choices = [_choice(cases[each.model], each) for each in ranked]
            longer = [Candidate(name, (*way.choices, c), way.cycles + c.cycles) for way in ways for c in choices]
            ways = sorted(longer, key=lambda way: way.cycles)[:most]
        found += ways
    return tuple(sorted(found, key=lambda way: way.cycles)[:most])


def predicted_cycles(model: TilingModel, sizes: Mapping[str, int], cores: int, choices: tuple[Choice, ...]) -> float:
    """Return the cycles that the model predicts for ``choices``, one of each group, without the start of the launch."""
    by_key = {case.key: case for case in model.cases}
    cycles = 0.0
    for choice in choices:
        case = by_key[choice.key]
        bound = BoundCase(problem_of(case, model.symbols), (*(sizes[s] for s in model.symbols), cores))
        cycles += bound.cost(tuple(choice.sizes[v.name] for v in case.variables))
    return cycles


def _choice(case: CaseModel, ranked: Ranked) -> Choice:
    tiles = tuple((v.name, t) for v, t in zip(case.variables, ranked.tiles, strict=True))
    return Choice(case.key, case.implementation, tiles, ranked.blocks, ranked.cost)
