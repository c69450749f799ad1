"""Sizes that no input has as a dim, but some input has a multiple of: that dim becomes a size of its own.

::

    before: x: [4*s0], y: [8*s0 + 1]                nothing tells s0
    after:  x: [x.dim0], y: [8*(x.dim0//4) + 1]     and x.dim0 is a multiple of 4
"""

from collections.abc import Iterator, Mapping

from attrs import evolve, frozen
from autofuse_ir.dims import Cond, Dim, eq, floordiv, mod, symbol
from autofuse_ir.dims import Symbol as SymbolAtom
from autofuse_ir.dims_eval import substitute
from autofuse_ir.graph import LARGEST_SIZE, Attr, AttrValue, Graph, Node, Symbol, Value
from autofuse_ir.rewrite import replaced


@frozen
class Multiple:
    """Dim ``axis`` of ``input`` is ``factor * symbol + offset``; ``name`` is the size that it is now."""

    input: str
    axis: int
    symbol: str
    factor: int
    offset: int
    name: str

    @property
    def size(self) -> Dim:
        """The size that the symbol was."""
        return floordiv(symbol(self.name) - self.offset, self.factor)

    @property
    def is_exact(self) -> Cond:
        """That there is such a size."""
        return eq(mod(symbol(self.name) - self.offset, self.factor), 0)

    @property
    def message(self) -> str:
        """What to tell who passes another dim."""
        return f"dim {self.axis} of input {self.input!r} must be {self.factor * symbol(self.symbol) + self.offset}"


def without_multiples(graph: Graph) -> tuple[Graph, tuple[Multiple, ...]]:
    """Return ``graph`` with sizes that only multiples tell written by those dims, which are sizes of their own."""
    declared = {s.name: s for s in graph.symbols}
    found = {multiple.symbol: multiple for multiple in reversed(list(_multiples(graph, declared)))}
    if not found:
        return graph, ()
    sizes = {name: multiple.size for name, multiple in found.items()}
    symbols = tuple(_ranged(s, found[s.name]) if s.name in found else s for s in graph.symbols)
    own = {(multiple.input, multiple.axis): symbol(multiple.name) for multiple in found.values()}
    return evolve(
        graph,
        symbols=symbols,
        inputs=tuple(_in_own_sizes(_in_sizes(value, sizes), own) for value in graph.inputs),
        declared=tuple(_in_sizes(value, sizes) for value in graph.declared),
        nodes=tuple(_node_in_sizes(node, sizes) for node in graph.nodes),
    ), tuple(found[s.name] for s in graph.symbols if s.name in found)


def _multiples(graph: Graph, declared: Mapping[str, Symbol]) -> Iterator[Multiple]:
    """Every dim of an input that is a multiple (plus a constant) of a size that is no dim, and has no fixed value."""
    dims = [(value.name, axis, dim) for value in graph.inputs for axis, dim in enumerate(value.shape or ())]
    given = {dim.atom.name for _, _, dim in dims if isinstance(dim.atom, SymbolAtom)}
    taken = {*declared, *(value.name for value in graph.inputs)}
    for name, axis, dim in dims:
        linear = _linear(dim)
        if linear is None or linear[0] in given or linear[0] not in declared:
            continue
        if declared[linear[0]].lo == declared[linear[0]].hi:
            continue
        own, number = f"{name}.dim{axis}", 1
        while own in taken:
            number += 1
            own = f"{name}.dim{axis}_{number}"
        yield Multiple(name, axis, *linear, own)


def _linear(dim: Dim) -> tuple[str, int, int] | None:
    """The symbol, factor and offset of ``factor * symbol + offset``, none of them negative; None for other sizes."""
    terms = [(monomial, factor) for monomial, factor in dim.terms if monomial]
    if len(terms) != 1:
        return None
    (monomial, factor) = terms[0]
    (atom, *others) = monomial
    if others or not isinstance(atom, SymbolAtom) or factor < 1 or dim.offset < 0:
        return None
    return atom.name, factor, dim.offset


def _ranged(size: Symbol, multiple: Multiple) -> Symbol:
    """The symbol of the dim, over the range that the declared one of the size means for it."""

    def of(value: int) -> int:
        return multiple.factor * value + multiple.offset

    # a range that nobody declared ends where those of other dims do
    hi = max(LARGEST_SIZE, of(size.lo)) if size.hi == LARGEST_SIZE else of(size.hi)
    return Symbol(multiple.name, of(size.lo), hi, None if size.hint is None else min(of(size.hint), hi))


def _in_sizes(value: Value, sizes: Mapping[str, Dim]) -> Value:
    if value.shape is None:
        return value
    return replaced(value, shape=tuple(substitute(dim, sizes) for dim in value.shape))


def _in_own_sizes(value: Value, own: Mapping[tuple[str, int], Dim]) -> Value:
    if value.shape is None:
        return value
    return replaced(value, shape=tuple(own.get((value.name, axis), dim) for axis, dim in enumerate(value.shape)))


def _node_in_sizes(node: Node, sizes: Mapping[str, Dim]) -> Node:
    attrs = tuple(replaced(attr, value=_attr_in_sizes(attr, sizes)) for attr in node.attrs)
    return replaced(node, attrs=attrs)


def _attr_in_sizes(attr: Attr, sizes: Mapping[str, Dim]) -> AttrValue:
    if isinstance(attr.value, Dim):
        return substitute(attr.value, sizes)
    if isinstance(attr.value, tuple) and any(isinstance(part, Dim) for part in attr.value):
        return tuple(substitute(part, sizes) if isinstance(part, Dim) else part for part in attr.value)  # type: ignore[return-value] # a tuple of sizes and ints
    return attr.value
