"""Times the C++ solver: ``python -m autofuse_tiling.solver.timing`` prints microseconds per solve."""

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter_ns

from attrs import frozen

from autofuse_tiling.solver.native import Models, NativeSolver, build
from autofuse_tiling.solver.problem import Problem
from autofuse_tiling.solver.random_problems import plausible


@frozen
class Timing:
    """Microseconds of one solve of one case, and the evaluations it took."""

    solve_us: float
    memo_us: float
    evaluations: int


def time_case(native: NativeSolver, problem: Problem, symbols: tuple[int, ...], at_least_us: float = 400.0) -> Timing:
    """Return the time of a solve and of a memo hit, the least of three repetitions of about ``at_least_us`` each."""
    models = Models([problem])
    native.prepare(models)
    outcome = native.solve(models, symbols)
    memo = native.new_memo()
    native.solve(models, symbols, memo)

    def least(memory: object) -> float:
        times = 1
        while (spent := _once(native, models, symbols, times, memory)) < at_least_us:
            times *= 4
        return min(spent, *(_once(native, models, symbols, times, memory) for _ in range(2))) / times

    return Timing(least(None), least(memo), outcome.evaluations)


def _once(native: NativeSolver, models: Models, symbols: tuple[int, ...], times: int, memo: object) -> float:
    begin = perf_counter_ns()
    native.repeat(models, symbols, times, memo)
    return (perf_counter_ns() - begin) / 1e3


def main(arguments: list[str]) -> int:
    """Print quartiles over random plausible cases, run from bytecode and from compiled expressions."""
    parser = argparse.ArgumentParser(prog="python -m autofuse_tiling.solver.timing", description=__doc__)
    parser.add_argument("--cases", type=int, default=40, help="number of random cases (default 40)")
    options = parser.parse_args(arguments)
    drawn = [plausible(Random(f"timing/{at}")) for at in range(options.cases)]
    with tempfile.TemporaryDirectory() as directory:
        for kind, compiled in (("bytecode", []), ("compiled", [problems[0] for problems, _ in drawn])):
            folder = Path(directory) / kind
            folder.mkdir()
            native = build(folder, compiled=compiled)
            timings = [time_case(native, problems[0], symbols) for problems, symbols in drawn]
            for what, figures in (
                ("solve", [timing.solve_us for timing in timings]),
                ("same sizes again", [timing.memo_us for timing in timings]),
            ):
                low, _, high = quantiles(figures, n=4)
                print(
                    f"{kind:9} {what:17} median {median(figures):7.3f} us, quartiles {low:.3f} to {high:.3f}, "
                    f"most {max(figures):.3f}"
                )
        evaluations = [timing.evaluations for timing in timings]
        print(f"evaluations       median {median(evaluations):.0f}, most {max(evaluations)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
