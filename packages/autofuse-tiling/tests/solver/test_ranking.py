"""The best tilings of all that a solve compares: for tuning by measurement."""

from random import Random

import pytest
from autofuse_tiling.solver.bound_case import BoundCase
from autofuse_tiling.solver.native import Models, NativeSolver
from autofuse_tiling.solver.problem import Group, Problem, Status
from autofuse_tiling.solver.random_problems import plausible, wild
from autofuse_tiling.solver.twin import rank, solve

EVERYTHING = 10_000


def drawn(count: int) -> list[tuple[tuple[Problem, ...], tuple[int, ...]]]:
    return [(wild if at % 4 == 0 else plausible)(Random(f"rank/{at}")) for at in range(count)]


def test_cpp_and_twin_rank_alike(native: NativeSolver) -> None:
    """Cases, tiles, cost to the last bit, blocks; for a few places, more than there are, and one."""
    for at, (problems, symbols) in enumerate(drawn(120)):
        models = Models(problems)
        assert native.prepare(models)
        for most in (1, 7, EVERYTHING):
            assert native.rank(models, symbols, most) == rank(problems, symbols, most), at


def test_the_first_is_what_a_solve_chooses() -> None:
    for problems, symbols in drawn(120):
        outcome, ranked = solve(problems, symbols), rank(problems, symbols, 3)
        if outcome.status is not Status.SOLVED:
            assert ranked == ()
            continue
        best = ranked[0]
        assert (best.model, best.tiles, best.cost, best.blocks) == (
            outcome.model,
            outcome.tiles,
            outcome.cost,
            outcome.blocks,
        )


def test_ranked_tilings_hold_differ_and_rise() -> None:
    several = 0
    for problems, symbols in drawn(120):
        ranked = rank(problems, symbols, EVERYTHING)
        several += len(ranked) >= 5
        assert len({(each.model, each.tiles) for each in ranked}) == len(ranked)
        assert [each.cost for each in ranked] == sorted(each.cost for each in ranked)
        for each in ranked:
            case = BoundCase(problems[each.model], symbols)
            assert case.local_check(each.tiles).holds
            found = case.block_check(each.tiles)
            assert found.holds
            if any(c.group is Group.BLOCK for c in problems[each.model].constraints):
                assert found.blocks == each.blocks
            assert case.cost(each.tiles) == each.cost
        assert rank(problems, symbols, 4) == ranked[:4]
    assert several > 50


def test_a_ranked_solve_takes_the_steps_of_any_other(native: NativeSolver) -> None:
    """Counting the blocks of each tiling costs the search nothing of its budget."""
    problems, symbols = next(each for each in drawn(20) if len(rank(*each, EVERYTHING)) > 20)
    models = Models(problems)
    assert native.prepare(models)
    before = native.solve(models, symbols)
    ranked = native.rank(models, symbols, EVERYTHING)
    assert native.solve(models, symbols) == before
    assert before.tiles == ranked[0].tiles


def test_the_cost_of_a_tiling_is_that_of_its_model(native: NativeSolver) -> None:
    seen = 0
    for problems, symbols in drawn(60):
        models = Models(problems)
        assert native.prepare(models)
        for each in rank(problems, symbols, 3):
            assert native.cost(models, (*symbols, *each.tiles), each.model) == each.cost
            seen += 1
    assert seen > 60


@pytest.mark.parametrize("most", [0, 1])
def test_few_places_are_kept_to(native: NativeSolver, most: int) -> None:
    problems, symbols = plausible(Random("few"))
    models = Models(problems)
    assert native.prepare(models)
    assert len(native.rank(models, symbols, most)) == most
