"""The loop nest of one tiling case, and which values vary along which of its axes."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dims import const


@frozen
class Nest:
    """Root axes and the vectorised axes (a tile's inner half, or whole root axes) of one phase, in root order."""

    roots: tuple[Axis, ...]
    vectorised: tuple[Axis, ...]

    def varying(self, node: AscNode) -> tuple[Axis, ...]:
        """Return the vectorised axes along which the value of ``node`` varies."""
        return tuple(axis for axis in self.vectorised if self._varies(node, axis))

    def walk(self, roots: tuple[str, ...], reduced: frozenset[str]) -> tuple[str, ...]:
        """Return the vectorised axes of ``roots`` in the order in which a segment walks them, outer to inner.

        Where the innermost is among ``reduced``, all reduced ones come last: one row of elements makes one value.
        Otherwise it stays innermost behind them: rows are joined as a whole.
        """
        inside = [axis for axis in self.vectorised if axis.root in roots]
        if not inside or not reduced:
            return tuple(axis.name for axis in inside)
        last = inside[-1:] if inside[-1].root not in reduced else []
        outer = [axis for axis in inside if axis not in last]
        kept = [axis for axis in outer if axis.root not in reduced]
        joined = [axis for axis in outer if axis.root in reduced]
        return tuple(axis.name for axis in (*kept, *joined, *last))

    def _varies(self, node: AscNode, axis: Axis) -> bool:
        position = next(i for i, candidate in enumerate(self.roots) if candidate.name == axis.root)
        return node.repeats[position] != const(1)
