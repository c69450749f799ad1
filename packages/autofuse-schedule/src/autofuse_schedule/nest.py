"""The loop nest of one tiling case, and which values vary along which of its axes."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dims import const


@frozen
class Nest:
    """Root axes and the vectorised axes (a tile's inner half, or whole root axes) from outer to inner."""

    roots: tuple[Axis, ...]
    vectorised: tuple[Axis, ...]

    def varying(self, node: AscNode) -> tuple[Axis, ...]:
        """Return the vectorised axes along which the value of ``node`` varies."""
        return tuple(axis for axis in self.vectorised if self._varies(node, axis))

    def _varies(self, node: AscNode, axis: Axis) -> bool:
        position = next(i for i, candidate in enumerate(self.roots) if candidate.name == axis.root)
        return node.repeats[position] != const(1)
