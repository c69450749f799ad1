"""Tile split and block split: from root axes to the loops of one tiling case.

before   roots z0, z1, z2                        (case: split z1)
after    z1 -> z1T, z1t                           tile split; z1t_size is solved at run time
         z0 * z1T -> z0z1T                        outer axes merge
         z0z1T -> z0z1TB, z0z1Tb                  block split; z0z1Tb_size is solved at run time
         loops (z0z1TB bound to blocks, z0z1Tb), vectorised (z1t, z2)
"""

from attrs import evolve, frozen
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, product, symbol
from autofuse_ir.schedule import TileRole, TileVariable


@frozen
class TileSplit:
    """How to split root axis ``axis`` for the tile: in multiples of ``multiple``, ``most`` at most (None: all of it).

    ``outside`` are the root axes that become loops around it; all others are walked whole, inside of the tile.
    """

    axis: str
    outside: tuple[str, ...]
    multiple: int = 1
    most: Dim | None = None


@frozen
class SplitLoops:
    """The axes of one case: all new ``axes`` (parents first), ``loops``, ``block`` axis, ``vectorised`` axes.

    ``vectorised`` follow the order of the roots; ``sweep_loops`` go around those sweeps that take reduced axes in
    pieces, ``result_loops`` around what is done with results alone where blocks share reduced axes, the first of them
    bound to blocks. ``walks`` has the root axes that each of ``loops`` decides about.
    """

    axes: tuple[Axis, ...]
    loops: tuple[str, ...]
    block: str | None
    vectorised: tuple[str, ...]
    variables: tuple[TileVariable, ...]
    sweep_loops: tuple[str, ...] = ()
    result_loops: tuple[str, ...] = ()
    walks: tuple[frozenset[str], ...] = ()


def split_nest(roots: tuple[Axis, ...], tile: TileSplit | None, taken: frozenset[str]) -> SplitLoops:
    """Split one root axis for the tile and spread it and everything outside of it over blocks.

    Without ``tile`` the whole nest is one tile of one block. ``taken`` are size symbols of the model, which tile sizes
    must not be called.
    """
    if tile is None:
        return SplitLoops((), (), None, tuple(axis.name for axis in roots), ())
    return _split(roots, (tile,), tile.outside, taken)


def split_square(roots: tuple[Axis, ...], tiles: tuple[TileSplit, ...], taken: frozenset[str]) -> SplitLoops:
    """Split the root axes of ``tiles`` for the tile and spread all loops, which all other axes become, over blocks."""
    names = [tile.axis for tile in tiles]
    return _split(roots, tiles, tuple(axis.name for axis in roots if axis.name not in names), taken)


def split_in_block(
    roots: tuple[Axis, ...], tile: TileSplit, within: frozenset[str], taken: frozenset[str]
) -> SplitLoops:
    """Split as `split_nest` does, but each block goes through root axes ``within`` in innermost loops of its own.

    Of the outermost one it takes a range: blocks share those ranges, and everything else around the tile.
    """
    return _split(roots, (tile,), tile.outside, taken, within)


def _split(
    roots: tuple[Axis, ...],
    tiles: tuple[TileSplit, ...],
    outside: tuple[str, ...],
    taken: frozenset[str],
    within: frozenset[str] = frozenset(),
) -> SplitLoops:
    """Split the axes of ``tiles``; spread their outer halves and axes ``outside`` over blocks, if not ``within``."""
    made: list[Axis] = []
    variables: list[TileVariable] = []
    halves: dict[str, tuple[Axis, Axis]] = {}
    for tile in tiles:
        axis = next(axis for axis in roots if axis.name == tile.axis)
        variable, outer, inner = halved(axis, (AxisKind.TILE_OUTER, AxisKind.TILE_INNER), ("T", "t"), taken)
        halves[axis.name] = outer, inner
        made += [outer, inner]
        most = variable.hi if tile.most is None else tile.most
        variables.append(evolve(variable, hi=most, multiple=tile.multiple))
    around = {root.name: halves[root.name][0] if root.name in halves else root for root in roots
              if root.name in halves or root.name in outside}  # fmt: skip
    parts = [axis for name, axis in around.items() if name not in within]
    inside = {name: axis for name, axis in around.items() if name in within}
    shared = frozenset(around) - within
    if inside:
        ranged = next(iter(inside))
        variable, outer, inner = halved(inside[ranged], (AxisKind.BLOCK_OUTER, AxisKind.BLOCK_INNER), ("B", "b"), taken)
        made += [outer, inner]
        variables.append(variable)
        parts.append(outer)
        inside[ranged] = inner
        shared |= {ranged}
    if len(parts) > 1:
        name = "".join(part.name for part in parts)
        merged = Axis(name, AxisKind.MERGED, product(p.size for p in parts), tuple(p.name for p in parts))
        made.append(merged)
    else:
        (merged,) = parts
    variable, block, own = halved(merged, (AxisKind.BLOCK_OUTER, AxisKind.BLOCK_INNER), ("B", "b"), taken)
    return SplitLoops(
        axes=(*made, block, own),
        loops=(block.name, own.name, *(axis.name for axis in inside.values())),
        block=block.name,
        vectorised=tuple(
            halves[root.name][1].name if root.name in halves else root.name
            for root in roots
            if root.name not in outside
        ),
        variables=(*variables, variable),
        walks=(shared, shared, *(frozenset({name}) for name in inside)),
    )


def halved(
    axis: Axis, kinds: tuple[AxisKind, AxisKind], marks: tuple[str, str], taken: frozenset[str]
) -> tuple[TileVariable, Axis, Axis]:
    """Return the two halves of ``axis``, named by ``marks``, and the variable that sizes the inner one."""
    outer_kind, inner_kind = kinds
    outer_mark, inner_mark = marks
    name = _unused(f"{axis.name}{inner_mark}_size", taken)
    outer = Axis(f"{axis.name}{outer_mark}", outer_kind, ceildiv(axis.size, symbol(name)), (axis.name,))
    inner = Axis(f"{axis.name}{inner_mark}", inner_kind, symbol(name), (axis.name,))
    role = TileRole.LOCAL if inner_kind is AxisKind.TILE_INNER else TileRole.MULTICORE
    return TileVariable(name, inner.name, role, 1, dim_max(axis.size, const(1)), 1), outer, inner


def split_sweeps(roots: tuple[Axis, ...], loops: SplitLoops, tile: TileSplit, taken: frozenset[str]) -> SplitLoops:
    """Split a reduced axis of ``loops`` for the tile, too; it and those ``outside`` of it become loops in each block.

    A block has them whole, one piece after the other.
    """
    axis = next(axis for axis in roots if axis.name == tile.axis)
    variable, outer, inner = halved(axis, (AxisKind.TILE_OUTER, AxisKind.TILE_INNER), ("T", "t"), taken)
    variable = evolve(variable, multiple=tile.multiple)
    local, shares = loops.variables[:1], loops.variables[1:]
    return SplitLoops(
        axes=(*loops.axes, outer, inner),
        loops=loops.loops,
        block=loops.block,
        vectorised=tuple(inner.name if v == axis.name else v for v in loops.vectorised if v not in tile.outside),
        variables=(*local, variable, *shares),
        sweep_loops=(*tile.outside, outer.name),
        walks=loops.walks,
    )


def _unused(wish: str, taken: frozenset[str]) -> str:
    while wish in taken:
        wish += "_"
    return wish
