"""The text form of SymbolFacts."""

from collections.abc import Iterator
from typing import assert_never

from autofuse_ir.facts import (
    Guard,
    InputDim,
    InputElement,
    ResultDim,
    ResultElement,
    SymbolFact,
    SymbolFacts,
    SymbolSource,
    ValueFact,
)
from autofuse_ir.text.values import aligned, dims, quoted, tensor_type, value_name, word


def facts_lines(facts: SymbolFacts) -> Iterator[str]:
    """Yield the lines of ``facts``."""
    yield "facts"
    yield from fact_lines(facts)


def fact_lines(facts: SymbolFacts) -> Iterator[str]:
    """Yield what is known, without the head line."""
    yield from aligned(symbol_row(symbol) for symbol in facts.symbols)
    for condition in facts.equalities:
        yield f"  always {condition}"
    for divisible in facts.divisible:
        yield f"  always {divisible.dim} is a multiple of {divisible.divisor}"
    for guard in facts.guards:
        yield f"  {guard_text(guard)}"
    yield from aligned(_value_row(value) for value in facts.values)


def symbol_row(symbol: SymbolFact) -> tuple[str, str]:
    """Return a symbol as two columns: range and hint, and where its value comes from."""
    sources = ", ".join(map(source_text, symbol.sources))
    known = f"symbol {word(symbol.name)} in [{symbol.lo}, {symbol.hi}] hint {symbol.hint}"
    return known, f"from {sources}" if sources else ""


def source_text(source: SymbolSource) -> str:
    """Return ``dim 0 of %x`` or ``element 1 of %shape``."""
    match source:
        case InputDim(name, dim):
            return f"dim {dim} of {value_name(name)}"
        case InputElement(name, element):
            return f"element {element} of {value_name(name)}"
        case ResultDim(name, dim):
            return f"dim {dim} of result {value_name(name)}"
        case ResultElement(name, element):
            return f"element {element} of result {value_name(name)}"
        case never:
            assert_never(never)


def guard_text(guard: Guard) -> str:
    """Return ``assert n == m  for "Add_1": message``."""
    return f"{guard.kind.value} {guard.condition}  for {quoted(guard.operator)}: {guard.message}"


def _value_row(value: ValueFact) -> tuple[str, str]:
    known = f"{value_name(value.name)}: {tensor_type(value.dtype, value.shape)}"
    return known, "" if value.content is None else f"= {dims(value.content)}"
