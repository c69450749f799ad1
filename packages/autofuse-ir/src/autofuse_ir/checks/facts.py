"""Invariants of SymbolFacts."""

from collections.abc import Iterator
from typing import assert_never

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.symbols import check_range, unknown_symbols
from autofuse_ir.dims import FALSE, product
from autofuse_ir.facts import InputDim, InputElement, ResultDim, ResultElement, SymbolFacts
from autofuse_ir.text.values import value_name, word


def facts_findings(facts: SymbolFacts) -> Iterator[Finding]:
    """Yield every broken invariant of ``facts``."""
    yield from check_names(facts)
    yield from check_ranges(facts)
    yield from check_known_symbols(facts)
    yield from check_sources(facts)
    yield from check_contents(facts)
    yield from check_conditions(facts)


def check_names(facts: SymbolFacts) -> Iterator[Finding]:
    """Symbols and values are listed once."""
    for name in duplicates(symbol.name for symbol in facts.symbols):
        yield Finding(f"symbol {name!r}", "it is listed twice", "", f"symbol {word(name)} ")
    for name in duplicates(value.name for value in facts.values):
        yield Finding(f"value {name!r}", "it is listed twice", "", f"{value_name(name)}: ")


def check_ranges(facts: SymbolFacts) -> Iterator[Finding]:
    """Ranges are ranges of sizes, and hints inside them."""
    for symbol in facts.symbols:
        yield from check_range(symbol.name, symbol.lo, symbol.hi, symbol.hint, f"symbol {word(symbol.name)} ")


def check_known_symbols(facts: SymbolFacts) -> Iterator[Finding]:
    """Everything is said in terms of the listed symbols."""
    known = {symbol.name for symbol in facts.symbols}
    for value in facts.values:
        sizes = (*(value.shape or ()), *(value.content or ()))
        yield from unknown_symbols(sizes, known, f"value {value.name!r}", f"{value_name(value.name)}: ")
    for guard in facts.guards:
        yield from unknown_symbols((guard.condition,), known, f"guard of {guard.operator!r}", guard.kind.value)
    yield from unknown_symbols(facts.equalities, known, "equalities", "always ")
    yield from unknown_symbols((each.dim for each in facts.divisible), known, "divisible", "always ")


def check_sources(facts: SymbolFacts) -> Iterator[Finding]:
    """A symbol is bound from a dim or an element that exists."""
    values = {value.name: value for value in facts.values}
    for symbol in facts.symbols:
        for source in symbol.sources:
            match source:
                case InputDim(name, position) | ResultDim(name, position):
                    is_element = False
                case InputElement(name, position) | ResultElement(name, position):
                    is_element = True
                case never:
                    assert_never(never)
            value = values.get(name)
            if value is None:
                what = f"its source {name!r} is no listed value"
            elif is_element and not value.dtype.is_integer:
                what = f"its source {name!r} is {value.dtype}, no integer"
            elif position < 0 or (not is_element and value.shape is not None and position >= len(value.shape)):
                what = f"{name!r} has no dim {position}"
            else:
                continue
            yield Finding(f"symbol {symbol.name!r}", what, "correct its sources", f"symbol {word(symbol.name)} ")


def check_contents(facts: SymbolFacts) -> Iterator[Finding]:
    """Known content belongs to an integer (or bool) and has one entry per element."""
    for value in facts.values:
        if value.content is None:
            continue
        where, anchor = f"value {value.name!r}", f"{value_name(value.name)}: "
        if value.dtype.is_float or value.dtype.is_opaque:
            yield Finding(where, f"sizes are the content of a {value.dtype} value", "only integers hold sizes", anchor)
        count = None if value.shape is None else product(value.shape).constant_value
        if count is not None and count != len(value.content):
            yield Finding(where, f"{len(value.content)} elements are known of {count}", "give all or none", anchor)


def check_conditions(facts: SymbolFacts) -> Iterator[Finding]:
    """What is said can hold: no guard is false, no divisor is 0 or less."""
    for guard in facts.guards:
        if guard.condition is FALSE:
            yield Finding(
                f"guard of {guard.operator!r}", "it never holds", "report the error instead", guard.kind.value
            )
    for each in facts.divisible:
        if each.divisor <= 0:
            yield Finding(f"divisible {each.dim}", f"{each.divisor} is no divisor", "use 1 or more", "always ")
    if any(condition is FALSE for condition in facts.equalities):
        yield Finding("equalities", "one of them never holds", "remove it", "always false")
