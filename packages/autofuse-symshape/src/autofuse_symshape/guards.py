"""Guards as data: what remains to be checked at run time once everything is known."""

from collections.abc import Mapping

from autofuse_ir.dims import AllOf, Compare, Cond, Mod
from autofuse_ir.dims_walk import as_node
from autofuse_ir.facts import Divisible, Guard, SymbolFact

from autofuse_symshape.oracle import Oracle

_LONGEST_EQUALITY = 60
"""Most words of an equality that is listed as a fact."""


def remaining(guards: tuple[Guard, ...], symbols: Mapping[str, SymbolFact]) -> tuple[Guard, ...]:
    """The guards that the ranges and the guards after them do not imply, in the order the program needs them.

    Each was recorded because those before it do not imply it; a later one may say more.
    """
    oracle = Oracle({name: (fact.lo, fact.hi) for name, fact in symbols.items()})
    kept: list[Guard] = []
    for guard in reversed(guards):
        if not oracle.holds(guard.condition):
            kept.append(guard)
            oracle.assume(guard.condition)
    return tuple(reversed(kept))


def equalities(cond: Cond) -> tuple[Cond, ...]:
    """The equalities that hold where ``cond`` does; without long ones, which tell a reader nothing."""
    node = as_node(cond)
    if isinstance(node, AllOf):
        return tuple([each for operand in node.operands for each in equalities(operand)])
    is_short = cond.weight <= _LONGEST_EQUALITY
    return (cond,) if is_short and isinstance(node, Compare) and node.relation == "==" else ()


def divisible(cond: Cond) -> tuple[Divisible, ...]:
    """The divisibilities by constants that hold where ``cond`` does."""
    found = []
    for equality in equalities(cond):
        node = as_node(equality)
        if not isinstance(node, Compare):
            continue
        difference = node.left - node.right
        atom = difference.atom or (-difference).atom
        divisor = atom.right.constant_value if isinstance(atom, Mod) else None
        if isinstance(atom, Mod) and divisor:
            found.append(Divisible(atom.left, divisor))
    return tuple(found)
