"""Compares the C++ solver with its Python twin on random problems: ``python -m autofuse_tiling.solver.compare``."""

import argparse
import sys
import tempfile
from pathlib import Path

from attrs import frozen

from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.solver.native import Models, NativeSolver, build
from autofuse_tiling.solver.problem import Outcome, Status
from autofuse_tiling.solver.random_problems import draw
from autofuse_tiling.solver.twin import solve


@frozen
class Difference:
    """Problem ``index`` of run ``seed``, on which the two solvers disagree."""

    seed: int
    index: int
    native: Outcome
    twin: Outcome


@frozen
class Comparison:
    """What a run saw: how many problems, how many of them solved, the most evaluations, and the differences."""

    models: int
    solved: int
    most_evaluations: int
    differences: tuple[Difference, ...]


def compare(native: NativeSolver, models: int, seed: int = 0, start: int = 0, progress: int = 0) -> Comparison:
    """Solve ``models`` problems of run ``seed`` from ``start`` on twice; outcomes must be equal in every field."""
    solved = most = 0
    differences: list[Difference] = []
    for index in range(start, start + models):
        problems, symbols = draw(seed, index)
        laid_out = Models(problems)
        if not native.prepare(laid_out):
            raise TilingError(
                f"the C++ check refuses problem {index} of run {seed}", fix="report it: a bug of the solver"
            )
        found, expected = native.solve(laid_out, symbols), solve(problems, symbols)
        solved += expected.status is Status.SOLVED
        most = max(most, expected.evaluations)
        if found != expected:
            differences.append(Difference(seed, index, found, expected))
        if progress and (index + 1 - start) % progress == 0:
            print(f"{index + 1 - start} of {models} problems, {len(differences)} differences", flush=True)
    return Comparison(models, solved, most, tuple(differences))


def main(arguments: list[str]) -> int:
    """Run the comparison; 0 where both solvers agree on everything, else 1."""
    parser = argparse.ArgumentParser(prog="python -m autofuse_tiling.solver.compare", description=__doc__)
    parser.add_argument("--models", type=int, default=2000, help="number of random problems (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="run to draw them from (default 0)")
    parser.add_argument("--start", type=int, default=0, help="first problem of the run (default 0)")
    parser.add_argument("--compiler", help="C++ compiler (default g++, else clang++)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        native = build(Path(directory), options.compiler)
        result = compare(native, options.models, options.seed, options.start, progress=5000)
    for difference in result.differences[:10]:
        print(
            f"problem {difference.index} of run {difference.seed}:\n"
            f"  C++  {difference.native}\n  twin {difference.twin}"
        )
    print(
        f"{result.models} problems, {result.solved} solved, at most {result.most_evaluations} evaluations, "
        f"{len(result.differences)} differences"
    )
    return 1 if result.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
