"""Solve a TilingModel in Python: which case and which tile sizes a call with given sizes gets."""

from collections.abc import Mapping

from attrs import frozen
from autofuse_ir.tiling import TilingModel

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
    """Return what the generated tiling function decides for ``sizes`` on ``cores`` cores.

    Raises ``TilingError`` when no case fits, naming the constraint.
    """
    problems = [problem_of(case, model.symbols) for case in model.cases]
    outcome = solve(problems, [*(sizes[s] for s in model.symbols), cores])
    if outcome.status is not Status.SOLVED:
        case = model.cases[outcome.model]
        broken = case.constraints[outcome.where].message if outcome.where < len(case.constraints) else ""
        raise TilingError(
            f"no tile sizes fit the sizes {dict(sizes)}: {broken or outcome.status.name}",
            where=f"kernel {model.name}",
            fix="use smaller sizes",
        )
    case = model.cases[outcome.model]
    tiles = tuple((v.name, t) for v, t in zip(case.variables, outcome.tiles, strict=True))
    return Choice(case.key, case.implementation, tiles, outcome.blocks, outcome.cost)
