"""Which symbols sizes may use."""

from collections.abc import Collection, Iterable, Iterator

from autofuse_ir.checks.finding import Finding
from autofuse_ir.dims import Cond, Dim, free_symbols


def unknown_symbols(
    sizes: Iterable[Dim | Cond], known: Collection[str], where: str, anchor: str = ""
) -> Iterator[Finding]:
    """Yield a finding for each symbol in ``sizes`` that is not ``known``."""
    told: set[str] = set()
    for size in sizes:
        for name in free_symbols(size):
            if name not in known and name not in told:
                told.add(name)
                yield Finding(where, f"the symbol {name!r} is not declared", "declare it, with its range", anchor)


def check_range(name: str, lo: int, hi: int, hint: int | None, anchor: str) -> Iterator[Finding]:
    """Yield what is wrong with a symbol's range: sizes are never negative, and the hint is one of them."""
    where = f"symbol {name!r}"
    if not 0 <= lo <= hi:
        yield Finding(where, f"[{lo}, {hi}] is no range of sizes", "give 0 <= lo <= hi", anchor)
    elif hint is not None and not lo <= hint <= hi:
        yield Finding(where, f"the hint {hint} is outside [{lo}, {hi}]", "choose a hint inside the range", anchor)
