"""Cycles of reductions of rows on a vector core: every row takes instructions of its own, however short it is."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import ceildiv, const, dim_min, product
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_ir.tiling import CostTerm

from autofuse_tiling.model.walks import Walk

CALLS = 10
"""Instructions, and waits as long as those, that make a vector of partial results from each row and halve it."""
HALVES = 4
"""Vectors for each row besides those with its elements: of nothing at first, and up to three that are halved."""
HALVED = 16
"""Elements of a row for each of these vectors: partial results that none was joined to are not halved."""
VECTOR_BITS = 32
"""Wider elements are joined by the scalar unit."""


def joins_rows(walk: Walk, node: AscNode, target: TargetSpec) -> bool:
    """Return whether reduction ``node`` makes one element of each row that ``walk`` has, by vectors."""
    names = reduced_axes(node)
    if not walk.axes or walk.axes[-1].root not in names or target.kind is not TargetKind.ASCEND:
        return False
    return node.dtype.bits <= VECTOR_BITS and tree_of(node).partials > 1


def row_terms(walk: Walk, node: AscNode, target: TargetSpec) -> tuple[CostTerm, ...]:
    """Return what reduction ``node`` of rows costs in all tiles."""
    cost = target.cost_of(node.op, node.dtype)
    lanes = target.vector_bytes // node.dtype.itemsize
    rows = walk.elements(node)
    row = product(axis.size for axis in walk.axes if axis.root in reduced_axes(node))
    leaves = ceildiv(row, const(tree_of(node).leaf))
    vectors = ceildiv(row, const(lanes)) + dim_min(const(HALVES), ceildiv(row, const(HALVED))) * leaves
    return (
        CostTerm(cost.per_element, rows * vectors * lanes * walk.tiles, const(1)),
        CostTerm(cost.per_call, leaves * CALLS * walk.tiles, const(1)),
    )
