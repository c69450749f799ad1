"""Builds the C++ header into a small library and calls it, to compare it with the twin and to time it."""

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autofuse_tiling.solver.c_functions import c_model
from autofuse_tiling.solver.encode import HEADER, encode, header_text
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.solver.problem import (
    MOST_CONSTRAINTS,
    MOST_PIPES,
    MOST_VARIABLES,
    Outcome,
    Problem,
    Ranked,
    Status,
)

FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Werror")

_LOCAL_USAGE, _BLOCK_USAGE, _COST = 2, 3, 4  # AfTilingAsk

# Functions cannot be taken from Python data: `prepare` puts compiled function number `choice[m]` into model m, or the
# bytecode interpreter for -1.
_ENTRY_POINTS = """
extern "C" af_i32 prepare(AfModel* models, const af_i32* choice, af_i32 count) {
  for (af_i32 m = 0; m < count; ++m) {
    models[m].evaluate = choice[m] < 0 ? af_evaluate_bytecode : compiled[choice[m]];
    if (!af_check_model(models + m)) return 0;
  }
  return 1;
}
extern "C" af_i32 solve(const AfModel* models, af_i32 count, af_i64* values, AfTilingMemo* memo, AfOutcome* outcome) {
  if (memo) return af_solve_memo(models, count, values, memo, outcome);
  return af_solve(models, count, values, outcome);
}
extern "C" af_i32 rank(const AfModel* models, af_i32 count, af_i64* values, AfRanked* ranked, af_i32 most) {
  return af_rank(models, count, values, ranked, most);
}
extern "C" double cost(const AfModel* model, const af_i64* values) { return af_tiling_cost(model, values); }
extern "C" void repeat(const AfModel* models, af_i32 count, af_i64* values, AfTilingMemo* memo, af_i64 times) {
  AfOutcome outcome;
  for (af_i64 n = 0; n < times; ++n) solve(models, count, values, memo, &outcome);
}
extern "C" void evaluate(const AfModel* model, af_i32 ask, const af_i64* values, af_i64* integers, double* reals) {
  model->evaluate(model, ask, values, integers, reals);
}
extern "C" af_i32 memo_bytes() { return static_cast<af_i32>(sizeof(AfTilingMemo)); }
"""


class _Variable(ctypes.Structure):
    _fields_ = (("group", ctypes.c_int32), ("priority", ctypes.c_int32), ("alignment", ctypes.c_int64))


class _Bytecode(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.POINTER(ctypes.c_int32)),
        ("integers", ctypes.POINTER(ctypes.c_int64)),
        ("reals", ctypes.POINTER(ctypes.c_double)),
        ("starts", ctypes.POINTER(ctypes.c_int32)),
        ("code_count", ctypes.c_int32),
        ("integer_count", ctypes.c_int32),
        ("real_count", ctypes.c_int32),
    )


class _Model(ctypes.Structure):
    _fields_ = (
        ("variables", ctypes.POINTER(_Variable)),
        ("constraint_groups", ctypes.POINTER(ctypes.c_int32)),
        ("evaluate", ctypes.c_void_p),
        ("bytecode", ctypes.POINTER(_Bytecode)),
        ("symbol_count", ctypes.c_int32),
        ("variable_count", ctypes.c_int32),
        ("constraint_count", ctypes.c_int32),
        ("pipe_count", ctypes.c_int32),
    )


class _Outcome(ctypes.Structure):
    _fields_ = (
        ("cost", ctypes.c_double),
        ("blocks", ctypes.c_int64),
        ("status", ctypes.c_int32),
        ("where", ctypes.c_int32),
        ("model", ctypes.c_int32),
        ("evaluations", ctypes.c_int32),
    )


class _Ranked(ctypes.Structure):
    _fields_ = (
        ("cost", ctypes.c_double),
        ("blocks", ctypes.c_int64),
        ("tiles", ctypes.c_int64 * MOST_VARIABLES),
        ("model", ctypes.c_int32),
    )


class Models:
    """Problems of one kernel in the memory layout of the header; keeps their tables alive."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Lay out ``problems``, which share their symbols."""
        self.problems = tuple(problems)
        self._alive: list[Any] = []
        self.array = (_Model * len(problems))(*[self._model(problem) for problem in problems])

    def _table(self, element: Any, values: Sequence[Any]) -> Any:
        table = (element * max(1, len(values)))(*values)
        self._alive.append(table)
        return table

    def _model(self, problem: Problem) -> _Model:
        tables = encode(problem)
        bytecode = _Bytecode(
            self._table(ctypes.c_int32, tables.code),
            self._table(ctypes.c_int64, tables.integers),
            self._table(ctypes.c_double, tables.reals),
            self._table(ctypes.c_int32, tables.starts),
            len(tables.code),
            len(tables.integers),
            len(tables.reals),
        )
        self._alive.append(bytecode)
        variables = [_Variable(v.group, v.priority, v.alignment) for v in problem.variables]
        return _Model(
            self._table(_Variable, variables),
            self._table(ctypes.c_int32, [c.group.value for c in problem.constraints]),
            None,
            ctypes.pointer(bytecode),
            len(problem.symbols),
            len(problem.variables),
            len(problem.constraints),
            len(problem.pipes),
        )


class NativeSolver:
    """The compiled header."""

    def __init__(self, library: Path, compiled: Sequence[Problem] = ()) -> None:
        """Load a library made by :func:`build` with these ``compiled`` problems."""
        self._library = ctypes.CDLL(str(library))
        self._library.cost.restype = ctypes.c_double
        self._compiled = tuple(compiled)

    def new_memo(self) -> Any:
        """Return an empty memo for :meth:`solve`, owned by the caller."""
        return ctypes.create_string_buffer(self._library.memo_bytes())

    def prepare(self, models: Models) -> bool:
        """Bind the models to their compiled expressions or to bytecode and check them; False where one is malformed."""
        numbers = [self._compiled.index(p) if p in self._compiled else -1 for p in models.problems]
        choice = (ctypes.c_int32 * max(1, len(numbers)))(*numbers)
        return bool(self._library.prepare(models.array, choice, len(models.problems)))

    def solve(self, models: Models, symbols: Sequence[int], memo: Any = None) -> Outcome:
        """Return the outcome for prepared ``models``; ``memo`` answers the same symbols without solving."""
        values = self._values(models, symbols)
        outcome = _Outcome()
        count = len(models.problems)
        self._library.solve(models.array, count, values, memo, ctypes.byref(outcome))
        status = Status(outcome.status)
        tiles: tuple[int, ...] = ()
        if status is Status.SOLVED:
            tiles = tuple(values[len(symbols) : len(symbols) + len(models.problems[outcome.model].variables)])
        return Outcome(status, outcome.where, outcome.model, tiles, outcome.cost, outcome.blocks, outcome.evaluations)

    def rank(self, models: Models, symbols: Sequence[int], most: int) -> tuple[Ranked, ...]:
        """Return the best ``most`` tilings that a solve of prepared ``models`` compares."""
        ranked = (_Ranked * max(1, most))()
        values = self._values(models, symbols)
        count = self._library.rank(models.array, len(models.problems), values, ranked, most)
        return tuple(
            Ranked(r.model, tuple(r.tiles[: len(models.problems[r.model].variables)]), r.cost, r.blocks)
            for r in ranked[:count]
        )

    def cost(self, models: Models, values: Sequence[int], model: int = 0) -> float:
        """Return the predicted time of one prepared model at ``values`` (symbols, then tiles)."""
        array = (ctypes.c_int64 * max(1, len(values)))(*values)
        return float(self._library.cost(ctypes.byref(models.array[model]), array))

    def usages(self, models: Models, values: Sequence[int], model: int = 0) -> tuple[tuple[int, int], ...]:
        """Return usage and limit of every constraint of one prepared model at ``values`` (symbols, then tiles)."""
        count = len(models.problems[model].constraints)
        pairs = (ctypes.c_int64 * (2 * MOST_CONSTRAINTS))()
        for ask in (_LOCAL_USAGE, _BLOCK_USAGE):
            self._evaluate(models.array[model], ask, values, integers=pairs)
        return tuple((pairs[2 * at], pairs[2 * at + 1]) for at in range(count))

    def costs(self, models: Models, values: Sequence[int], model: int = 0) -> tuple[float, ...]:
        """Return the head and the cost of every pipe of one prepared model at ``values`` (symbols, then tiles)."""
        reals = (ctypes.c_double * (1 + MOST_PIPES))()
        self._evaluate(models.array[model], _COST, values, reals=reals)
        return tuple(reals[: 1 + len(models.problems[model].pipes)])

    def _evaluate(
        self, model: _Model, ask: int, values: Sequence[int], *, integers: Any = None, reals: Any = None
    ) -> None:
        array = (ctypes.c_int64 * max(1, len(values)))(*values)
        self._library.evaluate(ctypes.byref(model), ask, array, integers, reals)

    def repeat(self, models: Models, symbols: Sequence[int], times: int, memo: Any = None) -> None:
        """Solve the same symbols ``times`` times, for timing."""
        values = self._values(models, symbols)
        count = len(models.problems)
        self._library.repeat(models.array, count, values, memo, ctypes.c_int64(times))

    def _values(self, models: Models, symbols: Sequence[int]) -> Any:
        room = max((len(problem.variables) for problem in models.problems), default=0)
        return (ctypes.c_int64 * (len(symbols) + room))(*symbols)


def build(directory: Path, compiler: str | None = None, compiled: Sequence[Problem] = ()) -> NativeSolver:
    """Compile the header in ``directory`` (which must exist) with g++, or else clang++, and load it.

    Problems listed in ``compiled`` run as compiled expressions instead of bytecode.
    """
    found = compiler or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        raise TilingError("no C++ compiler was found", fix="install g++ or clang++, or use the Python twin")
    (directory / HEADER).write_text(header_text(), encoding="utf-8")
    source, library = directory / "solver.cpp", directory / "solver.so"
    source.write_text(_source(compiled), encoding="utf-8")
    command = [found, *FLAGS, "-fPIC", "-shared", "-nostdlib", "-o", str(library), str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise TilingError(f"{found} cannot build the solver: {result.stderr.strip()[:2000]}")
    return NativeSolver(library, compiled)


def _source(compiled: Sequence[Problem]) -> str:
    models = [c_model(problem, f"af_model_{at}") for at, problem in enumerate(compiled)]
    functions = ", ".join([f"af_model_{at}.evaluate" for at in range(len(compiled))] or ["nullptr"])
    table = f"static const AfEvaluate compiled[] = {{{functions}}};\n"
    return "".join(['#include "af_tiling_solver.h"\n', *models, table, _ENTRY_POINTS])
