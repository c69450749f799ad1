"""Where the partial results of reductions, and the state of scans, live while their segment runs."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.dims_eval import bounds
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import Buffer, Location, Placement, QueuePosition
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.nest import Nest
from autofuse_schedule.rows import rounded_up


@frozen
class Accumulator:
    """Place of partial results or of a state, and its buffer (None: registers)."""

    placement: Placement
    buffer: Buffer | None


def leaves_of(node: AscNode, roots: Nest) -> Dim:
    """Return the number of leaves of reduction ``node``'s tree."""
    names = reduced_axes(node)
    return ceildiv(product(axis.size for axis in roots.roots if axis.name in names), const(tree_of(node).leaf))


@frozen
class Accumulators:
    """Chooses the places on ``target``, for sizes in ``ranges``.

    Rows start at multiples of ``row_multiple`` elements. ``lifetime`` is the loop axis whose iterations they survive
    ("": one tile). Where blocks share the reduced axes
    (``is_spread``) no leaf waits for another.
    """

    target: TargetSpec
    ranges: dict[str, tuple[int, int]]
    lifetime: str
    is_spread: bool
    row_multiple: int = 1

    def of(self, node: AscNode, walk: tuple[str, ...], nest: Nest) -> Accumulator:
        """Return where reduction ``node`` of a segment that walks ``walk`` keeps its partial results.

        Each result that is open has ``partials`` elements, and a stack of finished subtrees with one for each level of
        the tree. On a CPU a row of reduced elements makes one result after the other, in registers; where whole rows
        are joined, all results along the innermost axis are open. A vector core works on all results of a tile at once.
        """
        vectorised = {axis.name: axis for axis in nest.vectorised}
        reduced = reduced_axes(node)
        if self.target.kind is not TargetKind.CPU:
            kept = [axis.size for axis in nest.vectorised if axis.name in walk and axis.root not in reduced]
            if kept and nest.vectorised[-1].root not in reduced:  # whole rows are joined, gaps and all
                kept[-1] = rounded_up(kept[-1], self.row_multiple)
            open_results = product(kept)
        elif vectorised[walk[-1]].root in reduced:
            return Accumulator(Placement(node.name, Location.REGISTER), None)
        else:
            open_results = vectorised[walk[-1]].size
        return self._buffer(node, open_results, self._states(node, nest))

    def of_joined(self, node: AscNode, source: AscNode, nest: Nest) -> Accumulator:
        """Return where ``node``, which joins the leaves of reduction ``source``, keeps the subtrees that wait."""
        kept = [axis.size for axis in nest.varying(node)]
        if kept:
            kept[-1] = rounded_up(kept[-1], self.row_multiple)
        most_leaves = bounds(leaves_of(source, nest), self.ranges)[1]
        return self._buffer(node, product(kept), max(1, most_leaves).bit_length())

    def of_scan(self, node: AscNode, walk: tuple[str, ...], nest: Nest) -> Accumulator:
        """Return where scan ``node`` keeps the sums so far: one for each point of the axes inside of its own."""
        vectorised = {axis.name: axis for axis in nest.vectorised}
        at = [vectorised[name].root for name in walk].index(str(node.attr("axis")))
        inside = walk[at + 1 :]
        if not inside:
            return Accumulator(Placement(node.name, Location.REGISTER), None)
        return self._buffer(node, product(vectorised[name].size for name in inside), 1)

    def _states(self, node: AscNode, nest: Nest) -> int:
        most_leaves = bounds(leaves_of(node, nest), self.ranges)[1]
        return tree_of(node).partials + (0 if self.is_spread else max(1, most_leaves).bit_length())

    def _buffer(self, node: AscNode, elements: Dim, rows: int) -> Accumulator:
        row = rounded_up(elements * node.dtype.itemsize, self.target.block_bytes)
        name = f"{node.name}_acc"
        buffer = Buffer(name, Location.LOCAL, QueuePosition.VECCALC, row * rows, 1, None, self.lifetime)
        return Accumulator(Placement(node.name, Location.LOCAL, name), buffer)
