"""Predicted cycles of an ImplGraph, per pipe, for its busiest block.

Form (as in the original's model): ``head + max(MTE2, VEC, MTE3)``. A block runs ``share`` tiles; each tile moves its
Loads' and Stores' bytes and evaluates its nodes. The costs come from the TargetSpec alone.

On a CPU the pipe called VEC also pays for what a core fetches from its caches (`autofuse_tiling.model.cached`).
"""

from attrs import evolve
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, dim_min, le, product, select, total
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Location, QueuePosition, Sync
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_ir.tiling import CostTerm, PipeCost

from autofuse_tiling.model.cached import cache_terms
from autofuse_tiling.model.copies import copy_terms, picked_terms, pipe_heads
from autofuse_tiling.model.reductions import joins_rows, row_terms
from autofuse_tiling.model.scans import is_scan, scan_terms
from autofuse_tiling.model.speeds import SCALE, speed
from autofuse_tiling.model.strided import traffic_of
from autofuse_tiling.model.walks import Walk, rereads, walks_of


def pipe_costs(impl: ImplGraph, target: TargetSpec) -> tuple[PipeCost, ...]:
    """Return the cycles of the pipes that fill local memory (MTE2), compute (VEC) and drain it (MTE3).

    Where no buffer has a second copy, they wait for one another: all counts as one pipe. A CPU reads and writes over
    one bus, which is its pipe "memory".
    """
    walks = tuple(walk for walk in walks_of(impl) if not _is_serial(walk))
    if _overlaps(impl, target):
        walks = tuple(evolve(walk, tiles=dim_max(walk.tiles - 1, const(0))) for walk in walks)
    return tuple(PipeCost(pipe, _combined(terms)) for pipe, terms in _pipes(impl, walks, target))


def _pipes(
    impl: ImplGraph, walks: tuple[Walk, ...], target: TargetSpec
) -> tuple[tuple[str, tuple[CostTerm, ...]], ...]:
    fill, vector, drain = _fill(walks, target), _vector(walks, target), _drain(walks, target)
    if target.kind is TargetKind.CPU:
        return ("memory", (*fill, *drain)), ("VEC", vector)
    if not _overlaps(impl, target):
        return (("VEC", (*fill, *vector, *drain)),)
    return ("MTE2", fill), ("VEC", vector), ("MTE3", drain)


def _overlaps(impl: ImplGraph, target: TargetSpec) -> bool:
    """True where pipes work on several tiles at a time: all but the first, which goes through them one by one."""
    queues = [b for b in impl.buffers if b.position is not QueuePosition.VECCALC and b.location is Location.LOCAL]
    return target.kind is TargetKind.ASCEND and any(buffer.copies > 1 for buffer in queues)


def _combined(terms: tuple[CostTerm, ...]) -> tuple[CostTerm, ...]:
    """Return ``terms`` with one for each count and divisor: nodes of one shape cost what they cost together."""
    found: dict[tuple[Dim, Dim], float] = {}
    for term in terms:
        place = term.count, term.divisor
        found[place] = found.get(place, 0.0) + term.coefficient
    return tuple(CostTerm(coefficient, count, divisor) for (count, divisor), coefficient in found.items())


def head_cost(impl: ImplGraph, target: TargetSpec) -> tuple[CostTerm, ...]:
    """Return the cycles before any block works: handing out blocks costs nothing when there is only one.

    A CPU hands them out anew for each phase after one that all blocks wait for; even alone a block starts each one. An
    NPU starts its cores one after the other; each time that they meet takes some time more. What one block does while
    all others wait counts here, too, and so does the first tile of a core, which goes through its pipes one by one.
    """
    blocks = blocks_of(impl)
    waits = sum(phase.sync is Sync.ALL for phase in impl.phases)
    if target.kind is TargetKind.ASCEND:
        found = [CostTerm(target.quantity("core_launch_cycles"), blocks, const(1))]
        if waits:
            found.append(CostTerm(target.quantity("sync_cycles"), const(waits), const(1)))
    else:
        launches = sum(1 for phase in impl.phases if phase.block is not None)
        more_than_one = dim_min(dim_max(blocks - 1, const(0)), const(1))
        found = [CostTerm(target.quantity("launch_cycles"), more_than_one * max(1, launches), const(1))]
        if waits:
            found.append(CostTerm(target.quantity("tile_cycles"), const(waits), const(1)))
    walks = tuple(walks_of(impl))
    serial = tuple(walk for walk in walks if _is_serial(walk))
    if target.kind is TargetKind.ASCEND:
        found += pipe_heads(walks, target, blocks)
    if _overlaps(impl, target):
        first = (evolve(walk, tiles=dim_min(walk.tiles, const(1))) for walk in walks if walk not in serial)
        serial = (*serial, *first)
    return _combined((*found, *_fill(serial, target), *_vector(serial, target), *_drain(serial, target)))


def _is_serial(walk: Walk) -> bool:
    """True for the part of a kernel that runs in one block between parts of many."""
    phases = walk.impl.phases
    return phases[walk.phase].block is None and any(phase.block is not None for phase in phases)


def _fill(walks: tuple[Walk, ...], target: TargetSpec) -> tuple[CostTerm, ...]:
    if target.kind is TargetKind.CPU:
        return tuple(term for walk, again in rereads(walks) for term in _reads(walk, again, target))
    joined = [CostTerm(float(SCALE), size * walk.tiles, speed(target, "bytes_per_cycle_read"))
              for walk in walks for size in _leaf_bytes(walk)]  # fmt: skip
    return (*(term for walk in walks for term in _movement(walk, "Load", target)), *joined)


def _vector(walks: tuple[Walk, ...], target: TargetSpec) -> tuple[CostTerm, ...]:
    compute = tuple(term for number, walk in enumerate(walks) for term in _compute(walk, number, target))
    if target.kind is TargetKind.ASCEND:
        return (*compute, *(term for walk in walks for term in picked_terms(walk, target, by_vector=True)))
    if walks:
        return (*compute, *cache_terms(walks[0].impl, walks, target), *_scattered(walks, target))
    return compute


def _scattered(walks: tuple[Walk, ...], target: TargetSpec) -> tuple[CostTerm, ...]:
    """Elements that are loaded or stored one by one."""
    found = total(
        traffic_of(walk, node, target).scattered * walk.tiles
        for walk in walks
        for node in walk.nodes
        if node.access is not None
    )
    return (CostTerm(target.quantity("gather_cycles"), found, const(1)),) if found != const(0) else ()


def _drain(walks: tuple[Walk, ...], target: TargetSpec) -> tuple[CostTerm, ...]:
    return tuple(term for walk in walks for term in _movement(walk, "Store", target))


def blocks_of(impl: ImplGraph) -> Dim:
    """Return the number of blocks launched: the most that a phase has."""
    sizes = {axis.name: axis.size for axis in impl.axes}
    counts = dict.fromkeys(const(1) if phase.block is None else sizes[phase.block] for phase in impl.phases)
    return dim_max(*counts) if counts else const(1)


def _movement(walk: Walk, op: str, target: TargetSpec) -> tuple[CostTerm, ...]:
    moved = [node for node in walk.nodes if node.op == op]
    if target.kind is TargetKind.ASCEND:
        blocks = blocks_of(walk.impl)
        copies = tuple(term for node in moved for term in copy_terms(walk, node, target, blocks))
        return (*copies, *picked_terms(walk, target)) if op == "Load" else copies
    bandwidth = speed(target, "bytes_per_cycle_read" if op == "Load" else "bytes_per_cycle_write")
    sizes = [traffic_of(walk, node, target).bytes for node in moved]
    terms = [CostTerm(float(SCALE), size * walk.tiles, bandwidth) for size in sizes]
    if moved:
        terms.append(CostTerm(target.quantity("tile_cycles") * len(moved), walk.tiles, const(1)))
    return tuple(terms)


def _reads(walk: Walk, again: frozenset[str], target: TargetSpec) -> tuple[CostTerm, ...]:
    """What a CPU core reads from memory, or once more (``again``) from the last cache where the tile fits there.

    Data that is the same for all tiles is read once. Each piece of a row that the tile cuts off costs a start.
    """
    memory = speed(target, "bytes_per_cycle_read")
    held = total(walk.elements(node) * node.dtype.itemsize for node in walk.nodes if node.name in again)
    fits = le(held, const(round(target.quantity("last_level_bytes"))))
    nearer = select(fits, speed(target, "last_level_bytes_per_cycle"), memory)
    terms = []
    moved = [node for node in walk.nodes if node.op == "Load" and not node.attr("resident", False)]
    for node in moved:
        times = const(1) if walk.is_same_in_all_tiles(node) else walk.tiles
        pace = nearer if node.name in again else memory
        terms.append(CostTerm(float(SCALE), traffic_of(walk, node, target).bytes * times, pace))
        if walk.is_cut != const(0) and walk.varies_along_strips(node):
            pieces = product(axis.size for axis in walk.axes[:-1] if walk.varies(node, axis.root))
            terms.append(CostTerm(target.quantity("row_start_cycles"), pieces * walk.is_cut * times, const(1)))
    if moved:
        terms.append(CostTerm(target.quantity("tile_cycles") * len(moved), walk.tiles, const(1)))
    return tuple(terms)


def _compute(walk: Walk, number: int, target: TargetSpec) -> tuple[CostTerm, ...]:
    terms: list[CostTerm] = []
    for node in walk.nodes:
        if node.op in ("Load", "Store"):
            continue
        if is_scan(node) and target.kind is TargetKind.ASCEND:
            terms += scan_terms(walk, node, target)
            continue
        if joins_rows(walk, node, target):
            terms += row_terms(walk, node, target)
            continue
        cost = target.cost_of(node.op, node.dtype)
        elements = walk.joined(node) if reduced_axes(node) else walk.elements(node)
        terms.append(CostTerm(cost.per_element, elements * walk.tiles, const(1)))
        if cost.per_call:
            terms.append(CostTerm(cost.per_call, walk.tiles, const(1)))
    terms += _joins(walk, target)
    if target.kind is TargetKind.CPU:
        rows = product(axis.size for axis in walk.axes[:-1])
        strips = ceildiv(walk.axes[-1].size, const(_lanes(walk.impl, target))) if walk.axes else const(1)
        row_cycles = target.quantity("row_cycles")
        terms.append(CostTerm(row_cycles * (1 + 2 * _in_registers(walk)), rows * walk.tiles, const(1)))
        terms.append(CostTerm(1.0, rows * strips * walk.tiles, const(1)))
        if number:
            terms.append(CostTerm(row_cycles, walk.tiles, const(1)))
    return tuple(terms)


def _in_registers(walk: Walk) -> int:
    """Reductions of the segment that fold their partial results at the end of each row."""
    kept = {place.node for place in walk.impl.accumulators if place.location is Location.REGISTER}
    return sum(name in kept for name in walk.segment.nodes)


def _joins(walk: Walk, target: TargetSpec) -> tuple[CostTerm, ...]:
    """Readers of a reduction in workspace join the results of its leaves, one operation each; vectors of them on UB."""
    terms: list[CostTerm] = []
    for node, leaves in _leaves(walk):
        cycles = 1.0 if target.kind is TargetKind.CPU else target.cost_of(node.op, node.dtype).per_element
        terms.append(CostTerm(cycles, leaves * walk.tiles, const(1)))
    return tuple(terms)


def _leaf_bytes(walk: Walk) -> tuple[Dim, ...]:
    """Return the bytes of those results, which copy engines fetch."""
    return tuple(leaves * node.dtype.itemsize for node, leaves in _leaves(walk))


def _leaves(walk: Walk) -> tuple[tuple[AscNode, Dim], ...]:
    """Return the reductions in workspace that the segment reads, and how many results of leaves a tile joins."""
    impl = walk.impl
    spread = {place.node for place in impl.placements if place.location is Location.WORKSPACE}
    read = dict.fromkeys(name for node in walk.nodes for name in node.inputs if name in spread)
    sizes = {axis.name: axis.size for axis in impl.axes}
    return tuple(
        (node, walk.elements(node) * ceildiv(product(sizes[a] for a in reduced_axes(node)), const(tree_of(node).leaf)))
        for node in impl.nodes
        if node.name in read
    )


def _lanes(impl: ImplGraph, target: TargetSpec) -> int:
    widest = max((n.dtype.itemsize for n in impl.nodes if n.op in ("Load", "Store")), default=4)
    return max(1, target.vector_bytes // widest)
