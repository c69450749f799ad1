"""The ranges of sizes that programs leave to kernels, whose calls hold what guards assert."""

from autofuse_ir.dims import symbol
from autofuse_ir.dims_conds import Compare
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.facts import GuardKind, SymbolFacts


def asserted_ranges(facts: SymbolFacts) -> dict[str, tuple[int, int]]:
    """Return the ranges of all size symbols by name, less the small sizes that a guard ``number <= symbol`` excludes.

    (A largest element asserts that its axis is not empty, say.)
    """
    ranges = {fact.name: (fact.lo, fact.hi) for fact in facts.symbols}
    for guard in facts.guards:
        match guard.kind, guard.condition:
            case GuardKind.ASSERT, Compare("<=", least, size):
                number, names = least.constant_value, free_symbols(size)
                for name in names & ranges.keys():
                    lo, hi = ranges[name]
                    if number is not None and size == symbol(name):
                        ranges[name] = min(max(lo, number), hi), hi
    return ranges
