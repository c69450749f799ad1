"""Prints a problem as C++: the compiled ``evaluate`` function and the ``AfModel`` that uses it.

The text calls the functions of the header (``af_size_*`` saturate), so it gives the same bits as the bytecode, and
compiles without warnings whatever the expression.
"""

from collections.abc import Iterable
from math import copysign, isinf, isnan

from autofuse_tiling.solver.bytecode import Expression, Kind, Op, shape
from autofuse_tiling.solver.problem import Group, Problem

_REALS = {Op.REAL_ADD: "+", Op.REAL_SUB: "-", Op.REAL_MUL: "*", Op.REAL_DIV: "/"}


def c_expression(expression: Expression, values: str = "values") -> str:
    """Return ``expression`` as a C++ expression over the array named ``values``."""
    integers: list[str] = []
    reals: list[str] = []
    for step in expression.code:
        op = step.op
        if op is Op.INTEGER:
            assert isinstance(step.operand, int)
            integers.append(_integer(step.operand))
        elif op is Op.REAL:
            assert step.operand is not None
            reals.append(_real(float(step.operand)))
        elif op is Op.LOAD:
            integers.append(f"{values}[{step.operand}]")
        elif op is Op.TO_REAL:
            reals.append(f"static_cast<double>({integers.pop()})")
        elif op in (Op.SELECT, Op.REAL_SELECT):
            stack = integers if op is Op.SELECT else reals
            otherwise, then = stack.pop(), stack.pop()
            stack.append(f"{_call(op)}({integers.pop()}, {then}, {otherwise})")
        else:
            stack = reals if op.name.startswith("REAL_") else integers
            right, left = stack.pop(), stack.pop()
            if op in _REALS:
                stack.append(f"({left} {_REALS[op]} {right})")
            else:
                (integers if shape(op).integer_pushes else reals).append(f"{_call(op)}({left}, {right})")
    return integers[-1] if expression.kind is Kind.INTEGER else reals[-1]


def c_model(problem: Problem, name: str) -> str:
    """Return C++ text that defines ``static const AfModel name`` with compiled expressions; needs the header.

    It is asked only where sizes are new: ``cold`` saves 40 % of the time to compile it, and makes a solution of 3.4 us
    take 4.0 us (20 kernels of a real model).
    """
    variables, constraints = problem.variables, problem.constraints
    bounds = [(variable.group, (variable.lower, variable.upper)) for variable in variables]
    limits = [(constraint.group, (constraint.usage, constraint.limit)) for constraint in constraints]
    costs = (problem.head, *[pipe.cost for pipe in problem.pipes])
    cases = [
        _pairs("AF_TILING_LOCAL_BOUNDS", bounds, Group.LOCAL),
        _pairs("AF_TILING_BLOCK_BOUNDS", bounds, Group.BLOCK),
        _pairs("AF_TILING_LOCAL_USAGE", limits, Group.LOCAL),
        _pairs("AF_TILING_BLOCK_USAGE", limits, Group.BLOCK),
        "\n".join(
            ["    case AF_TILING_COST:"]
            + [f"      reals[{at}] = {c_expression(cost)};" for at, cost in enumerate(costs)]
            + ["      break;"]
        ),
    ]
    rows = [f"{{{v.group.value}, {v.priority}, {v.alignment}LL}}" for v in variables] or ["{0, 0, 1LL}"]
    groups = [str(constraint.group.value) for constraint in constraints] or ["0"]
    counts = ", ".join(str(len(part)) for part in (problem.symbols, variables, constraints, problem.pipes))
    signature = "const AfModel*, af_i32 ask, const af_i64* values, af_i64* integers, double* reals"
    return "\n".join(
        [
            f"__attribute__((cold)) static void {name}_evaluate({signature}) {{",
            "  (void)values, (void)integers, (void)reals;",
            "  switch (ask) {",
            *cases,
            "    default: break;",
            "  }",
            "}",
            f"static const AfVariable {name}_variables[] = {{{', '.join(rows)}}};",
            f"static const af_i32 {name}_groups[] = {{{', '.join(groups)}}};",
            f"static const AfModel {name} = {{{name}_variables, {name}_groups, {name}_evaluate, nullptr, {counts}}};",
            "",
        ]
    )


def _pairs(ask: str, pairs: Iterable[tuple[Group, tuple[Expression, Expression]]], group: Group) -> str:
    lines = [f"    case {ask}:"]
    for at, (of, both) in enumerate(pairs):
        if of is group:
            lines += [f"      integers[{2 * at + side}] = {c_expression(part)};" for side, part in enumerate(both)]
    return "\n".join([*lines, "      break;"])


def _call(op: Op) -> str:
    name = op.name.lower()
    return f"af_{name}" if name.startswith("real_") else f"af_size_{name}"


def _integer(value: int) -> str:
    return "AF_I64_MIN" if value == -(2**63) else f"{value}LL" if value >= 0 else f"({value}LL)"


def _real(value: float) -> str:
    if isnan(value):
        return '__builtin_nan("")'
    if isinf(value):
        return "__builtin_inf()" if value > 0 else "(-__builtin_inf())"
    return value.hex() if copysign(1.0, value) > 0 else f"({value.hex()})"
