"""Tries every tile of a small problem: what the solver's answers are measured against."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from autofuse_tiling.solver.bound_case import BoundCase, Grid, InfeasibleError, Tiles
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.solver.problem import Group, Problem


def cheapest(problem: Problem, symbols: Sequence[int], most: int = 1_000_000) -> tuple[float, Tiles] | None:
    """Return the least cost over all tiles that hold, with the first such tiles, or None where none hold.

    Raises TilingError where more than ``most`` combinations would have to be tried for one group of variables.
    """
    model = BoundCase(problem, tuple(symbols))
    best: tuple[float, Tiles] | None = None
    for tiles in _states(model, Group.LOCAL, (1,) * len(problem.variables), most):
        if not model.local_check(tiles).holds:
            continue
        for settled in _states(model, Group.BLOCK, tiles, most):
            if model.block_check(settled).holds:
                cost = model.cost(settled)
                if best is None or cost < best[0]:
                    best = cost, settled
    return best


def _states(model: BoundCase, group: Group, tiles: Tiles, most: int) -> Iterator[Tiles]:
    """Yield ``tiles`` with every combination of the group's variables; nothing where a bound is impossible."""
    try:
        grids = model.grids(group, tiles)
    except InfeasibleError:
        return
    count = prod((grid.high - grid.low) // grid.step + 2 for grid in grids.values())
    if count > most:
        raise TilingError(f"{count} combinations are too many to try", fix="use smaller sizes")
    for choice in product(*[_members(grid) for grid in grids.values()]):
        chosen = dict(zip(grids, choice, strict=True))
        yield tuple(chosen.get(v, x) for v, x in enumerate(tiles))


def _members(grid: Grid) -> list[int]:
    return sorted({*range(grid.low, grid.high + 1, grid.step), grid.high})
