"""Evaluates expressions in Python, operator by operator as the C++ header does."""

from collections.abc import Callable, Sequence

from autofuse_tiling.solver.arithmetic import ceildiv, divide, floordiv, mod, saturate
from autofuse_tiling.solver.bytecode import Expression, Kind, Op

_INTEGER_OPERATORS: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda a, b: saturate(a + b),
    Op.SUB: lambda a, b: saturate(a - b),
    Op.MUL: lambda a, b: saturate(a * b),
    Op.FLOORDIV: floordiv,
    Op.CEILDIV: ceildiv,
    Op.MOD: mod,
    Op.MIN: min,
    Op.MAX: max,
    Op.EQ: lambda a, b: int(a == b),
    Op.NE: lambda a, b: int(a != b),
    Op.LT: lambda a, b: int(a < b),
    Op.LE: lambda a, b: int(a <= b),
}
_REAL_OPERATORS: dict[Op, Callable[[float, float], float]] = {
    Op.REAL_ADD: lambda a, b: a + b,
    Op.REAL_SUB: lambda a, b: a - b,
    Op.REAL_MUL: lambda a, b: a * b,
    Op.REAL_DIV: divide,
    Op.REAL_MIN: lambda a, b: b if b < a else a,
    Op.REAL_MAX: lambda a, b: b if a < b else a,
}
# Indexed by opcode: hashing a member of an enumeration costs more than all the arithmetic.
_INTEGERS = tuple(_INTEGER_OPERATORS.get(op) for op in Op)
_REALS = tuple(_REAL_OPERATORS.get(op) for op in Op)


def evaluate_integer(expression: Expression, values: Sequence[int]) -> int:
    """Return the int64 result of ``expression`` over ``values`` (symbols, then variables)."""
    assert expression.kind is Kind.INTEGER
    integers, _ = _run(expression, values)
    return integers[-1]


def evaluate_real(expression: Expression, values: Sequence[int]) -> float:
    """Return the double result of ``expression`` over ``values`` (symbols, then variables)."""
    assert expression.kind is Kind.REAL
    _, reals = _run(expression, values)
    return reals[-1]


def _run(expression: Expression, values: Sequence[int]) -> tuple[list[int], list[float]]:
    integers: list[int] = []
    reals: list[float] = []
    for step in expression.code:
        op, operand = step.op, step.operand
        if op is Op.LOAD:
            assert isinstance(operand, int)
            integers.append(values[operand])
        elif op is Op.INTEGER:
            assert isinstance(operand, int)
            integers.append(operand)
        elif (combine := _INTEGERS[op]) is not None:
            right = integers.pop()
            integers[-1] = combine(integers[-1], right)
        elif op is Op.REAL:
            assert operand is not None
            reals.append(float(operand))
        elif (mix := _REALS[op]) is not None:
            factor = reals.pop()
            reals[-1] = mix(reals[-1], factor)
        elif op is Op.TO_REAL:
            reals.append(float(integers.pop()))
        elif op is Op.SELECT:
            otherwise, then = integers.pop(), integers.pop()
            integers[-1] = then if integers[-1] else otherwise
        elif op is Op.REAL_SELECT:
            last = reals.pop()
            reals[-1] = reals[-1] if integers.pop() else last
        else:
            assert op is Op.REAL_LT or op is Op.REAL_LE
            factor, first = reals.pop(), reals.pop()
            integers.append(int(first < factor if op is Op.REAL_LT else first <= factor))
    return integers, reals
