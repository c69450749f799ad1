"""Postfix bytecode of bounds, usages and costs.

An expression is a sequence of instructions over two stacks, one of int64 and one of doubles, and leaves exactly one
result. Build expressions from :func:`integer`, :func:`real` and :func:`load` with the usual operators::

    >>> rows, tile = load(0), load(1)
    >>> (ceildiv(rows, tile) * 2).text(("rows", "tile"))
    'rows tile ceildiv 2 mul'

Evaluating is total: integers saturate, ``x // 0`` is 0, doubles follow IEEE 754 (see ``arithmetic``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum

from attrs import frozen

from autofuse_tiling.solver.errors import TilingError

STACK = 48
"""Operands that one expression may keep on each stack."""


class Op(IntEnum):
    """Instruction codes, shared with ``AfOp`` of the C++ header; the numbers are part of the format."""

    INTEGER = 0  # push an int64 constant (operand: its index in the table of integers)
    REAL = 1  # push a double constant (operand: its index in the table of doubles)
    LOAD = 2  # push a value (operand: its index among symbols, then variables)
    ADD = 3
    SUB = 4
    MUL = 5
    FLOORDIV = 6
    CEILDIV = 7
    MOD = 8
    MIN = 9
    MAX = 10
    EQ = 11  # comparisons push the integer 0 or 1
    NE = 12
    LT = 13
    LE = 14
    SELECT = 15  # condition, then, else
    TO_REAL = 16
    REAL_ADD = 17
    REAL_SUB = 18
    REAL_MUL = 19
    REAL_DIV = 20
    REAL_MIN = 21
    REAL_MAX = 22
    REAL_LT = 23
    REAL_LE = 24
    REAL_SELECT = 25  # condition on the integers; then, else on the doubles


class Kind(Enum):
    """Type of an expression's result."""

    INTEGER = "int64"
    REAL = "double"


@frozen
class Shape:
    """How an operator changes the two stacks."""

    integer_pops: int
    integer_pushes: int
    real_pops: int
    real_pushes: int


def shape(op: Op) -> Shape:
    """Return what ``op`` takes from and leaves on the stacks."""
    match op:
        case Op.INTEGER | Op.LOAD:
            return Shape(0, 1, 0, 0)
        case Op.REAL:
            return Shape(0, 0, 0, 1)
        case Op.SELECT:
            return Shape(3, 1, 0, 0)
        case Op.TO_REAL:
            return Shape(1, 0, 0, 1)
        case Op.REAL_ADD | Op.REAL_SUB | Op.REAL_MUL | Op.REAL_DIV | Op.REAL_MIN | Op.REAL_MAX:
            return Shape(0, 0, 2, 1)
        case Op.REAL_LT | Op.REAL_LE:
            return Shape(0, 1, 2, 0)
        case Op.REAL_SELECT:
            return Shape(1, 0, 2, 1)
        case _:
            return Shape(2, 1, 0, 0)


@frozen
class Instruction:
    """One operator; ``operand`` is the constant of INTEGER and REAL and the index of LOAD."""

    op: Op
    operand: int | float | None = None


@frozen
class Expression:
    """Postfix code with one result of ``kind``."""

    kind: Kind
    code: tuple[Instruction, ...]

    def text(self, names: Sequence[str]) -> str:
        """Return the code in words; ``names[i]`` is what value ``i`` is called."""
        words = []
        for step in self.code:
            if step.op is Op.LOAD:
                assert isinstance(step.operand, int)
                words.append(names[step.operand])
            elif step.operand is not None:
                words.append(repr(step.operand))
            else:
                words.append(step.op.name.lower())
        return " ".join(words)

    def __add__(self, other: Expression | int | float) -> Expression:
        return _arithmetic(Op.ADD, Op.REAL_ADD, self, other)

    def __sub__(self, other: Expression | int | float) -> Expression:
        return _arithmetic(Op.SUB, Op.REAL_SUB, self, other)

    def __mul__(self, other: Expression | int | float) -> Expression:
        return _arithmetic(Op.MUL, Op.REAL_MUL, self, other)

    def __truediv__(self, other: Expression | int | float) -> Expression:
        return _apply(Op.REAL_DIV, to_real(self), to_real(_lift(other)))

    def __floordiv__(self, other: Expression | int) -> Expression:
        return _apply(Op.FLOORDIV, self, _lift(other))

    def __mod__(self, other: Expression | int) -> Expression:
        return _apply(Op.MOD, self, _lift(other))


def integer(value: int) -> Expression:
    """Return the int64 constant ``value``."""
    if not -(2**63) <= value < 2**63:
        raise TilingError(f"the constant {value} does not fit int64", fix="write sizes as 64-bit integers")
    return Expression(Kind.INTEGER, (Instruction(Op.INTEGER, value),))


def real(value: float) -> Expression:
    """Return the double constant ``value``."""
    return Expression(Kind.REAL, (Instruction(Op.REAL, float(value)),))


def load(index: int) -> Expression:
    """Return value ``index``: a symbol, or a variable counted behind the symbols."""
    return Expression(Kind.INTEGER, (Instruction(Op.LOAD, index),))


def to_real(expression: Expression) -> Expression:
    """Return an integer expression converted to double (nearest, ties to even); a double one as it is."""
    return expression if expression.kind is Kind.REAL else _apply(Op.TO_REAL, expression)


def ceildiv(a: Expression, b: Expression | int) -> Expression:
    """Return ``a / b`` rounded up."""
    return _apply(Op.CEILDIV, a, _lift(b))


def minimum(a: Expression, b: Expression | int | float) -> Expression:
    """Return the smaller; ``b`` only where it is less than ``a``."""
    return _arithmetic(Op.MIN, Op.REAL_MIN, a, b)


def maximum(a: Expression, b: Expression | int | float) -> Expression:
    """Return the larger; ``b`` only where ``a`` is less than it."""
    return _arithmetic(Op.MAX, Op.REAL_MAX, a, b)


def less(a: Expression, b: Expression | int | float) -> Expression:
    """Return 1 where ``a < b``, else 0."""
    return _arithmetic(Op.LT, Op.REAL_LT, a, b)


def less_equal(a: Expression, b: Expression | int | float) -> Expression:
    """Return 1 where ``a <= b``, else 0."""
    return _arithmetic(Op.LE, Op.REAL_LE, a, b)


def equal(a: Expression, b: Expression | int) -> Expression:
    """Return 1 where the integers are equal, else 0."""
    return _apply(Op.EQ, a, _lift(b))


def not_equal(a: Expression, b: Expression | int) -> Expression:
    """Return 1 where the integers differ, else 0."""
    return _apply(Op.NE, a, _lift(b))


def select(condition: Expression, then: Expression | int | float, otherwise: Expression | int | float) -> Expression:
    """Return ``then`` where the integer ``condition`` is not 0, else ``otherwise``; both are evaluated."""
    a, b = _lift(then), _lift(otherwise)
    if a.kind is Kind.INTEGER and b.kind is Kind.INTEGER:
        return _apply(Op.SELECT, condition, a, b)
    return _apply(Op.REAL_SELECT, condition, to_real(a), to_real(b))


def _lift(value: Expression | int | float) -> Expression:
    if isinstance(value, Expression):
        return value
    return integer(value) if isinstance(value, int) else real(value)


def _arithmetic(op: Op, real_op: Op, a: Expression, other: Expression | int | float) -> Expression:
    b = _lift(other)
    if a.kind is Kind.INTEGER and b.kind is Kind.INTEGER:
        return _apply(op, a, b)
    return _apply(real_op, to_real(a), to_real(b))


def _apply(op: Op, *operands: Expression) -> Expression:
    code = (*[step for operand in operands for step in operand.code], Instruction(op))
    wanted = shape(op)
    integers = sum(operand.kind is Kind.INTEGER for operand in operands)
    if (integers, len(operands) - integers) != (wanted.integer_pops, wanted.real_pops):
        kinds = ", ".join(operand.kind.value for operand in operands)
        raise TilingError(
            f"{op.name} does not take ({kinds})", fix="convert with to_real, or use the operator for doubles"
        )
    return Expression(Kind.REAL if wanted.real_pushes else Kind.INTEGER, code)


def flaw(expression: Expression, value_count: int) -> str | None:
    """Say what is wrong with ``expression`` over ``value_count`` values, or return None where it is well formed."""
    integers = reals = 0
    for at, step in enumerate(expression.code):
        if step.op is Op.LOAD and not (isinstance(step.operand, int) and 0 <= step.operand < value_count):
            return f"instruction {at} loads value {step.operand} of {value_count}"
        effect = shape(step.op)
        if integers < effect.integer_pops or reals < effect.real_pops:
            return f"instruction {at} ({step.op.name}) lacks operands"
        integers += effect.integer_pushes - effect.integer_pops
        reals += effect.real_pushes - effect.real_pops
        if max(integers, reals) > STACK:
            return f"instruction {at} needs more than {STACK} operands on a stack"
    if (integers, reals) != ((1, 0) if expression.kind is Kind.INTEGER else (0, 1)):
        return f"{integers} integers and {reals} doubles are left instead of one {expression.kind.value}"
    return None
