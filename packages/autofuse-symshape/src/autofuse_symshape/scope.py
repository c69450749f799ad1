"""What inference has found so far: values, symbols, guards. The stage fills it, rules read it through `Call`."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from attrs import evolve
from autofuse_ir.dims import AllOf, Cond, Dim, eq, product, symbol
from autofuse_ir.dims_walk import as_node
from autofuse_ir.facts import Guard, GuardKind, InputElement, ResultElement, SymbolFact, SymbolSource
from autofuse_ir.graph import LARGEST_SIZE, Constant, Graph
from autofuse_ir.graph import Symbol as SymbolDeclaration

from autofuse_symshape.clearer import clearer
from autofuse_symshape.constants import decoded
from autofuse_symshape.errors import ShapeError, UnknownShape
from autofuse_symshape.known import MAX_CONTENT, MAX_STRUCTURAL, Content, Known
from autofuse_symshape.oracle import Oracle, Verdict

DEFAULT_HINT = 1024
"""The size at which profit is judged when nobody gave a hint (cut to the range)."""

Message: TypeAlias = str | Callable[[], str]
"""What to tell the user; a function where the text of shapes is only worth making when it is shown."""


def _text(message: Message) -> str:
    return message if isinstance(message, str) else message()


class Scope:
    """The growing knowledge of one inference."""

    def __init__(self, graph: Graph, wanted: frozenset[str]) -> None:
        self.wanted = wanted
        """Values whose content some shape depends on."""
        self.oracle = Oracle({})
        self.known: dict[str, Known] = {}
        self.guards: dict[Cond, Guard] = {}
        self.symbols: dict[str, SymbolFact] = {}
        self.facts: dict[Cond, None] = {}
        self.is_live = True
        """Whether the operator at work is one that a result of the graph depends on: calls are held to no other."""
        self._declared: Mapping[str, SymbolDeclaration] = {s.name: s for s in graph.symbols}
        self._constants: Mapping[str, Constant] = {c.name: c for c in graph.constants}
        self._inputs = {value.name for value in graph.inputs}
        self._taken = {*self._declared, *(value.name for value in graph.inputs)}

    def declare(self, name: str, *sources: SymbolSource, lo: int = 0, hi: int = LARGEST_SIZE) -> Dim:
        """Add a symbol, or more sources to a known one; its range is the declared one where there is one."""
        known = self.symbols.get(name)
        if known is None:
            given = self._declared.get(name)
            hint = None
            if given is not None:
                lo, hi, hint = given.lo, given.hi, given.hint
            hint = min(max(DEFAULT_HINT if hint is None else hint, lo), hi)
            known = SymbolFact(name, lo, hi, hint, ())
            self.oracle.declare(name, lo, hi)
            if lo == hi:
                self.oracle.assume(eq(symbol(name), lo))
        self.symbols[name] = evolve(known, sources=(*known.sources, *sources))
        return symbol(name)

    def fresh(self, stem: str, source: SymbolSource, lo: int = 0, hi: int = LARGEST_SIZE) -> Dim:
        """Add a symbol of its own, called ``stem`` (numbered where that is taken)."""
        name, number = stem, 1
        while name in self._taken or name in self.symbols:
            number += 1
            name = f"{stem}_{number}"
        return self.declare(name, source, lo=lo, hi=hi)

    def note(self, cond: Cond) -> None:
        """Add a condition that holds in every run by what an operator is."""
        self.facts[cond] = None
        self.oracle.assume(cond)

    def content(self, name: str) -> Content | None:
        """Return the content of value ``name``, as far as it is known."""
        known = self.known[name]
        if known.content is None and name in self._constants:
            data = self._constants[name].data
            if data.element_count <= MAX_CONTENT:
                known = self.known[name] = evolve(known, content=decoded(data))
        return known.content

    def elements(self, value: str, lo: int, hi: int) -> tuple[Dim, ...]:
        """Return the elements of integer ``value``; unknown ones become symbols in ``lo..hi`` (bound at run time).

        Raises `UnknownShape` where the number of elements is not static, or more than symbols are made for.
        """
        known = self.known[value]
        content = self.content(value)
        if known.shape is None or not known.dtype.is_integer:
            raise UnknownShape(value)
        count = product(known.shape).constant_value
        if count is None or (content is None and count > MAX_STRUCTURAL):
            raise UnknownShape(value)
        if content is None:
            content = (None,) * count
        if sum(element is None for element in content) > MAX_STRUCTURAL:
            raise UnknownShape(value)
        source = InputElement if value in self._inputs else ResultElement
        elements = [
            self.fresh(f"{value}.{i}", source(value, i), lo, hi) if element is None else element
            for i, element in enumerate(content)
        ]
        sizes = tuple([element for element in elements if isinstance(element, Dim)])
        self.known[value] = evolve(known, content=sizes)
        return sizes

    def require(self, cond: Cond, *, operator: str, where: str, message: Message) -> None:
        """Make sure that ``cond`` holds: nothing where it is proved, an error where it cannot be, else a guard.

        What an operator needs that nobody reads is neither asked of calls nor taken for granted.
        """
        cond = clearer(cond)
        node = as_node(cond)
        if isinstance(node, AllOf):  # what can be proved of it needs no guard
            for operand in node.operands:
                self.require(operand, operator=operator, where=where, message=message)
            return
        match self.oracle.ask(cond).verdict:
            case Verdict.YES:
                return
            case Verdict.NO:
                raise ShapeError(
                    _text(message), where=where, fix="change the shapes or the declared ranges of the inputs"
                )
            case Verdict.UNKNOWN if self.is_live:
                self.guards.setdefault(cond, Guard(GuardKind.ASSERT, cond, operator, _text(message)))
                self.oracle.assume(cond)
            case Verdict.UNKNOWN:
                return
