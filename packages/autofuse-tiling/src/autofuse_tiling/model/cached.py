"""What a CPU core fetches from its caches, in cycles: values kept in local memory, and data that a tile reads again."""

from autofuse_ir.dims import Dim, const, le, select, total
from autofuse_ir.schedule import ImplGraph, Location, local_bytes, resident_bytes
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import CostTerm

from autofuse_tiling.model.speeds import SCALE, speed
from autofuse_tiling.model.walks import Walk


def cache_terms(impl: ImplGraph, walks: tuple[Walk, ...], target: TargetSpec) -> tuple[CostTerm, ...]:
    """Return the cycles of cache traffic: at the speed of the nearest cache where a tile fits there."""
    moved = total(_bytes(impl, walk) * walk.tiles for walk in walks)
    if moved == const(0):
        return ()
    near, middle, far = (
        speed(target, name) for name in ("near_bytes_per_cycle", "cache_bytes_per_cycle", "last_level_bytes_per_cycle")
    )
    held = local_bytes(impl.buffers) + resident_bytes(impl)
    beyond = select(le(held, const(target.local_memory.usable)), middle, far)
    pace = select(le(held, const(round(target.quantity("near_bytes")))), near, beyond)
    return (CostTerm(float(SCALE), moved, pace),)


def _bytes(impl: ImplGraph, walk: Walk) -> Dim:
    """Bytes that one tile of a segment writes to and reads from caches.

    Those are values in local memory, accumulators of whole rows (both ways), and Loads: of what this tile has read
    before, and of what every row of the segment reads again.
    """
    nodes = {node.name: node for node in impl.nodes}
    local = {place.node for place in impl.placements if place.location is Location.LOCAL}
    rows = {place.node for place in impl.accumulators if place.location is Location.LOCAL}
    mine = set(walk.segment.nodes)
    found: list[Dim] = []
    for name in dict.fromkeys(name for node in walk.nodes for name in node.inputs if name in local - mine):
        found.append(walk.elements(nodes[name]) * nodes[name].dtype.itemsize)
    for node in walk.nodes:
        if node.name in local:
            found.append(walk.elements(node) * node.dtype.itemsize)
        if node.name in rows:
            found.append(walk.joined(node) * (2 * node.dtype.itemsize))
        if node.op == "Load" and node.attr("resident", False):
            found.append(walk.elements(node) * node.dtype.itemsize)
        elif node.op == "Load" and walk.is_same_in_all_tiles(node) and walk.varies_along_strips(node):
            found.append(walk.points * node.dtype.itemsize)
    return total(found)
