"""Solve a TilingModel in Python: which case and which tile sizes a call with given sizes gets."""

from collections.abc import Mapping, Sequence

from attrs import frozen
from autofuse_ir.tiling import CaseModel, TilingModel

from autofuse_tiling.problems import problem_of
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.solver.problem import Status
from autofuse_tiling.solver.twin import solve


@frozen
class Choice:
    """The chosen case: its ``key`` and ``implementation``, tile sizes by name, ``blocks`` and predicted ``cycles``."""

    key: int
    implementation: str
    tile_sizes: tuple[tuple[str, int], ...]
    blocks: int
    cycles: float

    @property
    def sizes(self) -> dict[str, int]:
        """The tile sizes as a dict, as ``autofuse_reference.run`` takes them."""
        return dict(self.tile_sizes)


def choose(model: TilingModel, sizes: Mapping[str, int], cores: int) -> Choice:
    """Return what the generated tiling function decides for ``sizes`` on ``cores`` cores, for a kernel of one group.

    Raises ``TilingError`` when no case fits, naming the constraint.
    """
    choices = choose_groups(model, sizes, cores)
    if len(choices) != 1:
        raise TilingError(
            f"it has {len(choices)} groups of cases", where=f"kernel {model.name}", fix="ask choose_groups for all"
        )
    (choice,) = choices.values()
    return choice


def choose_groups(model: TilingModel, sizes: Mapping[str, int], cores: int) -> dict[str, Choice]:
    """Return what the generated tiling function decides for each group, as if it were alone, by name in case order.

    Raises ``TilingError`` when no case of a group fits, naming the constraint.
    """
    return {group: _solved(model, cases, sizes, cores) for group, cases in cases_of_groups(model).items()}


def cases_of_groups(model: TilingModel) -> dict[str, list[CaseModel]]:
    """Return the cases of each group by its name, both in case order."""
    groups: dict[str, list[CaseModel]] = {}
    for case in model.cases:
        groups.setdefault(case.group, []).append(case)
    return groups


def _solved(model: TilingModel, cases: Sequence[CaseModel], sizes: Mapping[str, int], cores: int) -> Choice:
    problems = [problem_of(case, model.symbols) for case in cases]
    outcome = solve(problems, [*(sizes[s] for s in model.symbols), cores])
    case = cases[outcome.model]
    if outcome.status is not Status.SOLVED:
        broken = case.constraints[outcome.where].message if outcome.where < len(case.constraints) else ""
        raise TilingError(
            f"no tile sizes fit the sizes {dict(sizes)}: {broken or outcome.status.name}",
            where=f"kernel {model.name}",
            fix="use smaller sizes",
        )
    tiles = tuple((v.name, t) for v, t in zip(case.variables, outcome.tiles, strict=True))
    return Choice(case.key, case.implementation, tiles, outcome.blocks, outcome.cost)
