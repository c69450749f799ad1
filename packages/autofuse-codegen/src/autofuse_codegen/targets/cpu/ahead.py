"""Fetching ahead: while later segments of a tile compute from the cache, memory brings the rows of the next one.

segment 0   x = Load; m = Max x          waits for memory
segment 1   x.1 = Load (resident) ...    computes, and fetches x of the next tile
"""

from autofuse_ir.asc_graph import AscNode, Axis, AxisKind, Bounds
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import ImplGraph, Phase, Segment

from autofuse_codegen.kernel.addresses import address


def fetched_ahead(impl: ImplGraph, phase: Phase) -> tuple[tuple[str, ...], ...]:
    """Return for each segment of ``phase`` the Loads whose elements of the next tile it should fetch.

    Those are rows that an earlier segment reads with step 1. Nothing is fetched where later segments read memory
    themselves: a phase keeps its rows at hand when all of them are ``resident`` there.
    """
    nodes = {node.name: node for node in impl.nodes}
    tile = tile_axis(impl, phase)
    found: list[list[str]] = [[] for _ in phase.segments]
    if tile is None:
        return tuple(map(tuple, found))
    is_first = True
    for number, segment in enumerate(phase.segments):
        if not segment.axes or segment.axes[-1] == tile.name:
            continue  # one value a row: few bytes
        loads = [nodes[name] for name in segment.nodes if nodes[name].op == "Load" and _moves(nodes[name], tile)]
        if not is_first and any(load.attr("resident") is not True for load in loads):
            return tuple(() for _ in phase.segments)
        is_first = is_first and not loads
        later = [n for n in range(number + 1, len(phase.segments)) if phase.segments[n].axes == segment.axes]
        for load in loads if later else ():
            if load.attr("resident") is not True and _is_row(load, impl, segment):
                found[min(later, key=lambda n: (len(found[n]), n))].append(load.name)
    return tuple(map(tuple, found))


def tile_axis(impl: ImplGraph, phase: Phase) -> Axis | None:
    """Return the axis whose rows are one tile of ``phase``; None where nothing is split."""
    axes = {axis.name: axis for axis in impl.axes}
    walked = dict.fromkeys(name for segment in phase.segments for name in segment.axes)
    inner = [axes[name] for name in walked if axes[name].kind is AxisKind.TILE_INNER]
    return inner[0] if len(inner) == 1 else None


def distance(load: AscNode, tile: Axis) -> Dim:
    """Return how many elements farther the next tile starts in the data of ``load``."""
    assert load.access is not None
    return address(load.access).step_along(tile.root) * tile.size


def _moves(load: AscNode, tile: Axis) -> bool:
    return load.access is not None and distance(load, tile) != const(0)


def _is_row(load: AscNode, impl: ImplGraph, segment: Segment) -> bool:
    strip = next(axis for axis in impl.axes if axis.name == segment.axes[-1])
    assert load.access is not None
    is_plain = load.access.bounds is Bounds.INSIDE and len(load.inputs) == 1
    return is_plain and address(load.access).step_along(strip.root) == const(1)
