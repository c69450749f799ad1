"""The static filter: drop what provably never fits local memory, with its bytes, and what could never pay."""

from collections.abc import Sequence
from math import prod

from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import const
from autofuse_ir.dims_eval import bounds
from autofuse_ir.reduction import reduced_axes
from autofuse_ir.schedule import Dropped, ImplGraph, Location, local_bytes, resident_bytes
from autofuse_ir.target import TargetKind, TargetSpec

HELD_FORMS = {
    "general": ("held", "held-rows", "held-pieces"),
    "all-load": ("all-load-held",),
    "common": ("common-held",),
}
"""Templates whose tiles others walk, too, and keep what the tiles share; blocks can have the same tiles."""

MOST_CORES = 256
"""Kept elements that keep all cores of any machine busy, so that none need share one."""


def never_fits(impl: ImplGraph, target: TargetSpec, ranges: dict[str, tuple[int, int]]) -> Dropped | None:
    """Return why ``impl`` can never run: even the smallest tile at the smallest sizes needs too much local memory."""
    need = local_bytes(impl.buffers) + resident_bytes(impl)
    smallest = {variable.name: (variable.lo, variable.lo) for variable in impl.tile_variables}
    least, _ = bounds(need, {**ranges, **smallest})
    available = target.tile_bytes
    if least <= available:
        return None
    return Dropped(
        template=impl.template,
        case=impl.case.name,
        reason=f"the smallest tile needs {least} bytes of local memory, {available} are usable",
        bytes_needed=need,
        bytes_available=available,
    )


def is_superfluous(impl: ImplGraph, target: TargetSpec, ranges: dict[str, tuple[int, int]]) -> Dropped | None:
    """Return why ``impl`` is never better than another implementation: no row is walked twice, or cores suffice."""
    by_name = {axis.name: axis for axis in impl.axes}
    roots = tuple(by_name[name] for name in impl.roots)
    # A unified buffer takes rows in pieces only where blocks share kept axes.
    has_pieces = target.kind is TargetKind.CPU or impl.case.split
    if impl.template in ("all-load", "all-load-held") and has_pieces and _has_one_sweep(impl):
        return Dropped(impl.template, impl.case.name, "the tile is walked once, as in the common template")
    if impl.template == "r-core":
        return _needs_no_cores(impl, target, roots, ranges)
    return None


def is_beaten(impl: ImplGraph, others: Sequence[ImplGraph], ranges: dict[str, tuple[int, int]]) -> Dropped | None:
    """Return why ``impl`` is never better than one of ``others``: that makes once what ``impl`` makes in every tile.

    Its tiles and their order are the same, and it provably takes no more local memory.
    """
    for other in others:
        if other.template not in HELD_FORMS.get(impl.template, ()) or other.case != impl.case:
            continue
        if _most_copies(other) < _most_copies(impl):
            continue
        more = local_bytes(other.buffers) - local_bytes(impl.buffers)
        tiles = {v.name: (v.lo, max(v.lo, bounds(v.hi, ranges)[1])) for v in impl.tile_variables}
        if bounds(more, {**ranges, **tiles})[1] <= 0:
            return Dropped(impl.template, impl.case.name, f"{other.template} makes once what is the same in all tiles")
    return None


def _most_copies(impl: ImplGraph) -> int:
    return max((buffer.copies for buffer in impl.buffers), default=1)


def _has_one_sweep(impl: ImplGraph) -> bool:
    swept = {axis for node in impl.nodes for axis in reduced_axes(node)}
    nodes = {node.name: node for node in impl.nodes}
    places = [impl.roots.index(axis) for axis in swept]
    local = {p.node for p in impl.placements if p.location is Location.LOCAL}
    held = any(any(nodes[name].repeats[at] != const(1) for at in places) for name in local)
    return not held and resident_bytes(impl) == const(0)


def _needs_no_cores(
    impl: ImplGraph, target: TargetSpec, roots: tuple[Axis, ...], ranges: dict[str, tuple[int, int]]
) -> Dropped | None:
    reductions = [node for node in impl.nodes if reduced_axes(node)]
    swept = {axis for node in reductions for axis in reduced_axes(node)}
    kept = [bounds(axis.size, ranges)[0] for axis in roots if axis.name not in swept]
    if kept and impl.roots[-1] not in swept:
        kept[-1] //= min(max(1, kept[-1]), _least_results(impl, target))
    if prod(kept) >= (target.cores or MOST_CORES):
        return Dropped(impl.template, impl.case.name, f"there are {prod(kept)} rows or more, enough for all cores")
    whole = {name for segment in impl.phases[0].segments for name in segment.axes}
    around = [i for i, root in enumerate(impl.roots) if root not in swept and root not in whole]
    if any(node.repeats[i] == const(1) for node in reductions for i in around):
        return Dropped(impl.template, impl.case.name, "blocks would make the same results")
    shared = next(v for v in impl.tile_variables if v.axis in _shared_halves(impl))
    _, longest = bounds(shared.hi, ranges)
    if longest <= shared.multiple:
        what = f"{longest} elements are one leaf of {shared.multiple}, for one block"
        return Dropped(impl.template, impl.case.name, what)
    return None


def _least_results(impl: ImplGraph, target: TargetSpec) -> int:
    """Return how many columns a core should have at least: copy engines move whole lines of them."""
    if target.kind is TargetKind.CPU:
        return 1
    widest = max(node.dtype.itemsize for node in impl.nodes if node.access is not None)
    return max(1, target.cache_line_bytes // widest)


def _shared_halves(impl: ImplGraph) -> tuple[str, ...]:
    """Return the halves of splits whose sizes say what a block has of reduced axes."""
    ranges = tuple(axis.name for axis in impl.axes if axis.kind is AxisKind.RANGE_INNER)
    return ranges or tuple(axis.name for axis in impl.axes if axis.kind is AxisKind.TILE_INNER)
