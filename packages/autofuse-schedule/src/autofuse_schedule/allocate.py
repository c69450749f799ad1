"""Places for values: registers inside a segment, local buffers across segments, with reuse and in place."""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import define, field, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.schedule import Buffer, Location, Placement, QueuePosition, Segment
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_schedule.lifetime import Lifetime, lifetimes
from autofuse_schedule.nest import Nest
from autofuse_schedule.rows import rows_for
from autofuse_schedule.scratch import ScratchNeeds


@frozen
class Allocation:
    """Buffers and where each value lives."""

    buffers: tuple[Buffer, ...]
    placements: tuple[Placement, ...]
    row_multiple: int = 1


def allocate(
    nodes: tuple[AscNode, ...],
    segments: tuple[Segment, ...],
    nests: tuple[Nest, ...],
    target: TargetSpec,
    spread: Mapping[str, Dim] = MappingProxyType({}),
) -> Allocation:
    """Place every evaluated node's value; ``nests`` has the nest of each of ``segments``.

    A value read only by its own segment stays in registers. Others get a local buffer of one tile: double-buffered
    where a copy engine fills or drains it, and taken over from a buffer of the same size that is dead, or that dies in
    place (see ``_Pool``). What operators need besides is one more buffer (`scratch`). Reductions in ``spread`` have
    that many leaf results, in workspace.
    """
    by_name = {n.name: n for n in nodes}
    spans = lifetimes(by_name, segments)
    has_copy_engines = target.kind is TargetKind.ASCEND
    evaluated = tuple(by_name[name] for name in spans)
    rows = rows_for(evaluated, nests, target)
    needs = ScratchNeeds(target)
    pool = _Pool()
    placements: list[Placement] = []
    shared: list[Buffer] = []
    for name, span in spans.items():
        node, nest = by_name[name], nests[span.first]
        if node.op == "Store":
            placements.append(Placement(name, Location.GLOBAL))
        elif name in spread:
            size = product(node.repeats) * spread[name] * node.dtype.itemsize
            size = ceildiv(size, const(target.block_bytes)) * target.block_bytes
            shared.append(Buffer(f"{name}_leaves", Location.WORKSPACE, QueuePosition.VECCALC, size, 1))
            placements.append(Placement(name, Location.WORKSPACE, f"{name}_leaves"))
        elif span.first == span.last:
            placements.append(Placement(name, Location.REGISTER))
        else:
            varying = nest.varying(node)
            is_full = varying == nest.vectorised and not needs.any_for(node)
            layout = _Layout(tuple(a.name for a in varying), node.dtype.itemsize, is_full)
            position = _position(node, by_name, spans) if has_copy_engines else QueuePosition.VECCALC
            size = rows.bytes_of(node, nest)
            pool.take(f"{name}_buf", size, layout, position, span)
            placements.append(Placement(name, Location.LOCAL, f"{name}_buf"))
    placed = tuple((by_name[name], rows.elements_of(by_name[name], nests[span.first])) for name, span in spans.items())
    return Allocation((*pool.buffers, *needs.buffers(placed), *shared), tuple(placements), rows.multiple)


def _position(node: AscNode, nodes: dict[str, AscNode], spans: dict[str, Lifetime]) -> QueuePosition:
    if node.op == "Load":
        return QueuePosition.VECIN
    if any(nodes[reader].op == "Store" for reader in spans[node.name].readers):
        return QueuePosition.VECOUT
    return QueuePosition.VECCALC


@frozen
class _Layout:
    """How a tile's elements lie in a buffer: the axes it varies along, and bytes per element.

    ``is_full``: it varies along all vectorised axes, so each element belongs to one point of the tile; and its operator
    needs no scratch, so that it does not come back to an operand after it has begun to write.
    """

    axes: tuple[str, ...]
    itemsize: int
    is_full: bool


@define
class _Pool:
    """Buffers made so far. A buffer of the vector pipe may take over another one of the same size:

    * when the other's last reader is an earlier segment;
    * in place, when its last reader is the segment that makes the new value and both have one full layout: each strip
      then reads an element before it overwrites that same element. A narrower value is read again by every row or strip
      along the axes it does not vary on, after the first one would have overwritten it.
    """

    buffers: list[Buffer] = field(factory=list)
    _owners: dict[str, tuple[_Layout, int]] = field(factory=dict)

    def take(self, name: str, size: Dim, layout: _Layout, position: QueuePosition, span: Lifetime) -> None:
        """Add a buffer ``name`` for a value that lives over ``span``."""
        reuses = None
        if position is QueuePosition.VECCALC:
            reuses = next((b.name for b in self.buffers if b.bytes == size and self._is_free(b, layout, span)), None)
        copies = 1 if position is QueuePosition.VECCALC else 2
        self.buffers.append(Buffer(name, Location.LOCAL, position, size, copies, reuses))
        self._owners[name] = (layout, span.last)
        if reuses is not None:
            del self._owners[reuses]

    def _is_free(self, buffer: Buffer, layout: _Layout, span: Lifetime) -> bool:
        if buffer.position is not QueuePosition.VECCALC or buffer.name not in self._owners:
            return False
        old_layout, last = self._owners[buffer.name]
        return last < span.first or (last == span.first and layout.is_full and old_layout == layout)
