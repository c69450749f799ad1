"""Chains of operators on 8-bit values as tables: 256 results, computed once a block and looked up from then on.

    x = Load (int8); f = Cast x; ...; q = Cast r (int8)      becomes      table[v] = q(v) for all v;  q = table[x]

The table is filled by the same operators, so every bit is the same.
"""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dtypes import DType
from autofuse_ir.schedule import ImplGraph, Segment

from autofuse_codegen.targets.cpu.operators import FORMS, can_fail

ENTRIES = 256
LEAST_COST = 18
"""Instructions a vector, about, from which on looking up costs less: little with AVX2, ten times less with VBMI."""
QUICK = frozenset(
    (
        *("Add", "Sub", "Mul", "Neg", "Abs", "Sign", "Minimum", "Maximum", "Select", "Round", "Floor", "Ceil", "Trunc"),
        *("Eq", "Ne", "Lt", "Le", "Gt", "Ge", "IsNan", "IsInf", "IsFinite", "LogicalAnd", "LogicalOr", "LogicalXor"),
        *("LogicalNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "LeftShift", "RightShift"),
    )
)
"""Operators that count as one instruction."""
DIVISION, SATURATING_CAST, FUNCTION = 5, 6, 15
"""Instructions, about, that others take: divisions and roots, casts of floats to integers, and what is computed."""


@frozen
class Table:
    """``result`` of each value of the 8-bit integer ``index``, by ``nodes``, the last of which is ``result``."""

    index: str
    result: str
    nodes: tuple[str, ...]


def tables_of(impl: ImplGraph) -> tuple[Table, ...]:
    """Return the tables that are worth it, each within one segment."""
    return tuple(table for phase in impl.phases for segment in phase.segments for table in _of_segment(impl, segment))


def replaced(impl: ImplGraph, tables: tuple[Table, ...]) -> frozenset[str]:
    """Return the nodes that only tables need: nothing else computes them any more."""
    results = {table.result for table in tables}
    inner = {name for table in tables for name in table.nodes} - results
    placed = {place.node for place in impl.placements if place.buffer is not None}
    needed: set[str] = set()
    gone: set[str] = set()
    for node in reversed(impl.nodes):
        if node.name in inner and node.name not in needed | placed:
            gone.add(node.name)
        elif node.name not in results:
            needed |= set(node.inputs)
    return frozenset(gone)


def _of_segment(impl: ImplGraph, segment: Segment) -> list[Table]:
    nodes = {node.name: node for node in impl.nodes}
    found: list[Table] = []
    covered: set[str] = set()
    for name in reversed(segment.nodes):
        node = nodes[name]
        if name in covered or node.dtype.itemsize != 1 or not _is_pure(node, nodes):
            continue
        cone = _cone(name, segment, nodes)
        if cone is None:
            continue
        if sum(_cost(nodes[each], nodes[nodes[each].inputs[0]].dtype) for each in cone.nodes) >= LEAST_COST:
            found.append(cone)
            covered |= set(cone.nodes)
    return found


def _cone(result: str, segment: Segment, nodes: dict[str, AscNode], through: bool = True) -> Table | None:
    """Return what computes ``result`` from one 8-bit integer and constants; None where there is more to it.

    ``through``: 8-bit values on the way are computed like all others.
    """
    inside = frozenset(segment.nodes)
    cone: set[str] = set()
    indices: set[str] = set()
    waiting = [result]
    while waiting:
        name = waiting.pop()
        node = nodes[name]
        if name in cone or node.op in ("Scalar", "IndexExpr"):
            continue
        is_computed = name in inside and _is_pure(node, nodes)
        if is_computed and not through and name != result and _is_byte(node.dtype):
            is_computed = not _depends_on_data(name, inside, nodes)
        if is_computed:
            cone.add(name)
            waiting += node.inputs
        elif _is_byte(node.dtype):
            indices.add(name)
        else:
            indices.clear()
            break
    if len(indices) == 1:
        return Table(indices.pop(), result, tuple(name for name in segment.nodes if name in cone))
    return _cone(result, segment, nodes, through=False) if through else None


def _depends_on_data(name: str, inside: frozenset[str], nodes: dict[str, AscNode]) -> bool:
    """True where a value is not the same for all elements of the kernel."""
    node = nodes[name]
    if node.op in ("Scalar", "IndexExpr"):
        return False
    if name not in inside or not _is_pure(node, nodes):
        return True
    return any(_depends_on_data(each, inside, nodes) for each in node.inputs)


def _is_byte(dtype: DType) -> bool:
    return dtype.is_integer and dtype.itemsize == 1


def _is_pure(node: AscNode, nodes: dict[str, AscNode]) -> bool:
    return node.op in FORMS and not can_fail(node, nodes[node.inputs[0]].dtype)


def _cost(node: AscNode, source: DType) -> int:
    if node.op in QUICK:
        return 1
    if node.op in ("Div", "Sqrt"):
        return DIVISION
    if node.op == "Cast":
        return SATURATING_CAST if source.is_float and node.dtype.is_integer else 1
    return FUNCTION
