"""Cycles of scans on a vector core: one instruction after the other along the axis, whatever is joined by each."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import AscKind, asc_op
from autofuse_ir.dims import Dim, ceildiv, const, le, lt, product, select
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import CostTerm

from autofuse_tiling.model.walks import Walk

JOINS = {"CumSum": "Add", "CumProd": "Mul"}
TURNED_ROWS = 128
"""Rows along the innermost axis that are scanned together, as columns: ``AF_SCAN_ROWS`` of ``af_npu_scan.h``."""
TURNED_CALLS = 10
"""Instructions for such a group of rows besides its columns, counted in that header: two make the offsets of rows and
five those of columns, one brings in what came before, two take along what follows and close the rows."""
ROW_CALLS = 2
"""Instructions besides one a row where whole rows are joined: what came before comes in, and is taken along."""
FEW_ROWS = 16
"""Fewer rows of integers than that are cut into pieces, if they are long: ``AF_SCAN_FEW`` of that header."""
PIECES_FROM = 1024
"""Elements of a row from which on it is cut, into ``TURNED_ROWS`` pieces: ``AF_SCAN_PIECES`` of that header."""
PIECE_CALLS = 60
"""Instructions for such a row besides one for each element of a piece."""
WAITS = 8
"""Instructions as long as vector and scalar unit wait for one another where that one walks a tile."""
VECTOR_BITS = 32
"""Wider elements are joined by the scalar unit."""


def is_scan(node: AscNode) -> bool:
    """Return whether ``node`` joins each element with those before it."""
    rule = asc_op(node.op)
    return rule is not None and rule.kind is AscKind.SCAN


def scan_terms(walk: Walk, node: AscNode, target: TargetSpec) -> tuple[CostTerm, ...]:
    """Return what scan ``node`` costs in all tiles.

    Each step along an outer axis joins a row. Along the innermost one a step joins a column of up to ``TURNED_ROWS``
    rows, which are gathered first, and put back; or of as many pieces of one row of integers.
    """
    elements = walk.elements(node) * walk.tiles
    if node.dtype.bits > VECTOR_BITS:
        return (CostTerm(2 * target.quantity("scalar_local_cycles"), elements, const(1)),)
    join = target.cost_of(JOINS[node.op], node.dtype)
    axes = [axis for axis in walk.axes if walk.varies(node, axis.root)]
    along = next((i for i, axis in enumerate(axes) if axis.root == node.attr("axis")), 0)
    if axes and along == len(axes) - 1:
        return _along_rows(walk, node, product(axis.size for axis in axes[:-1]), axes[-1].size, target)
    steps = product(axis.size for axis in axes[:along]) * (product(a.size for a in axes[along : along + 1]) + ROW_CALLS)
    return CostTerm(join.per_call, steps * walk.tiles, const(1)), CostTerm(join.per_element, elements, const(1))


def _along_rows(walk: Walk, node: AscNode, rows: Dim, columns: Dim, target: TargetSpec) -> tuple[CostTerm, ...]:
    """What it costs along the innermost axis: one row by elements, a few of integers in pieces, many turned."""
    join, local = target.cost_of(JOINS[node.op], node.dtype), target.quantity("scalar_local_cycles")
    no, yes = const(0), const(1)
    few = select(lt(rows, const(FEW_ROWS)), select(le(const(PIECES_FROM), columns), yes, no), no)
    in_pieces = few if node.dtype.is_integer else no
    alone = select(le(rows, yes), yes, no) * (yes - in_pieces)
    turned = (yes - in_pieces) * (yes - alone)
    groups = ceildiv(rows, const(TURNED_ROWS))
    calls = (columns + TURNED_CALLS) * groups * turned
    calls = calls + (ceildiv(columns, const(TURNED_ROWS)) + PIECE_CALLS) * rows * in_pieces + alone * WAITS
    elements = walk.elements(node) * walk.tiles
    # Elements in pieces are gathered, joined, put back, and joined to what came before. The scalar unit reads and
    # writes each element of a row that is alone, and reads two of each piece.
    return (
        CostTerm(join.per_call, calls * walk.tiles, const(1)),
        CostTerm(join.per_element + 2 * target.quantity("gather_cycles"), elements * turned, const(1)),
        CostTerm(4 * join.per_element, elements * in_pieces, const(1)),
        CostTerm(2 * local, elements * alone, const(1)),
        CostTerm(2 * local, rows * TURNED_ROWS * in_pieces * walk.tiles, const(1)),
    )
