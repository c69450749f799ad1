"""Guards as data: what remains to be checked at run time once everything is known."""

from autofuse_ir.facts import Guard

from autofuse_symshape.oracle import Oracle
from autofuse_symshape.scope import Scope


def remaining(guards: tuple[Guard, ...], scope: Scope) -> tuple[Guard, ...]:
    """The guards that neither the ranges nor the others imply, in the order the program needs them."""
    ranges = {name: (fact.lo, fact.hi) for name, fact in scope.symbols.items()}
    kept = guards
    for guard in reversed(guards):
        others = tuple([other for other in kept if other is not guard])
        oracle = Oracle(ranges)
        for other in others:
            oracle.assume(other.condition)
        if oracle.holds(guard.condition):
            kept = others
    return kept
