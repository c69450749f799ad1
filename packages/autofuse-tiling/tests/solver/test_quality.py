"""How good the answers are, and that they are answers: a solver that ignores the sizes must fail here."""

from collections.abc import Callable, Sequence
from random import Random

from autofuse_tiling.solver.bound_case import BoundCase, InfeasibleError
from autofuse_tiling.solver.exhaustive import cheapest
from autofuse_tiling.solver.interpret import evaluate_integer
from autofuse_tiling.solver.native import Models, NativeSolver
from autofuse_tiling.solver.problem import Group, Outcome, Problem, Status
from autofuse_tiling.solver.random_problems import plausible, wild
from autofuse_tiling.solver.twin import solve

Solve = Callable[[Sequence[Problem], Sequence[int]], Outcome]

WORST_RATIO = 1.25
"""Most that a solution may cost, relative to the best of all tiles."""


def broken_constraints(problem: Problem, symbols: Sequence[int], tiles: Sequence[int]) -> list[str]:
    """Names of what ``tiles`` break, straight from the definition."""
    values = (*symbols, *tiles)
    broken = [
        constraint.name
        for constraint in problem.constraints
        if evaluate_integer(constraint.usage, values) > evaluate_integer(constraint.limit, values)
    ]
    for variable, tile in zip(problem.variables, tiles, strict=True):
        lower = max(1, evaluate_integer(variable.lower, values))
        upper = min(2**62, evaluate_integer(variable.upper, values))
        if upper < 1:
            upper = lower
        if not lower <= tile <= upper or (tile % variable.alignment and tile != upper):
            broken.append(variable.name)
    return broken


def complaints(solver: Solve, problems: int) -> list[str]:
    """What is wrong with a solver's answers on small problems, each tried exhaustively."""
    found: list[str] = []
    optimal = total = 0
    for at in range(problems):
        cases, symbols = plausible(Random(f"quality/{at}"), 24)
        problem = cases[0]
        best = cheapest(problem, symbols)
        outcome = solver([problem], symbols)
        if (best is None) != (outcome.status is not Status.SOLVED):
            found.append(f"{at}: {outcome.status.name}, but the best of all tiles is {best}")
            continue
        if best is None:
            continue
        broken = broken_constraints(problem, symbols, outcome.tiles)
        if broken:
            found.append(f"{at}: {outcome.tiles} break {broken}")
            continue
        total += 1
        optimal += outcome.cost <= best[0]
        if outcome.cost > WORST_RATIO * best[0]:
            found.append(f"{at}: {outcome.tiles} cost {outcome.cost}, {best[1]} cost {best[0]}")
    if optimal < 0.95 * total:
        found.append(f"only {optimal} of {total} answers are the best possible")
    return found


def test_answers_are_near_the_best_of_all_tiles() -> None:
    assert complaints(solve, 500) == []


def test_the_cpp_solver_is_as_good(native: NativeSolver) -> None:
    def run(problems: Sequence[Problem], symbols: Sequence[int]) -> Outcome:
        models = Models(problems)
        assert native.prepare(models)
        return native.solve(models, symbols)

    assert complaints(run, 200) == []


def test_a_constant_in_place_of_the_solver_is_noticed() -> None:
    for constant in (1, 8, 64):

        def fixed(problems: Sequence[Problem], symbols: Sequence[int], constant: int = constant) -> Outcome:
            problem = problems[0]
            tiles = (constant,) * len(problem.variables)
            cost = BoundCase(problem, tuple(symbols)).cost(tiles)
            return Outcome(Status.SOLVED, 0, 0, tiles, cost, 1, 0)

        assert len(complaints(fixed, 60)) > 10


def test_an_answer_for_other_sizes_is_noticed() -> None:
    def stale(problems: Sequence[Problem], symbols: Sequence[int]) -> Outcome:
        return solve(problems, (17, *symbols[1:]))

    assert len(complaints(stale, 60)) > 5


def test_no_answer_breaks_a_constraint_even_where_nothing_is_monotone() -> None:
    solved = 0
    for at in range(750):
        problems, symbols = (wild if at % 3 else plausible)(Random(f"safe/{at}"))
        outcome = solve(problems, symbols)
        if outcome.status is Status.SOLVED:
            solved += 1
            assert broken_constraints(problems[outcome.model], symbols, outcome.tiles) == [], at
    assert solved > 200


def test_no_sampled_tile_of_a_large_problem_is_much_better() -> None:
    for at in range(40):
        random = Random(f"large/{at}")
        cases, symbols = plausible(random, 1 << 24)
        outcome = solve(cases[:1], symbols)
        if outcome.status is not Status.SOLVED:
            continue
        model = BoundCase(cases[0], symbols)
        grids = model.grids(Group.LOCAL, (1,) * len(cases[0].variables))
        for _ in range(60):
            tiles = [1] * len(cases[0].variables)
            for v, grid in grids.items():
                tiles[v] = grid.snap(int(float(grid.high) ** random.random()))
            sample = tuple(tiles)
            if not model.local_check(sample).holds:
                continue
            for v, grid in model.grids(Group.BLOCK, sample).items():
                blocks = evaluate_integer(cases[0].variables[v].upper, (*symbols, *sample))
                tiles[v] = grid.snap(-(-blocks // symbols[-2]))
            sample = tuple(tiles)
            if model.block_check(sample).holds:
                assert outcome.cost <= 1.1 * model.cost(sample), (at, outcome, sample)


def test_more_local_memory_never_makes_tiles_impossible_nor_a_single_tile_smaller() -> None:
    for at in range(60):
        cases, symbols = plausible(Random(f"memory/{at}"), 3000)
        problem = cases[0]
        before: int | None = None
        for scale in (1, 2, 5, 40):
            outcome = solve([problem], (*symbols[:-1], symbols[-1] * scale))
            if before is not None:
                assert outcome.status is Status.SOLVED
            if outcome.status is Status.SOLVED:
                largest = _largest_fit(problem, (*symbols[:-1], symbols[-1] * scale))
                assert before is None or largest >= before
                before = largest


def _largest_fit(problem: Problem, symbols: tuple[int, ...]) -> int:
    """The largest first tile when the others are as small as they get, by trying all."""
    model = BoundCase(problem, symbols)
    try:
        grids = model.grids(Group.LOCAL, (1,) * len(problem.variables))
    except InfeasibleError:
        return 0
    first = min(grids)
    tiles = [grids[v].low if v in grids else 1 for v in range(len(problem.variables))]
    fitting = 0
    for x in range(grids[first].low, grids[first].high + 1, max(1, grids[first].high // 50)):
        tiles[first] = grids[first].snap(x)
        if model.local_check(tuple(tiles)).holds:
            fitting = tiles[first]
    return fitting
