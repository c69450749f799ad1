"""Solve a TilingModel in Python: which alternative, cases and tile sizes a call with given sizes gets."""

from collections.abc import Mapping, Sequence

from attrs import frozen
from autofuse_ir.dims_eval import holds
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


@frozen
class Decision:
    """The chosen alternative, by name, and what is chosen for each of its groups, by group name in case order."""

    alternative: str
    groups: Mapping[str, Choice]

    @property
    def cycles(self) -> float:
        """Predicted cycles of the groups one after the other, added up as generated code does."""
        cycles = 0.0
        for choice in self.groups.values():
            cycles += choice.cycles
        return cycles


def choose(model: TilingModel, sizes: Mapping[str, int], cores: int) -> Choice:
    """Return what the generated tiling function decides for ``sizes`` on ``cores`` cores, where one group runs.

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
    """Return what the generated tiling function decides for each group of the chosen alternative, by name.

    Raises ``TilingError`` when no case of a group fits, naming the constraint.
    """
    return dict(decide(model, sizes, cores).groups)


def decide(model: TilingModel, sizes: Mapping[str, int], cores: int) -> Decision:
    """Return what the generated tiling function decides: each group is solved as if it were alone.

    Of alternatives that apply and fit, the one with the least predicted time is taken, the first of equals. Raises
    ``TilingError`` where none is left, naming the constraint that the last one breaks.
    """
    best: Decision | None = None
    failed: TilingError | None = None
    for name, groups in alternatives_for(model, sizes).items():
        try:
            found = Decision(name, {group: _solved(model, cases, sizes, cores) for group, cases in groups.items()})
        except TilingError as error:
            failed = error
        else:
            best = found if best is None or found.cycles < best.cycles else best
    if best is not None:
        return best
    raise failed or TilingError(
        f"no alternative applies to the sizes {dict(sizes)}", where=f"kernel {model.name}", fix="use other sizes"
    )


def alternatives_for(model: TilingModel, sizes: Mapping[str, int]) -> dict[str, dict[str, list[CaseModel]]]:
    """Return the alternatives that apply to ``sizes`` by name: the cases of each group by its name, in case order."""
    known = {symbol: sizes[symbol] for symbol in model.symbols}
    barred = {each.alternative for each in model.conditions if not holds(each.applies, known)}
    found: dict[str, dict[str, list[CaseModel]]] = {}
    for case in model.cases:
        if case.alternative not in barred:
            found.setdefault(case.alternative, {}).setdefault(case.group, []).append(case)
    return found


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
