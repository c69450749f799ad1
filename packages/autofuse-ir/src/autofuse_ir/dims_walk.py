"""Visit the parts of a size, each once, in the order every evaluator and printer shares.

The evaluator, the C printer and the bytecode compute a polynomial in the same order: where evaluation reports no
overflow, the generated code has none either.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias, assert_never

from autofuse_ir.dims_atoms import AnyAtom, CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol
from autofuse_ir.dims_conds import AllOf, AnyCond, AnyOf, Compare, Cond
from autofuse_ir.dims_polynomial import INT64_MIN, Dim

AnyNode: TypeAlias = AnyAtom | AnyCond


def operands(node: AnyNode) -> tuple[Dim | Cond, ...]:
    """The sizes and conditions ``node`` is made of."""
    match node:
        case Symbol():
            return ()
        case FloorDiv(left, right) | CeilDiv(left, right) | Mod(left, right) | Compare(_, left, right):
            return (left, right)
        case Min(parts) | Max(parts):
            return parts
        case Select(cond, if_true, if_false):
            return (cond, if_true, if_false)
        case AllOf(parts) | AnyOf(parts):
            return parts
        case never:
            assert_never(never)


def as_node(cond: Cond) -> AnyNode:
    """``cond`` as a member of the closed union, so that a match over it is checked for completeness."""
    assert isinstance(cond, Compare | AllOf | AnyOf)
    return cond


def nodes_of(part: Dim | Cond) -> Iterator[AnyNode]:
    """The atoms of a size, or the condition itself."""
    roots: Any = (part,) if isinstance(part, Cond) else [atom for monomial, _ in part.terms for atom in monomial]
    yield from roots


def children_first(root: Dim | Cond) -> list[AnyNode]:
    """Every atom and condition in ``root``, once, each after the ones it is made of."""
    order: dict[AnyNode, None] = {}
    stack = [(node, False) for node in nodes_of(root)]
    stack.reverse()
    while stack:
        node, ready = stack.pop()
        if node in order:
            continue
        if ready:
            order[node] = None
            continue
        stack.append((node, True))
        inner = [(child, False) for part in operands(node) for child in nodes_of(part)]
        stack.extend(reversed(inner))
    return list(order)


def free_symbols(part: Dim | Cond) -> tuple[str, ...]:
    """The names of the symbols in ``part``, sorted."""
    return tuple(sorted([node.name for node in children_first(part) if isinstance(node, Symbol)]))


def signed_terms(dim: Dim) -> Iterator[tuple[bool, int, tuple[AnyAtom, ...]]]:
    """(is subtracted, factor, atoms) of each term, in the order they are computed.

    The first term is never subtracted: it carries its sign in the factor. So does one with the factor INT64_MIN,
    whose magnitude is no int64.
    """
    for position, (monomial, factor) in enumerate(dim.terms):
        atoms: Any = monomial
        if position and INT64_MIN < factor < 0:
            yield True, -factor, atoms
        else:
            yield False, factor, atoms
