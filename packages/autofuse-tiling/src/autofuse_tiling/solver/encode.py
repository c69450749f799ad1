"""Writes a problem's expressions as the tables of ``AfBytecode``, and finds the header."""

from importlib.resources import files
from struct import pack

from attrs import frozen

from autofuse_tiling.solver.bytecode import Op
from autofuse_tiling.solver.problem import Problem

HEADER = "af_tiling_solver.h"


def header_text() -> str:
    """Return the C++ solver: one freestanding header."""
    return files("autofuse_tiling.solver").joinpath(HEADER).read_text(encoding="utf-8")


@frozen
class Bytecode:
    """Tables of one problem. ``code`` and ``starts`` are int32, ``integers`` int64, ``reals`` doubles.

    ``starts[i]`` to ``starts[i + 1]`` is expression ``i`` in the order of :meth:`Problem.expressions`.
    """

    code: tuple[int, ...]
    integers: tuple[int, ...]
    reals: tuple[float, ...]
    starts: tuple[int, ...]


def encode(problem: Problem) -> Bytecode:
    """Return the bytecode of all expressions of ``problem``; equal constants share an entry."""
    code: list[int] = []
    starts = [0]
    integers: dict[int, int] = {}
    reals: dict[bytes, tuple[int, float]] = {}  # by bits: 0.0 and -0.0 are equal, but not the same constant
    for _, expression, _ in problem.expressions():
        for step in expression.code:
            code.append(step.op.value)
            if step.op is Op.INTEGER:
                assert isinstance(step.operand, int)
                code.append(integers.setdefault(step.operand, len(integers)))
            elif step.op is Op.REAL:
                assert step.operand is not None
                constant = float(step.operand)
                code.append(reals.setdefault(pack("<d", constant), (len(reals), constant))[0])
            elif step.op is Op.LOAD:
                assert isinstance(step.operand, int)
                code.append(step.operand)
        starts.append(len(code))
    return Bytecode(tuple(code), tuple(integers), tuple(constant for _, constant in reals.values()), tuple(starts))
