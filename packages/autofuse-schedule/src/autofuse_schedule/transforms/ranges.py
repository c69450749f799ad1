"""Ranges of reduced elements: blocks share the elements of few results, whole leaves of the reductions' trees each.

before   roots z0, z1, z2                        z0 and z2 are reduced, z1 is kept
after    z0 * z2 -> z0z2                          all that a result joins, numbered
         z0z2 -> z0z2R, z0z2r                     ranges of z0z2r_size elements, which is solved at run time
         z1 * z0z2R -> z1z0z2R                    shared by blocks
         loops (z1z0z2RB bound to blocks, z1z0z2Rb), then z0, z2T; vectorised (z2t): pieces of the range

A range ends anywhere: in its first and last row it has some elements alone (`autofuse_ir.asc_graph.Axis`).
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import ceildiv, product
from autofuse_ir.schedule import TileVariable

from autofuse_schedule.transforms.split import SplitLoops, TileSplit, halved


@frozen
class RangeSplit:
    """How blocks share reduced root axes ``axes``: in ranges of multiples of ``leaf`` of their points.

    ``outside`` are the kept root axes that become loops. ``tile`` splits a kept axis, ``piece`` one of ``axes`` that a
    block takes in pieces, in loops over those outside of it; without it, a range is one tile.
    """

    axes: tuple[str, ...]
    leaf: int
    outside: tuple[str, ...]
    tile: TileSplit | None = None
    piece: TileSplit | None = None


def split_ranges(roots: tuple[Axis, ...], split: RangeSplit, taken: frozenset[str]) -> SplitLoops:
    """Return the loops over ranges of ``split``. ``taken`` are size symbols that tile sizes must not be called."""
    by_name = {root.name: root for root in roots}
    made: list[Axis] = []
    local: list[TileVariable] = []
    inner: dict[str, str] = {}
    outer: dict[str, Axis] = {}
    for tile in (split.tile, split.piece):
        if tile is None:
            continue
        variable, outer[tile.axis], half = halved(
            by_name[tile.axis], (AxisKind.TILE_OUTER, AxisKind.TILE_INNER), ("T", "t"), taken
        )
        made += [outer[tile.axis], half]
        inner[tile.axis] = half.name
        local.append(evolve(variable, multiple=tile.multiple))
    shared = _merged(tuple(by_name[name] for name in split.axes), made)
    variable, ranges, within = halved(shared, (AxisKind.RANGE_OUTER, AxisKind.RANGE_INNER), ("R", "r"), taken)
    ranged = evolve(variable, multiple=split.leaf)
    made += [ranges, within]
    kept = [outer.get(root.name, root) for root in roots if root.name in split.outside or _is(root, split.tile)]
    merged = _merged((*kept, ranges), made)
    share, block, own = halved(merged, (AxisKind.BLOCK_OUTER, AxisKind.BLOCK_INNER), ("B", "b"), taken)
    at = split.axes.index(split.piece.axis) if split.piece is not None else 0
    looped = {*split.outside, *split.axes[:at]}
    loops = SplitLoops(
        axes=(*made, block, own),
        loops=(block.name, own.name),
        block=block.name,
        vectorised=tuple(inner.get(root.name, root.name) for root in roots if root.name not in looped),
        variables=(*local, ranged, share),
        sweep_loops=() if split.piece is None else (*split.axes[:at], outer[split.piece.axis].name),
    )
    return loops if split.tile is None else _with_results(loops, outer[split.tile.axis], own)


def _with_results(loops: SplitLoops, tiles: Axis, own: Axis) -> SplitLoops:
    """Add loops over ``tiles`` of results alone, of which a block has no more than of ranges."""
    made = (
        Axis(f"{tiles.name}B", AxisKind.BLOCK_OUTER, ceildiv(tiles.size, own.size), (tiles.name,)),
        Axis(f"{tiles.name}b", AxisKind.BLOCK_INNER, own.size, (tiles.name,)),
    )
    return evolve(loops, axes=(*loops.axes, *made), result_loops=tuple(axis.name for axis in made))


def _merged(parts: tuple[Axis, ...], made: list[Axis]) -> Axis:
    if len(parts) == 1:
        return parts[0]
    name = "".join(part.name for part in parts)
    made.append(Axis(name, AxisKind.MERGED, product(part.size for part in parts), tuple(part.name for part in parts)))
    return made[-1]


def _is(root: Axis, tile: TileSplit | None) -> bool:
    return tile is not None and tile.axis == root.name
