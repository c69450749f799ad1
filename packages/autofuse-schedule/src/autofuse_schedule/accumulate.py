"""Where a reduction's partial results live while its segment runs."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.dims_eval import bounds
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import Buffer, Location, Placement, QueuePosition
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.nest import Nest


@frozen
class Accumulator:
    """Place of a reduction's partial results, and its buffer (None: registers)."""

    placement: Placement
    buffer: Buffer | None


def leaves_of(node: AscNode, roots: Nest) -> Dim:
    """Return the number of leaves of reduction ``node``'s tree."""
    names = reduced_axes(node)
    return ceildiv(product(axis.size for axis in roots.roots if axis.name in names), const(tree_of(node).leaf))


@frozen
class Accumulators:
    """Chooses the places on ``target``, for sizes in ``ranges``.

    ``lifetime`` is the loop axis whose iterations they survive ("": one tile). Where blocks share the reduced axes
    (``is_spread``) no leaf waits for another.
    """

    target: TargetSpec
    ranges: dict[str, tuple[int, int]]
    lifetime: str
    is_spread: bool

    def of(self, node: AscNode, walk: tuple[str, ...], nest: Nest) -> Accumulator:
        """Return where reduction ``node`` of a segment that walks ``walk`` keeps its partial results.

        Each result that is open has ``partials`` elements, and a stack of finished subtrees with one for each level of
        the tree. On a CPU a row of reduced elements makes one result after the other, in registers; where whole rows
        are joined, all results along the innermost axis are open. A vector core works on all results of a tile at once.
        """
        vectorised = {axis.name: axis for axis in nest.vectorised}
        reduced = reduced_axes(node)
        if self.target.kind is not TargetKind.CPU:
            open_results = product(vectorised[name].size for name in walk if vectorised[name].root not in reduced)
        elif vectorised[walk[-1]].root in reduced:
            return Accumulator(Placement(node.name, Location.REGISTER), None)
        else:
            open_results = vectorised[walk[-1]].size
        most_leaves = bounds(leaves_of(node, nest), self.ranges)[1]
        states = tree_of(node).partials + (0 if self.is_spread else max(1, most_leaves).bit_length())
        granule = self.target.block_bytes
        row = ceildiv(open_results * node.dtype.itemsize, const(granule)) * granule
        name = f"{node.name}_acc"
        buffer = Buffer(name, Location.LOCAL, QueuePosition.VECCALC, row * states, 1, None, self.lifetime)
        return Accumulator(Placement(node.name, Location.LOCAL, name), buffer)
