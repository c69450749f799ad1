"""Tile split and block split: from root axes to the loops of one tiling case.

before   roots z0, z1, z2                        (case: split z1)
after    z1 -> z1T, z1t                           tile split; z1t_size is solved at run time
         z0 * z1T -> z0z1T                        outer axes merge
         z0z1T -> z0z1TB, z0z1Tb                  block split; z0z1Tb_size is solved at run time
         loops (z0z1TB bound to blocks, z0z1Tb), vectorised (z1t, z2)
"""

from attrs import frozen
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
    pieces.
    """

    axes: tuple[Axis, ...]
    loops: tuple[str, ...]
    block: str | None
    vectorised: tuple[str, ...]
    variables: tuple[TileVariable, ...]
    sweep_loops: tuple[str, ...] = ()


def split_nest(roots: tuple[Axis, ...], tile: TileSplit | None, taken: frozenset[str]) -> SplitLoops:
    """Split one root axis for the tile and spread it and everything outside of it over blocks.

    Without ``tile`` the whole nest is one tile of one block. ``taken`` are size symbols of the model, which tile sizes
    must not be called.
    """
    if tile is None:
        return SplitLoops((), (), None, tuple(axis.name for axis in roots), ())
    axis = next(axis for axis in roots if axis.name == tile.axis)
    tile_name = _unused(f"{axis.name}t_size", taken)
    tile_size = symbol(tile_name)
    outer = Axis(f"{axis.name}T", AxisKind.TILE_OUTER, ceildiv(axis.size, tile_size), (axis.name,))
    inner = Axis(f"{axis.name}t", AxisKind.TILE_INNER, tile_size, (axis.name,))
    made = [outer, inner]
    parts = (*(root for root in roots if root.name in tile.outside), outer)
    if len(parts) > 1:
        name = "".join(part.name for part in parts)
        merged = Axis(name, AxisKind.MERGED, product(p.size for p in parts), tuple(p.name for p in parts))
        made.append(merged)
    else:
        merged = outer
    share_name = _unused(f"{merged.name}b_size", taken)
    share = symbol(share_name)
    block = Axis(f"{merged.name}B", AxisKind.BLOCK_OUTER, ceildiv(merged.size, share), (merged.name,))
    within = Axis(f"{merged.name}b", AxisKind.BLOCK_INNER, share, (merged.name,))
    made += [block, within]
    one = const(1)
    most = dim_max(axis.size, one) if tile.most is None else tile.most
    variables = (
        TileVariable(tile_name, inner.name, TileRole.LOCAL, 1, most, tile.multiple),
        TileVariable(share_name, within.name, TileRole.MULTICORE, 1, dim_max(merged.size, one), 1),
    )
    return SplitLoops(
        axes=tuple(made),
        loops=(block.name, within.name),
        block=block.name,
        vectorised=tuple(
            inner.name if root.name == axis.name else root.name for root in roots if root.name not in tile.outside
        ),
        variables=variables,
    )


def split_sweeps(roots: tuple[Axis, ...], loops: SplitLoops, tile: TileSplit, taken: frozenset[str]) -> SplitLoops:
    """Split a reduced axis of ``loops`` for the tile, too; it and those ``outside`` of it become loops in each block.

    A block has them whole, one piece after the other.
    """
    axis = next(axis for axis in roots if axis.name == tile.axis)
    name = _unused(f"{axis.name}t_size", taken)
    outer = Axis(f"{axis.name}T", AxisKind.TILE_OUTER, ceildiv(axis.size, symbol(name)), (axis.name,))
    inner = Axis(f"{axis.name}t", AxisKind.TILE_INNER, symbol(name), (axis.name,))
    variable = TileVariable(name, inner.name, TileRole.LOCAL, 1, dim_max(axis.size, const(1)), tile.multiple)
    local, shares = loops.variables[:1], loops.variables[1:]
    return SplitLoops(
        axes=(*loops.axes, outer, inner),
        loops=loops.loops,
        block=loops.block,
        vectorised=tuple(inner.name if v == axis.name else v for v in loops.vectorised if v not in tile.outside),
        variables=(*local, variable, *shares),
        sweep_loops=(*tile.outside, outer.name),
    )


def _unused(wish: str, taken: frozenset[str]) -> str:
    while wish in taken:
        wish += "_"
    return wish
