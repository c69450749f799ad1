"""Sizes to test with: bindings inside the declared ranges that satisfy all guards, and witnesses that violate one."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import TypeAlias

from autofuse_ir.dims import AllOf, AnyOf, Compare, Cond, Dim, Mod, free_symbols, negate
from autofuse_ir.dims_eval import evaluate, holds
from autofuse_ir.dims_walk import as_node
from autofuse_ir.errors import IrError
from autofuse_ir.facts import Guard, InputDim, InputElement, SymbolFact, SymbolFacts
from autofuse_ir.graph import LARGEST_SIZE

Bindings: TypeAlias = dict[str, int]

BOUNDARY_SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 255, 256, 257, 509, 512)
"""Sizes at which kernels change their ways: empty, single, even, odd, prime, around powers of two."""

_ATTEMPTS = 60
_REPAIRS = 24
_ABOVE = 16
"""How far above its least size a symbol goes whose range lies above what is asked for."""


def bindable(facts: SymbolFacts) -> tuple[SymbolFact, ...]:
    """The symbols that arguments give (not those that a step binds once it has run)."""
    return tuple(
        [fact for fact in facts.symbols if any(isinstance(source, InputDim | InputElement) for source in fact.sources)]
    )


def sample(facts: SymbolFacts, count: int, seed: int = 0, largest: int = 1024) -> tuple[Bindings, ...]:
    """At most ``count`` different bindings of the symbols that arguments give, each satisfying every guard on them.

    Boundary sizes come first, then random ones up to ``largest`` (or a little more than the least size of a range
    above that).
    Fewer are returned where no more are found, none where the guards contradict the ranges. The same ``seed`` gives
    the same bindings.
    """
    symbols = bindable(facts)
    guards = _closed(facts.guards, symbols)
    found: dict[tuple[int, ...], Bindings] = {}
    random = Random(seed)
    for attempt in range(count * _ATTEMPTS):
        if len(found) == count:
            break
        start = {fact.name: _pick(fact, random, attempt, largest) for fact in symbols}
        bindings = _satisfied([guard.condition for guard in guards], start, symbols, random, largest)
        if bindings is not None:
            found.setdefault(tuple(bindings.values()), bindings)
        if not symbols:
            break
    return tuple(found.values())


def witness(facts: SymbolFacts, guard: Guard, seed: int = 0, largest: int = 1024) -> Bindings | None:
    """A binding inside the ranges that violates ``guard``, and no other guard where there is one; None for none.

    Sizes exceed ``largest`` only where no others are found.
    """
    symbols = bindable(facts)
    wrong = negate(guard.condition)
    others = [other.condition for other in _closed(facts.guards, symbols) if other is not guard and other != guard]
    if any(name not in {fact.name for fact in symbols} for name in free_symbols(wrong)):
        return None
    random = Random(seed)
    for wanted, limit in product(([wrong, *others], [wrong]), (largest, LARGEST_SIZE)):
        for attempt in range(_ATTEMPTS):
            start = {fact.name: _pick(fact, random, attempt, largest) for fact in symbols}
            bindings = _satisfied(wanted, start, symbols, random, limit)
            if bindings is not None:
                return bindings
    return None


def _closed(guards: Sequence[Guard], symbols: Sequence[SymbolFact]) -> list[Guard]:
    """The guards over ``symbols`` alone."""
    names = {fact.name for fact in symbols}
    return [guard for guard in guards if all(name in names for name in free_symbols(guard.condition))]


def _limits(fact: SymbolFact, largest: int) -> tuple[int, int]:
    """The sizes of a symbol that tests use: never more than ``largest`` where the range allows that."""
    low = fact.lo if fact.lo > -largest else -2
    return low, min(fact.hi, max(largest, fact.lo + _ABOVE))


def _pick(fact: SymbolFact, random: Random, attempt: int, largest: int) -> int:
    low, high = _limits(fact, largest)
    boundary = [size for size in (low, high, -1, *BOUNDARY_SIZES) if low <= size <= high]
    if attempt % 4 == 3:
        return random.randint(low, high)
    return random.choice(boundary[: 8 + 4 * attempt])


def _satisfied(
    conds: Sequence[Cond], start: Bindings, symbols: Sequence[SymbolFact], random: Random, largest: int
) -> Bindings | None:
    """``start`` changed as little as it takes to satisfy ``conds``; None where that does not succeed."""
    bindings = dict(start)
    limits = {fact.name: _limits(fact, largest) for fact in symbols}
    for _ in range(_REPAIRS):
        broken = [cond for cond in conds if not _holds(cond, bindings)]
        if not broken:
            return bindings
        repairs = list(_repairs(random.choice(broken), bindings))
        allowed = [(name, value) for name, value in repairs if limits[name][0] <= value <= limits[name][1]]
        if not allowed:
            name = random.choice(sorted(limits))
            allowed = [(name, random.randint(*limits[name]))]
        name, value = random.choice(allowed)
        bindings[name] = value
    return None


def _holds(cond: Cond, bindings: Mapping[str, int]) -> bool:
    try:
        return holds(cond, bindings)
    except IrError:  # a division by zero: such sizes are no use
        return False


def _repairs(cond: Cond, bindings: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Changes of one symbol that may make ``cond`` true."""
    node = as_node(cond)
    if isinstance(node, AllOf | AnyOf):
        for operand in node.operands:
            if isinstance(node, AnyOf) or not _holds(operand, bindings):
                yield from _repairs(operand, bindings)
    elif isinstance(node, Compare):
        difference = node.left - node.right
        for name in free_symbols(difference):
            yield from ((name, value) for value in _roots(difference, name, node.relation, bindings))


def _roots(difference: Dim, name: str, relation: str, bindings: Mapping[str, int]) -> Iterator[int]:
    """Values of ``name`` near which ``difference`` is 0, as if it were linear there; and neighbours."""
    here = bindings[name]
    try:
        value = evaluate(difference, bindings)
        slope = evaluate(difference, {**bindings, name: here + 1}) - value
    except IrError:
        return
    if relation == "!=":
        yield from (here + 1, here - 1, here + 7)
        return
    if slope:
        root = here - value // slope
        yield from (root, root + 1, root - 1)
    yield from (0, 1, 2)
    for atom in [atom for monomial, _ in difference.terms for atom in monomial]:
        divisor = atom.right.constant_value if isinstance(atom, Mod) else None
        if divisor:
            yield from (here - value, here - here % divisor, here + divisor - here % divisor)
