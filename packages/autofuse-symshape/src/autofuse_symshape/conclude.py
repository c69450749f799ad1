"""From the knowledge of an inference to the contract: facts in a fixed order, without what turned out unneeded."""

from autofuse_ir.dims import Dim, free_symbols
from autofuse_ir.facts import InputDim, SymbolFacts, ValueFact
from autofuse_ir.graph import Graph

from autofuse_symshape.guards import divisible, equalities, remaining
from autofuse_symshape.known import Content, Known
from autofuse_symshape.scope import Scope
from autofuse_symshape.values.demand import size_operands


def conclude(graph: Graph, scope: Scope) -> SymbolFacts:
    """Return the facts about all values of ``graph``."""
    values = [_fact(name, known, scope) for name, known in scope.known.items()]
    guards = remaining(tuple(scope.guards.values()), scope.symbols)
    conds = [*scope.facts, *[cond for guard in guards for cond in equalities(guard.condition)]]
    needed = _needed(graph, values, scope)
    needed.update([name for guard in guards for name in free_symbols(guard.condition)])
    conds = [cond for cond in conds if all(name in needed for name in free_symbols(cond))]
    return SymbolFacts(
        symbols=tuple([fact for fact in scope.symbols.values() if fact.name in needed]),
        values=tuple([_without_symbols(value, needed) for value in values]),
        guards=guards,
        equalities=tuple(dict.fromkeys(conds)),
        divisible=tuple(dict.fromkeys([fact for guard in guards for fact in divisible(guard.condition)])),
    )


def _fact(name: str, known: Known, scope: Scope) -> ValueFact:
    shape = None if known.shape is None else tuple([scope.oracle.normal(dim) for dim in known.shape])
    return ValueFact(name, known.dtype, shape, _sizes(known.content, scope))


def _sizes(content: Content | None, scope: Scope) -> tuple[Dim, ...] | None:
    """A content as the contract holds it: sizes alone, all of them known."""
    if content is None:
        return None
    sizes = [scope.oracle.normal(element) for element in content if isinstance(element, Dim)]
    return tuple(sizes) if len(sizes) == len(content) else None


def _needed(graph: Graph, values: list[ValueFact], scope: Scope) -> set[str]:
    """The symbols that sizes and shape operands are made of, and every symbol that an argument's dim gives."""
    by_name = {value.name: value for value in values}
    dims: dict[Dim, None] = {}
    for value in values:
        dims.update(dict.fromkeys(value.shape or ()))
    for node in graph.nodes:
        for operand in size_operands(node):
            dims.update(dict.fromkeys(by_name[operand].content or ()))
    needed = {name for dim in dims for name in free_symbols(dim)}
    needed.update(
        fact.name for fact in scope.symbols.values() if any(isinstance(source, InputDim) for source in fact.sources)
    )
    return needed


def _without_symbols(value: ValueFact, needed: set[str]) -> ValueFact:
    """``value`` without a content over symbols that nothing else needs: nobody would bind them."""
    if value.content is None or all(name in needed for dim in value.content for name in free_symbols(dim)):
        return value
    return ValueFact(value.name, value.dtype, value.shape)
