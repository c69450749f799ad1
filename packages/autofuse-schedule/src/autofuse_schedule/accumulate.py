"""Where the partial results of reductions, and the state of scans, live while their segment runs."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, dim_min, product
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
    ("": one tile). Where blocks share the reduced axes (``is_spread``) no leaf waits for another. Of axes ``looped`` a
    tile has a piece.
    """

    target: TargetSpec
    ranges: dict[str, tuple[int, int]]
    lifetime: str
    is_spread: bool
    row_multiple: int = 1
    looped: frozenset[str] = frozenset()

    def of(self, node: AscNode, walk: tuple[str, ...], nest: Nest) -> Accumulator:
        """Return where reduction ``node`` of a segment that walks ``walk`` keeps its partial results.

        Each result that is open has ``partials`` elements, and a stack of finished subtrees with one for each level of
        the tree. On a CPU a row of reduced elements makes one result after the other, in registers; where whole rows
        are joined, all results along the innermost axis are open. A vector core works on all results of a tile at once.
        """
        vectorised = {axis.name: axis for axis in nest.vectorised}
        reduced = reduced_axes(node)
        if self.target.kind is not TargetKind.CPU:
            return self._on_vectors(node, walk, nest)
        if vectorised[walk[-1]].root in reduced:
            return Accumulator(Placement(node.name, Location.REGISTER), None)
        open_results = vectorised[walk[-1]].size
        return self._buffer(node, self._row(node, open_results) * (tree_of(node).partials + self._levels(node, nest)))

    def _on_vectors(self, node: AscNode, walk: tuple[str, ...], nest: Nest) -> Accumulator:
        """A vector for the partial results of each result, behind them the stack; rows of partial results if need be.

        Rows of results start at whole blocks, as they do elsewhere.
        """
        reduced = reduced_axes(node)
        kept = [axis.size for axis in nest.vectorised if axis.name in walk and axis.root not in reduced]
        open_results = product(kept)
        is_down = nest.vectorised[-1].root not in reduced
        if kept and (is_down or len(kept) > 1):
            kept[-1] = rounded_up(kept[-1], self.row_multiple)
        row, partials = self._row(node, product(kept)), tree_of(node).partials
        joins_vectors = not is_down and partials > 1
        vectors = self._row(node, open_results * partials) if joins_vectors else row * partials
        return self._buffer(node, vectors + row * self._levels(node, nest))

    def of_joined(self, node: AscNode, source: AscNode, nest: Nest) -> Accumulator:
        """Return where ``node``, which joins the leaves of reduction ``source``, keeps the subtrees that wait."""
        kept = [axis.size for axis in nest.varying(node)]
        if kept:
            kept[-1] = rounded_up(kept[-1], self.row_multiple)
        return self._buffer(node, self._row(node, product(kept)) * self._waiting(leaves_of(source, nest)))

    def of_scan(self, node: AscNode, walk: tuple[str, ...], nest: Nest) -> Accumulator:
        """Return where scan ``node`` keeps what its lines have come to.

        On a CPU these are those lines that are open at once: one for each point of the axes inside of its own. A vector
        core finds it in the results of the tile; where that has a piece of each line, it is kept for the next one.
        """
        vectorised = {axis.name: axis for axis in nest.vectorised}
        walked = [vectorised[name] for name in walk]
        at = next((i for i, axis in enumerate(walked) if axis.root == node.attr("axis")), len(walked))
        sizes = [axis.size for axis in walked[at + 1 :]]
        if self.target.kind is not TargetKind.CPU:
            if node.attr("axis") not in self.looped:
                return Accumulator(Placement(node.name, Location.REGISTER), None)
            if sizes:
                sizes[-1] = rounded_up(sizes[-1], self.row_multiple)
            sizes += [axis.size for axis in walked[:at]]
        elif not sizes:
            return Accumulator(Placement(node.name, Location.REGISTER), None)
        return self._buffer(node, self._row(node, product(sizes)))

    def _levels(self, node: AscNode, nest: Nest) -> Dim:
        """How many subtrees may wait; none where no leaf waits for another."""
        return const(0) if self.is_spread else self._waiting(leaves_of(node, nest))

    def _waiting(self, leaves: Dim) -> Dim:
        """How many subtrees may wait while ``leaves`` come one by one."""
        most = max(1, bounds(leaves, self.ranges)[1]).bit_length()
        return const(most) if self.target.kind is TargetKind.CPU else dim_min(const(most), dim_max(leaves, const(1)))

    def _row(self, node: AscNode, elements: Dim) -> Dim:
        """The bytes of ``elements`` of the type of ``node``, in whole blocks."""
        return rounded_up(elements * node.dtype.itemsize, self.target.block_bytes)

    def _buffer(self, node: AscNode, size: Dim) -> Accumulator:
        name = f"{node.name}_acc"
        buffer = Buffer(name, Location.LOCAL, QueuePosition.VECCALC, size, 1, None, self.lifetime)
        return Accumulator(Placement(node.name, Location.LOCAL, name), buffer)
