"""Scratch: local memory that operators work in besides their operands, one buffer for all of them."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const, dim_max
from autofuse_ir.schedule import Buffer, Location, QueuePosition
from autofuse_ir.target import OperatorSupport, TargetSpec

from autofuse_schedule.rows import rounded_up

SCRATCH = "scratch"
"""Name of the buffer, which no placement names."""


@frozen
class ScratchNeeds:
    """What each operator needs on ``target``, from its table."""

    target: TargetSpec

    def any_for(self, node: AscNode) -> bool:
        """True where ``node`` works in scratch, so that its result may not take the place of an operand."""
        each, fixed = self._bytes(node)
        return each > 0 or fixed > 0

    def buffers(self, placed: tuple[tuple[AscNode, Dim], ...]) -> tuple[Buffer, ...]:
        """Return the buffer for nodes with that many elements in a tile: as large as the largest need."""
        per_shape: dict[Dim, tuple[int, int]] = {}
        for node, elements in placed:
            if self.any_for(node):
                each, fixed = self._bytes(node)
                most = per_shape.get(elements, (0, 0))
                per_shape[elements] = max(each, most[0]), max(fixed, most[1])
        if not per_shape:
            return ()
        need = const(0)
        for elements, (each, fixed) in per_shape.items():
            need = dim_max(need, elements * each + fixed)
        size = rounded_up(need, self.target.block_bytes)
        return (Buffer(SCRATCH, Location.LOCAL, QueuePosition.VECCALC, size, 1),)

    def _bytes(self, node: AscNode) -> tuple[int, int]:
        """Bytes for each element, and besides: those of the operator's row, and what a composed one states."""
        row = self._row(node)
        each, fixed = (row.temporary_bytes_per_element, row.temporary_bytes) if row is not None else (0, 0)
        stated = node.attr("scratch", 0)
        assert isinstance(stated, int)
        return each, fixed + stated

    def _row(self, node: AscNode) -> OperatorSupport | None:
        return next((row for row in self.target.support if row.op == node.op), None)
