"""Algebra with sympy, where the normal form of sizes and their bounds are not enough.

``import sympy`` costs a second: only this module imports it, and the oracle imports this module only for polynomials
of higher degree.
"""

from typing import Any

import sympy
from autofuse_ir.dims import (
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
    ceildiv,
    const,
    dim_max,
    dim_min,
    floordiv,
    mod,
    select,
    symbol,
)
from autofuse_ir.dims_atoms import Atom
from autofuse_ir.dims_eval import bounds
from autofuse_ir.dims_text import parse_cond, show_cond
from autofuse_ir.dims_walk import children_first

from autofuse_symshape.bounds import Ranges

_FLOORDIV = sympy.Function("floordiv", integer=True)
_CEILDIV = sympy.Function("ceildiv", integer=True)
_MOD = sympy.Function("mod", integer=True)
_MIN = sympy.Function("least", integer=True)
_MAX = sympy.Function("greatest", integer=True)
_SELECT = sympy.Function("select", integer=True)


def to_sympy(dim: Dim) -> Any:
    """``dim`` as a sympy expression: a polynomial over integer symbols and uninterpreted functions."""
    made: dict[Any, Any] = {}
    for node in children_first(dim):
        if isinstance(node, Atom):
            made[node] = _atom(node, made)
    return _polynomial(dim, made)


def _polynomial(dim: Dim, made: dict[Any, Any]) -> Any:
    terms = [sympy.Mul(factor, *[made[atom] for atom in monomial]) for monomial, factor in dim.terms]
    return sympy.Add(*terms)


def _atom(node: Any, made: dict[Any, Any]) -> Any:
    match node:
        case Symbol(name):
            return sympy.Symbol(name, integer=True)
        case FloorDiv(left, right):
            return _FLOORDIV(_polynomial(left, made), _polynomial(right, made))
        case CeilDiv(left, right):
            return _CEILDIV(_polynomial(left, made), _polynomial(right, made))
        case Mod(left, right):
            return _MOD(_polynomial(left, made), _polynomial(right, made))
        case Min(operands):
            return _MIN(*[_polynomial(operand, made) for operand in operands])
        case Max(operands):
            return _MAX(*[_polynomial(operand, made) for operand in operands])
        case Select(cond, if_true, if_false):
            # Conditions are not sympy's: it would evaluate and reorder them. Their text stands for them.
            return _SELECT(sympy.Symbol(show_cond(cond)), _polynomial(if_true, made), _polynomial(if_false, made))
    raise AssertionError(node)


def from_sympy(expression: Any) -> Dim:
    """The size that `to_sympy` made ``expression`` of, or one equal to what sympy made of that."""
    total = const(0)
    for term in sympy.Add.make_args(sympy.expand(expression)):
        product = const(1)
        for factor in sympy.Mul.make_args(term):
            base, exponent = factor.as_base_exp()
            for _ in range(int(exponent)):
                product = product * _factor(base)
        total = total + product
    return total


def _factor(base: Any) -> Dim:
    if base.is_Integer:
        return const(int(base))
    if base.is_Symbol:
        return symbol(base.name)
    match base.func:
        case function if function == _SELECT:
            cond, if_true, if_false = base.args
            return select(parse_cond(cond.name), from_sympy(if_true), from_sympy(if_false))
        case function:
            operands = [from_sympy(operand) for operand in base.args]
            meaning: Any = {
                _FLOORDIV: floordiv,
                _CEILDIV: ceildiv,
                _MOD: mod,
                _MIN: dim_min,
                _MAX: dim_max,
            }[function]
            result: Dim = meaning(*operands)
            return result


def holds(cond: Cond, ranges: Ranges) -> bool | None:
    """Whether a comparison holds for all values in ``ranges`` (or none): by the signs of its factors."""
    if not isinstance(cond, Compare):
        return None
    low, high = _product_bounds(cond.right - cond.left, ranges)
    match cond.relation:
        case "==" | "!=":
            if low > 0 or high < 0:
                return cond.relation == "!="
            return (cond.relation == "==") if low == high == 0 else None
        case "<=":
            return True if low >= 0 else False if high < 0 else None
        case _:
            return True if low > 0 else False if high <= 0 else None


def _product_bounds(dim: Dim, ranges: Ranges) -> tuple[int, int]:
    """Bounds of ``dim`` from the bounds of its factors."""
    factor, factors = sympy.factor_list(to_sympy(dim))
    if not factor.is_Integer:  # what cannot be factored over the integers stays as it is
        return bounds(dim, ranges)
    low = high = int(factor)
    for base, exponent in factors:
        least, most = bounds(from_sympy(base), ranges)
        if int(exponent) % 2 == 0:
            least, most = (0 if least <= 0 <= most else min(least**2, most**2)), max(least**2, most**2)
            least, most = least ** (int(exponent) // 2), most ** (int(exponent) // 2)
        else:
            least, most = least ** int(exponent), most ** int(exponent)
        corners = (low * least, low * most, high * least, high * most)
        low, high = min(corners), max(corners)
    return low, high
