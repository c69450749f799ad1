"""Where a reduction's partial results live while its segment runs."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.dims_eval import bounds
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import Buffer, Location, Placement, QueuePosition
from autofuse_ir.target import TargetSpec

from autofuse_schedule.nest import Nest


@frozen
class Accumulator:
    """Place of a reduction's partial results, and its buffer (None: registers)."""

    placement: Placement
    buffer: Buffer | None


def leaves_of(node: AscNode, nest: Nest) -> Dim:
    """Return the number of leaves of reduction ``node``'s tree."""
    names = reduced_axes(node)
    return ceildiv(product(axis.size for axis in nest.roots if axis.name in names), const(tree_of(node).leaf))


def accumulator(
    node: AscNode,
    walk: tuple[str, ...],
    nest: Nest,
    target: TargetSpec,
    ranges: dict[str, tuple[int, int]],
    spread_in: str | None,
) -> Accumulator:
    """Return where reduction ``node`` of a segment that walks ``walk`` keeps its partial results.

    A row of reduced elements needs registers only. Where whole rows are joined, every element of the innermost axis has
    its own state: ``partials`` rows, and a stack of finished subtrees (one for each level; none where leaves are all a
    block joins). ``spread_in`` is the axis of the blocks that share the reduced axes, None where each has them whole.
    """
    innermost = next(axis for axis in nest.vectorised if axis.name == walk[-1])
    if innermost.root in reduced_axes(node):
        return Accumulator(Placement(node.name, Location.REGISTER), None)
    most_leaves = bounds(leaves_of(node, nest), ranges)[1]
    rows = tree_of(node).partials + (0 if spread_in is not None else max(1, most_leaves).bit_length())
    row = ceildiv(innermost.size * node.dtype.itemsize, const(target.block_bytes)) * target.block_bytes
    name = f"{node.name}_acc"
    buffer = Buffer(name, Location.LOCAL, QueuePosition.VECCALC, row * rows, 1, None, spread_in or "")
    return Accumulator(Placement(node.name, Location.LOCAL, name), buffer)
