"""Rebuild sizes and conditions from the inside out, with a rule applied to every operation."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar, assert_never

from autofuse_ir.dims import (
    AllOf,
    AnyOf,
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
    all_of,
    any_of,
    ceildiv,
    const,
    dim_max,
    dim_min,
    eq,
    floordiv,
    le,
    lt,
    mod,
    ne,
    select,
)
from autofuse_ir.dims_walk import AnyNode, as_node, children_first, nodes_of, signed_terms

Part = TypeVar("Part", Dim, Cond)
CondRule: TypeAlias = Callable[[Cond], Cond]
DimRule: TypeAlias = Callable[[Dim], Dim]
"""What stands for an operation (a size that is one atom, with rewritten operands)."""


def compared(relation: str, left: Dim, right: Dim) -> Cond:
    """``left relation right`` in normal form."""
    return {"==": eq, "!=": ne, "<=": le, "<": lt}[relation](left, right)


def _same_dim(dim: Dim) -> Dim:
    return dim


def unchanged(cond: Cond) -> Cond:
    """The condition itself."""
    return cond


def rewrite(part: Part, dim_rule: DimRule = _same_dim, cond_rule: CondRule = unchanged) -> Part:
    """``part`` with every operation replaced by what its rule says, operands first; the same object if nothing is."""
    new: dict[AnyNode, Dim | Cond] = {}
    for node in children_first(part):
        made = _rebuilt(node, new)
        new[node] = cond_rule(made) if isinstance(made, Cond) else dim_rule(made)
    result = _dim(part, new) if isinstance(part, Dim) else new[as_node(part)]
    return result  # type: ignore[return-value] # a size gives a size, a condition a condition


def _dim(dim: Dim, new: dict[AnyNode, Dim | Cond]) -> Dim:
    if all(_is_alone(new[node], node) for node in nodes_of(dim)):
        return dim
    result = const(0)
    for is_subtracted, factor, atoms in signed_terms(dim):
        product = const(-factor if is_subtracted else factor)
        for atom in atoms:
            replacement = new[atom]
            assert isinstance(replacement, Dim)
            product = product * replacement
        result = result + product
    return result


def _is_alone(made: Dim | Cond, node: AnyNode) -> bool:
    return isinstance(made, Dim) and made.atom is node


def _rebuilt(node: AnyNode, new: dict[AnyNode, Dim | Cond]) -> Dim | Cond:
    def dim(old: Dim) -> Dim:
        return _dim(old, new)

    def cond(old: Cond) -> Cond:
        made = new[as_node(old)]
        assert isinstance(made, Cond)
        return made

    match node:
        case Symbol():
            return node.dim
        case FloorDiv(left, right):
            return floordiv(dim(left), dim(right))
        case CeilDiv(left, right):
            return ceildiv(dim(left), dim(right))
        case Mod(left, right):
            return mod(dim(left), dim(right))
        case Min(operands):
            return dim_min(*[dim(operand) for operand in operands])
        case Max(operands):
            return dim_max(*[dim(operand) for operand in operands])
        case Select(choice, if_true, if_false):
            made = cond(choice)
            # The arm that is not chosen may have no value (a division by zero): never rebuild it for nothing.
            if made.constant_value is not None:
                return dim(if_true if made.constant_value else if_false)
            return select(made, dim(if_true), dim(if_false))
        case Compare(relation, left, right):
            return compared(relation, dim(left), dim(right))
        case AllOf(conds):
            return all_of(*[cond(operand) for operand in conds])
        case AnyOf(conds):
            return any_of(*[cond(operand) for operand in conds])
        case never:
            assert_never(never)
