import shutil
from pathlib import Path
from random import Random

import pytest
from autofuse_tiling.solver.compare import compare, main
from autofuse_tiling.solver.native import Models, build
from autofuse_tiling.solver.problem import Status
from autofuse_tiling.solver.random_problems import plausible, wild
from autofuse_tiling.solver.twin import BUDGET, solve

COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_twin_and_cpp_agree_on_2000_random_problems(compiler: str, tmp_path: Path) -> None:
    """Status, tiles, cost to the last bit, blocks, evaluations: 1000 for each of two compilers, 2000 for one.

    More: ``python -m autofuse_tiling.solver.compare --models 100000``.
    """
    share = 2000 // len(COMPILERS)
    native = build(tmp_path, compiler)
    result = compare(native, models=share, seed=0, start=share * COMPILERS.index(compiler))
    assert result.differences == ()
    assert result.solved > 0.6 * share


def test_the_comparison_script_reports_its_figures() -> None:
    assert main(["--models", "20", "--seed", "5"]) == 0


def test_compiled_expressions_and_bytecode_give_the_same_bits(tmp_path: Path) -> None:
    drawn = [wild(Random(f"compiled/{at}")) if at % 2 else plausible(Random(f"compiled/{at}")) for at in range(14)]
    native = build(tmp_path, compiled=[problem for problems, _ in drawn for problem in problems])
    for problems, symbols in drawn:
        models = Models(problems)
        assert native.prepare(models)
        assert native.solve(models, symbols) == solve(problems, symbols)


def test_no_solve_takes_more_evaluations_than_stated() -> None:
    for at in range(300):
        draw = wild if at % 2 else plausible
        problems, symbols = draw(Random(f"bound/{at}"))
        for problem in problems:
            local = sum(variable.group == 0 for variable in problem.variables)
            one_candidate = 66 * (2 * local + len(problem.variables) - local) + 16
            assert solve([problem], symbols).evaluations <= BUDGET + one_candidate


def test_wild_problems_include_solved_and_refused_ones() -> None:
    seen = {solve(problems, symbols).status for problems, symbols in (wild(Random(f"kinds/{at}")) for at in range(200))}
    assert seen == {Status.SOLVED, Status.BOUNDS, Status.LOCAL_MEMORY, Status.BLOCKS}
