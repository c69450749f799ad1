"""Minimum, maximum and choice of sizes, normalised for all integer values of the symbols."""

from typing import assert_never

from autofuse_ir.dims_atoms import Max, Min, Select
from autofuse_ir.dims_conds import Cond, negate
from autofuse_ir.dims_polynomial import Dim, Term
from autofuse_ir.errors import IrError


def least(operands: tuple[Dim, ...]) -> Dim:
    """The least of ``operands``; raises `IrError` when there are none."""
    return _extremum(Min, operands)


def greatest(operands: tuple[Dim, ...]) -> Dim:
    """The greatest of ``operands``; raises `IrError` when there are none."""
    return _extremum(Max, operands)


def _extremum(kind: type[Min] | type[Max], operands: tuple[Dim, ...]) -> Dim:
    if not operands:
        raise IrError(f"{kind.__name__.lower()} needs at least one operand")
    pick = min if kind is Min else max
    # Operands that differ by a constant are one candidate: x and x + 1 need no comparison at run time.
    nearest: dict[tuple[Term, ...], Dim] = {}
    for operand in operands:
        atom = operand.atom
        for flat in atom.operands if isinstance(atom, kind) else (operand,):
            shape = flat.terms[:-1] if flat.offset else flat.terms
            known = nearest.get(shape)
            nearest[shape] = flat if known is None else pick(known, flat, key=_offset)
    kept = sorted(nearest.values(), key=Dim.sort_key)
    return kept[0] if len(kept) == 1 else kind(tuple(kept)).dim


def _offset(dim: Dim) -> int:
    return dim.offset


def select(cond: Cond, if_true: Dim, if_false: Dim) -> Dim:
    """``if_true`` where ``cond`` holds, else ``if_false``."""
    if if_true == if_false:
        return if_true
    match cond.constant_value:
        case True:
            return if_true
        case False:
            return if_false
        case None:
            pass
        case never:
            assert_never(never)
    # A choice and its mirror image are one: write it with the condition that sorts first.
    mirror = negate(cond)
    if mirror.key < cond.key:
        return Select(mirror, if_false, if_true).dim
    return Select(cond, if_true, if_false).dim
