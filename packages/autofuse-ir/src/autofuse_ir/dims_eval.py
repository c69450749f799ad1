"""What sizes come to: evaluation, substitution, free symbols; bounds are in `autofuse_ir.dims_bounds`."""

from collections.abc import Mapping
from operator import index
from typing import TypeAlias, TypeVar, assert_never, overload

from autofuse_ir import dims_choose, dims_conds, dims_divide
from autofuse_ir.dims_atoms import CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol
from autofuse_ir.dims_bounds import bounds, decided
from autofuse_ir.dims_conds import AllOf, AnyOf, Compare, Cond
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN, Dim, const, scaled
from autofuse_ir.dims_walk import AnyNode, as_node, children_first, free_symbols, nodes_of, signed_terms
from autofuse_ir.errors import IrError

__all__ = ["bounds", "decided", "evaluate", "free_symbols", "holds", "substitute"]

T = TypeVar("T")
# A part that has no value matters only where it is used: the arm a choice leaves out may divide by zero.
Outcome: TypeAlias = T | IrError


def evaluate(dim: Dim, bindings: Mapping[str, int]) -> int:
    """The value of ``dim``; raises `IrError` for a missing symbol, a division by zero or an int64 overflow.

    Additions and multiplications are checked one by one in the order generated code performs them.
    """
    return _sum_value(dim, _values(dim, bindings))


def holds(cond: Cond, bindings: Mapping[str, int]) -> bool:
    """Whether ``cond`` is true; every comparison in it must have a value, else `IrError` as in `evaluate`."""
    return bool(_used(_values(cond, bindings)[as_node(cond)]))


def _used(outcome: Outcome[T]) -> T:
    if isinstance(outcome, IrError):
        raise outcome
    return outcome


def _values(root: Dim | Cond, bindings: Mapping[str, int]) -> dict[AnyNode, Outcome[int]]:
    values: dict[AnyNode, Outcome[int]] = {}
    for node in children_first(root):
        try:
            values[node] = _node_value(node, values, bindings)
        except IrError as error:
            values[node] = error
    return values


def _int64(value: int, where: Dim | AnyNode) -> int:
    if INT64_MIN <= value <= INT64_MAX:
        return value
    raise IrError("int64 overflow", where=_text_of(where), fix="the sizes given are too large for this expression")


def _text_of(where: Dim | AnyNode) -> str:
    return str(where) if isinstance(where, Dim | Cond) else str(where.dim)


def _sum_value(dim: Dim, values: Mapping[AnyNode, Outcome[int]]) -> int:
    result = 0
    for is_subtracted, factor, atoms in signed_terms(dim):
        product = factor
        for atom in atoms:
            product = _int64(product * _used(values[atom]), dim)
        result = _int64(result - product if is_subtracted else result + product, dim)
    return result


def _node_value(node: AnyNode, values: Mapping[AnyNode, Outcome[int]], bindings: Mapping[str, int]) -> int:
    match node:
        case Symbol(name):
            if name not in bindings:
                raise IrError("a symbol without a value", where=str(node.dim), fix="bind it before evaluating")
            try:
                return _int64(index(bindings[name]), node)
            except TypeError:
                raise IrError(
                    f"the value {bindings[name]!r} is no integer", where=str(node.dim), fix="bind sizes to integers"
                ) from None
        case FloorDiv(left, right) | CeilDiv(left, right) | Mod(left, right):
            dividend, divisor = _sum_value(left, values), _sum_value(right, values)
            if divisor == 0:
                raise IrError("division by zero", where=_text_of(node), fix="guard the divisor with select()")
            if isinstance(node, Mod):
                return dividend % divisor
            return _int64(dividend // divisor if isinstance(node, FloorDiv) else -(-dividend // divisor), node)
        case Min(parts):
            return min([_sum_value(part, values) for part in parts])
        case Max(parts):
            return max([_sum_value(part, values) for part in parts])
        case Select(cond, if_true, if_false):
            return _sum_value(if_true if _used(values[as_node(cond)]) else if_false, values)
        case Compare(relation, left, right):
            return compared(relation, _sum_value(left, values), _sum_value(right, values))
        case AllOf(conds):
            return all(_truths(conds, values))
        case AnyOf(conds):
            return any(_truths(conds, values))
        case never:
            assert_never(never)


def _truths(conds: tuple[Cond, ...], values: Mapping[AnyNode, Outcome[int]]) -> list[int]:
    # All of them, before any is looked at: operands are sorted, so their order carries no meaning to stop by.
    return [_used(values[as_node(cond)]) for cond in conds]


def compared(relation: str, left: int, right: int) -> bool:
    """Whether ``left relation right``."""
    match relation:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<=":
            return left <= right
        case _:
            return left < right


@overload
def substitute(part: Dim, mapping: Mapping[str, Dim | int]) -> Dim: ...
@overload
def substitute(part: Cond, mapping: Mapping[str, Dim | int]) -> Cond: ...
def substitute(part: Dim | Cond, mapping: Mapping[str, Dim | int]) -> Dim | Cond:
    """``part`` with symbols replaced, all at once, and normalised again; the same object where nothing changes.

    Raises `IrError` when the result divides by the constant zero or leaves int64 outside an arm that is never chosen.
    """
    new: dict[AnyNode, Outcome[Dim | Cond]] = {}
    for node in children_first(part):
        try:
            new[node] = _replaced(node, new, mapping)
        except IrError as error:
            new[node] = error
    if isinstance(part, Dim):
        return _rebuilt(part, new)
    replaced = new[as_node(part)]
    if isinstance(replaced, IrError):
        raise replaced
    return replaced


def _rebuilt(dim: Dim, new: Mapping[AnyNode, Outcome[Dim | Cond]]) -> Dim:
    if all(_is_alone(new[node], node) for node in nodes_of(dim)):
        return dim
    result = const(0)
    for is_subtracted, factor, atoms in signed_terms(dim):
        product = const(1)
        for atom in atoms:
            replacement = _used(new[atom])
            assert isinstance(replacement, Dim)
            product = product * replacement
        result = result + scaled(product, -factor if is_subtracted else factor)
    return result


def _is_alone(outcome: Outcome[Dim | Cond], node: AnyNode) -> bool:
    return isinstance(outcome, Dim) and outcome.atom is node


def _replaced(
    node: AnyNode, new: Mapping[AnyNode, Outcome[Dim | Cond]], mapping: Mapping[str, Dim | int]
) -> Dim | Cond:
    if isinstance(node, Symbol):
        target = mapping.get(node.name)
        return node.dim if target is None else target if isinstance(target, Dim) else const(target)

    def dim(old: Dim) -> Dim:
        return _rebuilt(old, new)

    def cond(old: Cond) -> Cond:
        replacement = _used(new[as_node(old)])
        assert isinstance(replacement, Cond)
        return replacement

    match node:
        case FloorDiv(left, right):
            return dims_divide.floordiv(dim(left), dim(right))
        case CeilDiv(left, right):
            return dims_divide.ceildiv(dim(left), dim(right))
        case Mod(left, right):
            return dims_divide.mod(dim(left), dim(right))
        case Min(parts):
            return dims_choose.least(tuple([dim(part) for part in parts]))
        case Max(parts):
            return dims_choose.greatest(tuple([dim(part) for part in parts]))
        case Select(condition, if_true, if_false):
            chosen = cond(condition)
            if chosen.is_constant:
                return dim(if_true if chosen.constant_value else if_false)
            return dims_choose.select(chosen, dim(if_true), dim(if_false))
        case Compare("==", left, right):
            return dims_conds.equal(dim(left), dim(right))
        case Compare("!=", left, right):
            return dims_conds.unequal(dim(left), dim(right))
        case Compare("<=", left, right):
            return dims_conds.at_most(dim(left), dim(right))
        case Compare("<", left, right):
            return dims_conds.below(dim(left), dim(right))
        case AllOf(conds):
            return dims_conds.all_of(*[cond(part) for part in conds])
        case AnyOf(conds):
            return dims_conds.any_of(*[cond(part) for part in conds])
        case Compare():
            raise AssertionError(node.relation)
        case never:
            assert_never(never)
