"""From the knowledge of an inference to the contract: facts in a fixed order, without what turned out unneeded."""

from autofuse_ir.dims import AllOf, Compare, Cond, Dim
from autofuse_ir.dims_walk import as_node
from autofuse_ir.facts import SymbolFacts, ValueFact
from autofuse_ir.graph import Graph

from autofuse_symshape.guards import remaining
from autofuse_symshape.known import Content, Known
from autofuse_symshape.scope import Scope


def conclude(graph: Graph, scope: Scope) -> SymbolFacts:
    """Return the facts about all values of ``graph``."""
    normal = scope.oracle.normal
    values = tuple([_fact(name, known, scope) for name, known in scope.known.items()])
    guards = remaining(tuple(scope.guards.values()), scope)
    equalities = tuple([cond for guard in guards for cond in _equalities(guard.condition)])
    equalities = (*scope.facts, *equalities)
    _ = normal, graph
    return SymbolFacts(tuple(scope.symbols.values()), values, guards, equalities)


def _fact(name: str, known: Known, scope: Scope) -> ValueFact:
    normal = scope.oracle.normal
    shape = None if known.shape is None else tuple([normal(dim) for dim in known.shape])
    return ValueFact(name, known.dtype, shape, _sizes(known.content, scope))


def _sizes(content: Content | None, scope: Scope) -> tuple[Dim, ...] | None:
    """A content as the contract holds it: sizes alone, all of them known."""
    if content is None:
        return None
    sizes = tuple([scope.oracle.normal(element) for element in content if isinstance(element, Dim)])
    return sizes if len(sizes) == len(content) else None


def _equalities(cond: Cond) -> tuple[Cond, ...]:
    node = as_node(cond)
    if isinstance(node, AllOf):
        return tuple([each for operand in node.operands for each in _equalities(operand)])
    return (cond,) if isinstance(node, Compare) and node.relation == "==" else ()
