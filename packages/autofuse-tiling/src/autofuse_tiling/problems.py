"""TilingModel cases as problems of the solver."""

from autofuse_ir.dims import const
from autofuse_ir.schedule import TileRole
from autofuse_ir.tiling import CORES_SYMBOL, CaseModel, CostTerm

from autofuse_tiling.solver import bytecode as bc
from autofuse_tiling.solver.bytecode import Expression
from autofuse_tiling.solver.from_dim import from_dim
from autofuse_tiling.solver.problem import Constraint, Group, Pipe, Problem, Variable


def problem_of(case: CaseModel, symbols: tuple[str, ...]) -> Problem:
    """Return the solver's problem for ``case``: values are ``symbols``, the number of cores, then the variables."""
    names = (*symbols, CORES_SYMBOL, *(v.name for v in case.variables))
    index = {name: at for at, name in enumerate(names)}
    return Problem(
        symbols=(*symbols, CORES_SYMBOL),
        variables=tuple(
            Variable(
                name=v.name,
                lower=bc.integer(v.lo),
                upper=from_dim(v.hi, index),
                alignment=v.multiple,
                priority=at,
                group=Group.LOCAL if v.role is TileRole.LOCAL else Group.BLOCK,
            )
            for at, v in enumerate(case.variables)
        ),
        constraints=tuple(
            Constraint(
                name=c.resource,
                usage=from_dim(c.need, index),
                limit=from_dim(c.limit, index),
                group=Group.BLOCK if c.resource == "cores" else Group.LOCAL,
            )
            for c in case.constraints
        ),
        head=_cost(case.head, index),
        pipes=tuple(Pipe(p.pipe, _cost(p.terms, index)) for p in case.costs),
    )


def _cost(terms: tuple[CostTerm, ...], index: dict[str, int]) -> Expression:
    total = bc.real(0.0)
    for term in terms:
        value = bc.real(term.coefficient) * bc.to_real(from_dim(term.count, index))
        if term.divisor != const(1):
            value = value / bc.to_real(from_dim(term.divisor, index))
        total = total + value
    return total
