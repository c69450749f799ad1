"""Symbolic sizes: immutable int64 polynomials over symbols, divisions, extrema and choices, in one normal form.

Sizes built in different ways but equal as polynomials are equal objects, compare with ``==`` and hash alike:

>>> x, y = symbol("x"), symbol("y")
>>> (x + y) * 4 // 2 == 2 * y + 2 * x
True
>>> str(ceildiv(x * y + 8, 4)), str(dim_min(x, x + 1, 7)), str(select(eq(x, 1), y, x))
('ceildiv(x*y, 4) + 2', 'min(x, 7)', 'select(x == 1, y, x)')

Rewrites hold for all integer values of the symbols at which the written expression has a value; they may drop a
failing part (``0 * (1 // x)`` is ``0``) but never add one.
"""

from collections.abc import Iterable
from typing import SupportsIndex, TypeAlias

from autofuse_ir import dims_choose, dims_conds, dims_divide
from autofuse_ir.dims_atoms import AnyAtom, Atom, CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol, symbol
from autofuse_ir.dims_conds import FALSE, TRUE, AllOf, AnyCond, AnyOf, Compare, Cond, all_of, any_of, negate
from autofuse_ir.dims_parse import parse_dim
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN, Dim, const
from autofuse_ir.dims_walk import free_symbols
from autofuse_ir.errors import IrError

__all__ = [
    "FALSE",
    "INT64_MAX",
    "INT64_MIN",
    "TRUE",
    "AllOf",
    "AnyAtom",
    "AnyCond",
    "AnyOf",
    "Atom",
    "CeilDiv",
    "Compare",
    "Cond",
    "Dim",
    "DimLike",
    "FloorDiv",
    "Max",
    "Min",
    "Mod",
    "Select",
    "Symbol",
    "all_of",
    "any_of",
    "as_dim",
    "ceildiv",
    "const",
    "dim_max",
    "dim_min",
    "eq",
    "floordiv",
    "free_symbols",
    "ge",
    "gt",
    "le",
    "lt",
    "mod",
    "ne",
    "negate",
    "product",
    "select",
    "symbol",
    "total",
]

DimLike: TypeAlias = Dim | SupportsIndex | str
"""What `as_dim` takes: a size, an integer, or text."""


def as_dim(value: DimLike) -> Dim:
    """``value`` as a size; text is parsed (``"2*n + 1"``). Raises `IrError` for anything else."""
    if isinstance(value, Dim):
        return value
    if isinstance(value, str):
        return parse_dim(value)
    try:
        return const(value)
    except TypeError:
        raise IrError(
            f"a size cannot be made of {type(value).__name__} {str(value)[:40]!r}",
            fix="give a Dim, an integer or a size expression such as '2*n + 1'",
        ) from None


def floordiv(left: DimLike, right: DimLike) -> Dim:
    """``left / right`` rounded towards minus infinity; raises `IrError` when ``right`` is the constant zero."""
    return dims_divide.floordiv(as_dim(left), as_dim(right))


def ceildiv(left: DimLike, right: DimLike) -> Dim:
    """``left / right`` rounded towards plus infinity; raises `IrError` when ``right`` is the constant zero."""
    return dims_divide.ceildiv(as_dim(left), as_dim(right))


def mod(left: DimLike, right: DimLike) -> Dim:
    """``left - right * (left // right)``; raises `IrError` when ``right`` is the constant zero."""
    return dims_divide.mod(as_dim(left), as_dim(right))


def dim_min(*operands: DimLike) -> Dim:
    """The least operand; raises `IrError` for none."""
    return dims_choose.least(tuple([as_dim(operand) for operand in operands]))


def dim_max(*operands: DimLike) -> Dim:
    """The greatest operand; raises `IrError` for none."""
    return dims_choose.greatest(tuple([as_dim(operand) for operand in operands]))


def select(cond: Cond, if_true: DimLike, if_false: DimLike) -> Dim:
    """``if_true`` where ``cond`` holds, else ``if_false``; the arm not chosen is never evaluated."""
    return dims_choose.select(cond, as_dim(if_true), as_dim(if_false))


def product(factors: Iterable[DimLike]) -> Dim:
    """The product of ``factors``; 1 for none."""
    result = const(1)
    for factor in factors:
        result = result * as_dim(factor)
    return result


def total(addends: Iterable[DimLike]) -> Dim:
    """The sum of ``addends``; 0 for none."""
    result = const(0)
    for addend in addends:
        result = result + as_dim(addend)
    return result


def eq(left: DimLike, right: DimLike) -> Cond:
    """``left == right``."""
    return dims_conds.equal(as_dim(left), as_dim(right))


def ne(left: DimLike, right: DimLike) -> Cond:
    """``left != right``."""
    return dims_conds.unequal(as_dim(left), as_dim(right))


def le(left: DimLike, right: DimLike) -> Cond:
    """``left <= right``."""
    return dims_conds.at_most(as_dim(left), as_dim(right))


def lt(left: DimLike, right: DimLike) -> Cond:
    """``left < right``."""
    return dims_conds.below(as_dim(left), as_dim(right))


def ge(left: DimLike, right: DimLike) -> Cond:
    """``left >= right``."""
    return dims_conds.at_most(as_dim(right), as_dim(left))


def gt(left: DimLike, right: DimLike) -> Cond:
    """``left > right``."""
    return dims_conds.below(as_dim(right), as_dim(left))
