"""Compiles symbolic sizes (``autofuse_ir.dims``) to solver expressions."""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import assert_never, cast

from autofuse_ir.dims import (
    AllOf,
    AnyCond,
    AnyOf,
    Atom,
    CeilDiv,
    Compare,
    Cond,
    Dim,
    FloorDiv,
    Max,
    Min,
    Mod,
    Select,
    Symbol,
)

from autofuse_tiling.solver import bytecode as bc
from autofuse_tiling.solver.bytecode import Expression
from autofuse_tiling.solver.errors import TilingError

MOST_WORDS = 4096
"""Most words of a size's text: the code repeats shared parts, so deep sharing could exceed any memory."""


def from_dim(dim: Dim, index: Mapping[str, int]) -> Expression:
    """Return ``dim`` as an integer expression; ``index`` maps its symbols to positions in ``values``.

    Both agree wherever ``dim`` has a value and nothing on the way to it leaves int64. Beyond that the expression stays
    total: it saturates, and evaluates both arms of a select. Raises TilingError for a symbol that ``index`` lacks and
    for a size whose parts, written out, are more than ``MOST_WORDS``.
    """
    if dim.weight > MOST_WORDS:
        raise TilingError(
            f"a size takes {dim.weight} words when written out",
            fix=f"name parts of it; {MOST_WORDS} words are the most",
        )
    result: Expression | None = None
    for monomial, factor in dim.terms:
        # The sign goes into the operator, so that a negative coefficient does not turn a saturated product around.
        size = _product(monomial, abs(factor) if result is not None else factor, index)
        if result is None:
            result = size
        else:
            result = result + size if factor > 0 else result - size
    return bc.integer(0) if result is None else result


def _product(monomial: tuple[Atom, ...], factor: int, index: Mapping[str, int]) -> Expression:
    factors = [_atom(atom, index) for atom in monomial]
    if factor != 1 or not factors:
        factors.append(bc.integer(factor) if factor < 2**63 else bc.integer(2**63 - 1))
    return reduce(lambda a, b: a * b, factors)


def _atom(atom: Atom, index: Mapping[str, int]) -> Expression:
    match atom:
        case Symbol(name):
            if name not in index:
                raise TilingError(
                    f"the size uses the symbol {name!r}, which the problem lacks", fix="add it to symbols"
                )
            return bc.load(index[name])
        case FloorDiv(left, right):
            return from_dim(left, index) // from_dim(right, index)
        case CeilDiv(left, right):
            return bc.ceildiv(from_dim(left, index), from_dim(right, index))
        case Mod(left, right):
            return from_dim(left, index) % from_dim(right, index)
        case Min(operands):
            return reduce(bc.minimum, [from_dim(operand, index) for operand in operands])
        case Max(operands):
            return reduce(bc.maximum, [from_dim(operand, index) for operand in operands])
        case Select(cond, if_true, if_false):
            return bc.select(_cond(cond, index), from_dim(if_true, index), from_dim(if_false, index))
        case _:
            raise TilingError(f"the solver knows no {type(atom).__name__}", fix="add the atom to from_dim")


def _cond(cond: Cond, index: Mapping[str, int]) -> Expression:
    known = cast(AnyCond, cond)
    match known:
        case Compare(relation, left, right):
            return _RELATIONS[relation](from_dim(left, index), from_dim(right, index))
        case AllOf(operands):
            return reduce(bc.minimum, [_cond(operand, index) for operand in operands], bc.integer(1))
        case AnyOf(operands):
            return reduce(bc.maximum, [_cond(operand, index) for operand in operands], bc.integer(0))
        case _:
            assert_never(known)


_RELATIONS: dict[str, Callable[[Expression, Expression], Expression]] = {
    "==": bc.equal,
    "!=": bc.not_equal,
    "<=": bc.less_equal,
    "<": bc.less,
}
