"""The solver in Python, written from ALGORITHM.md: the oracle for the C++ header, and what needs no compiler.

Its answers equal those of ``af_tiling_solver.h`` exactly: tiles, cost to the last bit, status, count of evaluations.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from autofuse_tiling.solver.arithmetic import ceildiv, saturate
from autofuse_tiling.solver.bound_case import HUGE, WORST, BoundCase, Check, Grid, InfeasibleError, Tiles, boundary
from autofuse_tiling.solver.problem import Group, Outcome, Problem, Ranked, Status

BUDGET = 600
ROUNDS = 4


def solve(problems: Sequence[Problem], symbols: Sequence[int]) -> Outcome:
    """Return the tiles of the case with the least predicted cost (the first of equals) for these symbols (int64).

    Where no case can be tiled, the outcome carries the status of the first one.
    """
    outcomes = [_solve_case(at, problem, tuple(symbols)) for at, problem in enumerate(problems)]
    total = sum(outcome.evaluations for outcome in outcomes)
    solved = [outcome for outcome in outcomes if outcome.status is Status.SOLVED]
    if not outcomes:
        return Outcome(Status.BAD_MODEL, 0, 0, (), WORST, 0, 0)
    chosen = min(solved, key=lambda outcome: outcome.cost) if solved else outcomes[0]
    return Outcome(chosen.status, chosen.where, chosen.model, chosen.tiles, chosen.cost, chosen.blocks, total)


def rank(problems: Sequence[Problem], symbols: Sequence[int], most: int) -> tuple[Ranked, ...]:
    """Return the ``most`` tilings of least cost that :func:`solve` compares, each once; the first is its choice.

    Of equal costs the one that is met first comes first. There are none where no case can be tiled.
    """
    found: dict[tuple[int, Tiles], Ranked] = {}
    for at, problem in enumerate(problems):
        model = BoundCase(problem, tuple(symbols))
        try:
            search = _Search(model)
            search.run()
        except InfeasibleError:
            continue
        for tiles, cost in search.settled.items():
            found[at, tiles] = Ranked(at, tiles, cost, model.block_check(tiles).blocks)
    return tuple(sorted(found.values(), key=lambda each: each.cost)[:most])


def _solve_case(at: int, problem: Problem, symbols: Tiles) -> Outcome:
    model = BoundCase(problem, symbols)
    try:
        tiles, best = _Search(model).run()
    except InfeasibleError as reason:
        return Outcome(reason.status, reason.where, at, (), WORST, 0, model.evaluations)
    return Outcome(Status.SOLVED, 0, at, tiles, best[0], best[1], model.evaluations)


def _with(tiles: Tiles, changes: dict[int, int]) -> Tiles:
    return tuple(changes.get(v, x) for v, x in enumerate(tiles))


class _Search:
    """Phases A and B, and the candidates around their answer."""

    def __init__(self, model: BoundCase) -> None:
        self.model = model
        self.local = model.members(Group.LOCAL)
        self.block = model.members(Group.BLOCK)
        self.start: Tiles = (1,) * len(model.problem.variables)
        self.grid = model.grids(Group.LOCAL, self.start)
        self.counts_blocks = any(c.group is Group.BLOCK for c in model.problem.constraints)
        self.best: Tiles = self.start
        self.best_cost = WORST
        self.cap = HUGE
        self.blocks = 1
        self.settled: dict[Tiles, float] = {}

    def run(self) -> tuple[Tiles, tuple[float, int]]:
        """Return the best tiles with their cost and number of blocks; raise InfeasibleError where none hold."""
        base, reason = self.fit({})
        if base is None:
            raise InfeasibleError(Status.LOCAL_MEMORY, reason.failing)
        settled = self.settle(base, HUGE)
        self.best, self.best_cost = settled, self._cost(settled)
        cores = self._measure(HUGE).cores
        self.cap = cores
        for number in range(ROUNDS):
            before = self.best_cost, self.best, self.cap
            for tiles, cap in self._round(base if number == 0 else None, cores):
                self._consider(tiles, cap)
            if before == (self.best_cost, self.best, self.cap):
                break
        return self.best, (self.best_cost, self.blocks)

    def _round(self, base: Tiles | None, cores: int) -> Iterator[tuple[Tiles, int]]:
        """Yield candidates, local tiles and a cap, each from the best state of its moment, while the budget lasts."""
        for v in reversed(self.local):
            yield from self._resized(v)
            if self.counts_blocks and self.cap >= 1 and not self.spent():
                yield from self._spread(v)
        if self.counts_blocks:
            used = self.blocks
            caps = (used // 2, used - used // 4, saturate(used - 1), min(saturate(used * 2), cores), 1, cores)
            for cap in caps:
                for from_base in (False, True) if base is not None else (False,):
                    if cap >= 1 and cap != self.cap and not self.spent():
                        yield base if base is not None and from_base else self.best, cap
        for v in reversed(self.local):
            grid = self.grid[v]
            for offset in (-1, grid.step):
                x = grid.snap(saturate(self.best[v] + offset))
                if x != self.best[v] and not self.spent():
                    tiles = _with(self.best, {v: x})
                    if self.model.local_check(tiles).holds:
                        yield tiles, self.cap

    def spent(self) -> bool:
        """Whether no further candidate may start."""
        return self.model.evaluations >= BUDGET

    # Phase A

    def fit(self, pinned: dict[int, int]) -> tuple[Tiles | None, Check]:
        """Return the tiles that local memory allows, with ``pinned`` variables fixed, or None and the last check."""
        free = [v for v in self.local if v not in pinned]
        tiles = _with(self.start, {v: self.grid[v].high for v in free} | pinned)
        check = self.model.local_check(tiles)
        if check.holds:
            return tiles, check
        shrunk: list[int] = []
        for _, group in groupby(reversed(free), key=lambda v: self.model.problem.variables[v].priority):
            members = list(group)
            lowest = _with(tiles, {v: self.grid[v].low for v in members})
            bottom = self.model.local_check(lowest)
            if bottom.holds:
                tiles = self._lockstep(members, lowest, bottom, check)
                for v in sorted(shrunk if len(members) == 1 else shrunk + members, key=self.local.index):
                    tiles = self.grow(v, tiles)
                return tiles, bottom
            shrunk += members
            tiles, check = lowest, bottom
        return None, check

    def _lockstep(self, members: list[int], tiles: Tiles, bottom: Check, top: Check) -> Tiles:
        """Return the tiles with the largest common cap on ``members`` for which local memory holds."""
        unit = min(self.grid[v].step for v in members)

        def capped(j: int) -> Tiles:
            return _with(tiles, {v: self.grid[v].snap(saturate(unit * j)) for v in members})

        def probe(j: int) -> tuple[bool, float]:
            check = self.model.local_check(capped(j))
            return check.holds, check.level

        reach = ceildiv(max(self.grid[v].high for v in members), unit)
        return capped(boundary((0, bottom.level), (reach, top.level), probe))

    def grow(self, v: int, tiles: Tiles) -> Tiles:
        """Return ``tiles`` with ``v`` as large as local memory allows."""
        grid = self.grid[v]
        if tiles[v] == grid.high:
            return tiles
        largest = _with(tiles, {v: grid.high})
        top = self.model.local_check(largest)
        if top.holds:
            return largest
        here = self.model.local_check(tiles)

        def probe(j: int) -> tuple[bool, float]:
            check = self.model.local_check(_with(tiles, {v: grid.snap(saturate(grid.step * j))}))
            return check.holds, check.level

        index = boundary((tiles[v] // grid.step, here.level), (grid.last(grid.high), top.level), probe)
        return _with(tiles, {v: grid.snap(saturate(grid.step * index))})

    # Phase B

    def _fewest_iterations(self, tiles: Tiles) -> tuple[Tiles, dict[int, Grid]]:
        grids = self.model.grids(Group.BLOCK, tiles)
        return _with(tiles, {v: grid.low for v, grid in grids.items()}), grids

    def settle(self, tiles: Tiles, cap: int) -> Tiles:
        """Return ``tiles`` with the smallest block variables that keep to ``cap`` blocks; raise InfeasibleError."""
        tiles, grids = self._fewest_iterations(tiles)
        bottom = self.model.block_check(tiles, cap)
        if bottom.holds:
            return tiles
        for v in self.block:
            grid = grids[v]
            tiles = _with(tiles, {v: grid.high})
            top = self.model.block_check(tiles, cap)
            if not top.holds:
                bottom = top
                continue

            def at(j: int, tiles: Tiles = tiles, v: int = v, grid: Grid = grid) -> Tiles:
                return _with(tiles, {v: grid.snap(saturate(grid.step * j))})

            def probe(j: int, at: Callable[[int], Tiles] = at) -> tuple[bool, float]:
                check = self.model.block_check(at(j), cap)
                return not check.holds, check.level

            return at(1 + boundary((grid.first, bottom.level), (grid.last(grid.high), top.level), probe))
        raise InfeasibleError(Status.BLOCKS, bottom.failing)

    def most_blocks(self, tiles: Tiles) -> int:
        """Return the number of blocks with one piece of work each; -1 where a bound is impossible."""
        try:
            lowest, _ = self._fewest_iterations(tiles)
        except InfeasibleError:
            return -1
        return self.model.block_check(lowest).blocks

    # Trade-off

    def _measure(self, cap: int) -> Check:
        """Count the blocks of the best state (one evaluation where there is a block constraint)."""
        if not self.counts_blocks:
            return Check(True, 2.0)
        check = self.model.block_check(self.best, cap)
        self.blocks = check.blocks
        return check

    def _consider(self, tiles: Tiles, cap: int) -> None:
        try:
            settled = self.settle(tiles, cap)
        except InfeasibleError:
            return
        cost = self._cost(settled)
        if cost < self.best_cost:
            self.best, self.best_cost, self.cap = settled, cost, cap
            self._measure(cap)

    def _cost(self, settled: Tiles) -> float:
        return self.settled.setdefault(settled, self.model.cost(settled))

    def _resized(self, v: int) -> Iterator[tuple[Tiles, int]]:
        grid = self.grid[v]
        for numerator, denominator in ((1, 2), (1, 4), (2, 1), (grid.high, 1)):
            x = grid.snap(saturate(self.best[v] * numerator // denominator))
            if x != self.best[v] and not self.spent():
                tiles, _ = self.fit({v: x})
                if tiles is not None:
                    yield tiles, self.cap

    def _spread(self, v: int) -> Iterator[tuple[Tiles, int]]:
        grown = self.grow(v, self.best)
        cap, top = self.cap, grown[v]
        fewest = self.most_blocks(grown)
        rounds = max(1, ceildiv(fewest, cap))
        targets = [fewest] + [saturate(saturate(rounds + extra) * cap) for extra in range(4)]
        for target, _ in groupby(targets):
            if self.spent():
                return
            x = self._smallest(v, target, fewest, top)
            tiles = _with(self.best, {v: x})
            if self.model.local_check(tiles).holds:
                yield tiles, self.cap

    def _smallest(self, v: int, target: int, fewest: int, top: int) -> int:
        """Return the smallest value of ``v`` with which the work splits into at most ``target`` pieces."""
        grid, others = self.grid[v], self.best

        def level(count: int) -> float:
            return 2.0 if count <= 0 else float(target) / float(count)

        def probe(j: int) -> tuple[bool, float]:
            count = self.most_blocks(_with(others, {v: grid.snap(saturate(grid.step * j))}))
            return count > target, level(count)

        many, lowest = probe(grid.first)
        if not many:
            return grid.low
        index = boundary((grid.first, lowest), (grid.last(top), level(fewest)), probe)
        return min(top, grid.snap(saturate(grid.step * (index + 1))))
