"""What guards assert about sizes is so in every kernel."""

from autofuse_ir.dims import le, lt, ne, symbol
from autofuse_ir.facts import Guard, GuardKind, SymbolFact, SymbolFacts
from autofuse_schedule.asserted import asserted_ranges

SYMBOLS = (SymbolFact("m", 0, 9, 4, ()), SymbolFact("n", 0, 7, 4, ()))


def test_sizes_that_calls_refuse_are_no_sizes_of_kernels() -> None:
    guard = Guard(GuardKind.ASSERT, le(1, symbol("m")), "argmax", "an axis is empty")
    assert asserted_ranges(SymbolFacts(SYMBOLS, (), (guard,))) == {"m": (1, 9), "n": (0, 7)}


def test_other_guards_leave_ranges_alone() -> None:
    m, n = symbol("m"), symbol("n")
    some = [
        Guard(GuardKind.EXPECT, le(1, m), "a", ""),
        *(Guard(GuardKind.ASSERT, condition, "a", "") for condition in (le(n, m), le(m, 3), lt(1, m + n), ne(m, 0))),
    ]
    assert asserted_ranges(SymbolFacts(SYMBOLS, (), tuple(some))) == {"m": (0, 9), "n": (0, 7)}
