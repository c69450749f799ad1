"""The sizes at which a model is verified."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from attrs import evolve
from autofuse_ir.dims import eq, mod, symbol
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.facts import Guard, GuardKind, SymbolFacts
from autofuse_symshape.sample import Bindings, sample

from autofuse.errors import DriverError
from autofuse.example_inputs import no_sizes
from autofuse.pipeline import Lowered

LARGEST_ELEMENTS = 1 << 20
"""Sizes that give an input more elements are not sampled: one random batch must not exhaust the memory."""

SPARE = 6
"""Sizes drawn for each one wanted: some are too large, at others the model itself fails."""


def sampled_sizes(
    lowered: Lowered, samples: int, seed: int, largest: int, multiples: Mapping[str, int]
) -> Sequence[Bindings]:
    """Return bindings that satisfy the guards, more than ``samples`` where there are more: 1, 0 and 2 come first.

    No dim goes past ``largest`` (or a little more than its least size); those in ``multiples`` are multiples of what
    stands there. Raises `DriverError` where there are none.
    """
    facts = evolve(lowered.facts, guards=(*lowered.facts.guards, *_multiples(lowered.facts, multiples)))
    found = [s for s in sample(facts, samples * SPARE, seed, largest) if _elements(lowered, s) <= LARGEST_ELEMENTS]
    if not found:
        raise no_sizes(facts, {})
    return _edges_first(found)


def _multiples(facts: SymbolFacts, multiples: Mapping[str, int]) -> Iterator[Guard]:
    """Guards that let only multiples through."""
    names = [fact.name for fact in facts.symbols]
    for name, divisor in multiples.items():
        if name not in names:
            raise DriverError(
                f"the model has no dim called {name!r}",
                where="multiples",
                fix=f"its dims: {', '.join(names) or 'none, all are fixed'}",
            )
        if divisor < 1:
            raise DriverError(f"{name!r} cannot be a multiple of {divisor}", where="multiples", fix="give 1 or more")
        condition = eq(mod(symbol(name), divisor), 0)
        yield Guard(GuardKind.ASSERT, condition, "", f"{name} is a multiple of {divisor}")


def _edges_first(found: Sequence[Bindings]) -> list[Bindings]:
    """The same sizes, with a single one, an empty one and a pair in front: few samples shall hold the corners too."""
    corners = [next((s for s in found if size in s.values()), None) for size in (1, 0, 2)]
    first: list[Bindings] = []
    for sizes in corners:
        if sizes is not None and sizes not in first:
            first.append(sizes)
    return first + [s for s in found if s not in first]


def _elements(lowered: Lowered, sizes: Bindings) -> int:
    """Elements of the largest input at ``sizes``."""
    shapes = (v.shape for v in lowered.graph.inputs if v.shape is not None)
    return max((prod(evaluate(d, sizes) for d in shape) for shape in shapes), default=0)
