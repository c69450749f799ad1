"""What is known of the values of one graph: type, shape, content, and who makes them."""

from collections.abc import Iterable, Mapping

from attrs import field, frozen
from autofuse_ir.dims import Dim, const, free_symbols, product
from autofuse_ir.facts import Guard, ResultDim, ResultElement, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph, Node
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.walk import producers
from autofuse_reference.arrays import to_array

from autofuse_fusion.errors import FusionError
from autofuse_fusion.index_map import Leaf, Viewed
from autofuse_fusion.size_facts import SizeFacts

MOST_ELEMENTS = 1024
"""Most elements of a content that the program writes itself."""


@frozen(eq=False)
class Values:
    """Look-ups by value name.

    ``leaves`` are read through an index map from the tensor behind them (`index_map`), ``through`` the operators that
    the map stands for. ``unlowered`` says why the operator that makes a value, which moves elements, is no kernel;
    ``binds`` which symbols a value tells once it is there. Kernels rely on ``guards`` besides those of the shapes.
    """

    facts: dict[str, ValueFact]
    constants: dict[str, TensorData]
    makers: Mapping[str, Node]
    sizes: SizeFacts
    leaves: dict[str, Leaf] = field(factory=dict)
    through: dict[str, tuple[str, ...]] = field(factory=dict)
    guards: list[Guard] = field(factory=list)
    unlowered: dict[str, Reason] = field(factory=dict)
    binds: Mapping[str, frozenset[str]] = {}
    _bytes: dict[str, int] = field(factory=dict)

    def fact(self, name: str) -> ValueFact:
        """Return the fact of ``name``; an error where the facts are not those of the graph."""
        found = self.facts.get(name)
        if found is None:
            raise FusionError(
                f"nothing is known of the value {name!r}",
                where="fuse",
                fix="pass the graph and the facts that autofuse_symshape.stage.infer returned together",
            )
        return found

    def shape(self, name: str) -> tuple[Dim, ...]:
        """Return the shape of ``name``, which must be known."""
        shape = self.fact(name).shape
        assert shape is not None, name
        return shape

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return the elements of integer value ``name`` where all are known when compiling, and few."""
        data = self.constants.get(name)
        if data is not None and data.element_count <= MOST_ELEMENTS:
            return tuple(int(each) for each in to_array(data).reshape(-1))
        content = self.content(name)
        found = [each.constant_value for each in content or ()]
        return None if content is None or None in found else tuple(each for each in found if each is not None)

    def binds_any(self, name: str, dims: Iterable[Dim]) -> bool:
        """True where ``dims`` are only known once value ``name`` is there."""
        own = self.binds.get(name)
        return own is not None and any(symbol in own for dim in dims for symbol in free_symbols(dim))

    def bytes_at_hints(self, name: str) -> int:
        """Return the bytes of ``name`` at the hints; 0 where its rank is not known."""
        known = self._bytes.get(name)
        if known is None:
            fact = self.fact(name)
            known = self._bytes[name] = 0 if fact.shape is None else self.sizes.hint(bytes_of(fact))
        return known

    def add_leaf(self, name: str, leaf: Leaf, fact: ValueFact) -> None:
        """Add a value that is read through an index map; it costs the bytes that it has, or that are behind it."""
        self.facts[name], self.leaves[name] = fact, leaf
        own = self.sizes.hint(bytes_of(fact))
        self._bytes[name] = min(own, self.bytes_at_hints(leaf.source)) if isinstance(leaf, Viewed) else 0

    def behind(self, name: str) -> str | None:
        """Return the tensor that ``name`` is read from: itself, or what is behind a leaf; None for an index."""
        leaf = self.leaves.get(name)
        if leaf is None:
            return name
        return leaf.source if isinstance(leaf, Viewed) else None

    def content(self, name: str) -> tuple[Dim, ...] | None:
        """Return the sizes that integer value ``name`` holds, where they are known and few."""
        fact = self.fact(name)
        if fact.content is None or not fact.dtype.is_integer or len(fact.content) > MOST_ELEMENTS:
            return None
        return fact.content


def bytes_of(fact: ValueFact) -> Dim:
    """Return the bytes of a value as a size."""
    return product(fact.shape or ()) * const(fact.dtype.itemsize)


def values_of(graph: Graph, facts: SymbolFacts) -> Values:
    """Return the look-ups of ``graph``; what the facts do not say of inputs and constants is added."""
    by_name = {fact.name: fact for fact in facts.values}
    for value in graph.inputs:
        by_name.setdefault(value.name, ValueFact(value.name, value.dtype, value.shape))
    for constant in graph.constants:
        shape = tuple(const(size) for size in constant.data.shape)
        by_name.setdefault(constant.name, ValueFact(constant.name, constant.data.dtype, shape))
    constants = {constant.name: constant.data for constant in graph.constants}
    return Values(by_name, constants, producers(graph), SizeFacts(facts), binds=_binds(facts))


def _binds(facts: SymbolFacts) -> dict[str, frozenset[str]]:
    bound: dict[str, set[str]] = {}
    for symbol in facts.symbols:
        for source in symbol.sources:
            if isinstance(source, ResultDim | ResultElement):
                bound.setdefault(source.value, set()).add(symbol.name)
    return {value: frozenset(symbols) for value, symbols in bound.items()}
