"""One tiling case bound to the sizes of one call: grids of the variables, and checks that count evaluations."""

from collections.abc import Callable

from attrs import define, frozen

from autofuse_tiling.solver.arithmetic import saturate
from autofuse_tiling.solver.interpret import evaluate_integer, evaluate_real
from autofuse_tiling.solver.problem import Constraint, Group, Problem, Status

HUGE = 2**62
WORST = 1.7976931348623157e308

Tiles = tuple[int, ...]


class InfeasibleError(Exception):
    """No tile sizes hold: which constraint or bound, by index."""

    def __init__(self, status: Status, where: int) -> None:
        super().__init__(status.name, where)
        self.status = status
        self.where = where


@frozen
class Grid:
    """The values a variable may take: multiples of ``step`` from ``low``, and ``high``."""

    low: int
    high: int
    step: int

    def snap(self, x: int) -> int:
        """Return the largest member that is at most ``x``, or the smallest member."""
        return self.high if x >= self.high else max(self.low, x - x % self.step)

    @property
    def first(self) -> int:
        """Index of ``low``: ``snap(step * first) == low``."""
        return self.low // self.step

    def last(self, x: int) -> int:
        """Index from which snapping reaches the member ``x``."""
        return -(-x // self.step)


@frozen
class Check:
    """Whether every constraint of a group holds, how tight it is (1.0 is the limit), and the first that does not."""

    holds: bool
    level: float
    failing: int = -1
    blocks: int = 1
    cores: int = HUGE


@define
class BoundCase:
    """Evaluates a problem at given symbols; ``evaluations`` counts requests for usages and costs."""

    problem: Problem
    symbols: Tiles
    evaluations: int = 0

    def members(self, group: Group) -> list[int]:
        """Return the variables of ``group`` in order of importance."""
        variables = self.problem.variables
        return sorted(
            (v for v, x in enumerate(variables) if x.group is group), key=lambda v: (variables[v].priority, v)
        )

    def grids(self, group: Group, tiles: Tiles) -> dict[int, Grid]:
        """Return the grids of a group's variables; block bounds depend on the local ``tiles``."""
        values = self.symbols + tiles
        found: dict[int, Grid] = {}
        for v in self.members(group):
            variable = self.problem.variables[v]
            lower = max(1, evaluate_integer(variable.lower, values))
            upper = min(HUGE, evaluate_integer(variable.upper, values))
            if upper < 1:
                upper = lower  # an empty axis
            if upper < lower:
                raise InfeasibleError(Status.BOUNDS, v)
            step = variable.alignment
            found[v] = Grid(min(upper, saturate(-(-lower // step) * step)), upper, step)
        return found

    def local_check(self, tiles: Tiles) -> Check:
        """Check the local constraints; the level rises with the tiles."""

        def level(usage: int, limit: int) -> float:
            return float(usage) / float(limit) if limit > 0 else (0.0 if usage <= limit else 2.0)

        pairs, failing = self._pairs(Group.LOCAL, tiles, HUGE)
        return Check(failing < 0, max([0.0, *(level(u, n) for u, n in pairs)]), failing)

    def block_check(self, tiles: Tiles, cap: int = HUGE) -> Check:
        """Check the block constraints with at most ``cap`` blocks; the level rises as blocks get fewer."""

        def level(usage: int, limit: int) -> float:
            return 2.0 if usage <= 0 else float(limit) / float(usage)

        pairs, failing = self._pairs(Group.BLOCK, tiles, cap)
        tightest = min([2.0, *(level(u, n) for u, n in pairs)])
        if not pairs:
            return Check(True, tightest)
        return Check(failing < 0, tightest, failing, *pairs[0])

    def cost(self, tiles: Tiles) -> float:
        """Return ``head + max(pipes)``; what is no finite number counts as the largest one."""
        self.evaluations += 1
        values = self.symbols + tiles
        head = evaluate_real(self.problem.head, values)
        pipes = [evaluate_real(pipe.cost, values) for pipe in self.problem.pipes] or [0.0]
        slowest = pipes[0]
        for pipe in pipes[1:]:
            slowest = pipe if slowest < pipe else slowest
        total = head + slowest
        return total if total <= WORST else WORST

    def _pairs(self, group: Group, tiles: Tiles, cap: int) -> tuple[list[tuple[int, int]], int]:
        """Usage and limit of each constraint of a group, and the index of the first that fails (-1: none)."""
        self.evaluations += 1
        values = self.symbols + tiles
        pairs: list[tuple[int, int]] = []
        failing = -1
        for c, constraint in enumerate(self.problem.constraints):
            if constraint.group is not group:
                continue
            usage, limit = _usage(constraint, values)
            if group is Group.BLOCK and not pairs:
                limit = min(limit, cap)
            pairs.append((usage, limit))
            if usage > limit and failing < 0:
                failing = c
        return pairs, failing


def _usage(constraint: Constraint, values: Tiles) -> tuple[int, int]:
    return evaluate_integer(constraint.usage, values), evaluate_integer(constraint.limit, values)


def boundary(
    lo: tuple[int, float], hi: tuple[int, float], probe: Callable[[int], tuple[bool, float]], guesses: int = 4
) -> int:
    """Return the last index that is below, between ``lo`` (below) and ``hi`` (not below), both with their levels."""
    while hi[0] - lo[0] > 1:
        width = hi[0] - lo[0]
        if guesses > 0 and hi[1] > lo[1]:
            part = (1.0 - lo[1]) / (hi[1] - lo[1])
            index = min(max(lo[0] + int(part * float(width)), lo[0] + 1), hi[0] - 1)
        else:
            index = lo[0] + width // 2
        guesses -= 1
        below, level = probe(index)
        if below:
            lo = (index, level)
        else:
            hi = (index, level)
    return lo[0]
