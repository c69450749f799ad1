"""Places for values: registers inside a segment, local buffers across segments, with reuse and in place."""

from attrs import frozen

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.schedule import Buffer, Location, Placement, QueuePosition, Segment
from autofuse_ir.target import TargetSpec

from autofuse_schedule.lifetime import Lifetime, lifetimes
from autofuse_schedule.nest import Nest


@frozen
class Allocation:
    """Buffers and where each value lives."""

    buffers: tuple[Buffer, ...]
    placements: tuple[Placement, ...]


def allocate(nodes: tuple[AscNode, ...], segments: tuple[Segment, ...], nest: Nest, target: TargetSpec) -> Allocation:
    """Place every evaluated node's value.

    A value read only by its own segment stays in registers. Others get a local buffer of one tile: double-buffered
    where a copy engine fills or drains it, and taken over from a dead buffer of the same size where one is free (which
    includes in place: the input that dies at the very segment that makes the value, element by element).
    """
    by_name = {n.name: n for n in nodes}
    spans = lifetimes(by_name, segments)
    buffers: list[Buffer] = []
    placements: list[Placement] = []
    free_from: dict[str, int] = {}
    for name, span in spans.items():
        node = by_name[name]
        if node.op == "Store":
            placements.append(Placement(name, Location.GLOBAL))
            continue
        if span.first == span.last:
            placements.append(Placement(name, Location.REGISTER))
            continue
        size = _tile_bytes(node, nest, target.block_bytes)
        position = _position(node, by_name, spans)
        reuses = _dead_buffer(buffers, free_from, size, position, span)
        buffer = Buffer(
            name=f"{name}_buf",
            location=Location.LOCAL,
            position=position,
            bytes=size,
            copies=1 if position is QueuePosition.VECCALC else 2,
            reuses=reuses,
        )
        buffers.append(buffer)
        free_from[buffer.name] = span.last
        if reuses is not None:
            free_from[reuses] = span.last + len(segments)
        placements.append(Placement(name, Location.LOCAL, buffer.name))
    return Allocation(tuple(buffers), tuple(placements))


def local_bytes(buffers: tuple[Buffer, ...]) -> Dim:
    """Return the local memory all ``buffers`` take together; one that reuses another adds nothing."""
    return sum((b.bytes * b.copies for b in buffers if b.reuses is None), const(0))


def _tile_bytes(node: AscNode, nest: Nest, granule: int) -> Dim:
    """Bytes of the node's value over one tile, rounded up to the local memory's alignment."""
    elements = product(axis.size for axis in nest.varying(node))
    return ceildiv(elements * node.dtype.itemsize, const(granule)) * granule


def _position(node: AscNode, nodes: dict[str, AscNode], spans: dict[str, Lifetime]) -> QueuePosition:
    if node.op == "Load":
        return QueuePosition.VECIN
    if any(nodes[reader].op == "Store" for reader in spans[node.name].readers):
        return QueuePosition.VECOUT
    return QueuePosition.VECCALC


def _dead_buffer(
    buffers: list[Buffer], free_from: dict[str, int], size: Dim, position: QueuePosition, span: Lifetime
) -> str | None:
    if position is not QueuePosition.VECCALC:
        return None
    for buffer in buffers:
        same_kind = buffer.position is QueuePosition.VECCALC and buffer.bytes == size
        if same_kind and free_from[buffer.name] <= span.first:
            return buffer.name
    return None
