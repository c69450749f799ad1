"""Tile split and block split: from root axes to the loops of one tiling case.

before   roots z0, z1, z2                        (case: split z1)
after    z1 -> z1T, z1t                           tile split; z1t_size is solved at run time
         z0 * z1T -> z0z1T                        outer axes merge
         z0z1T -> z0z1TB, z0z1Tb                  block split; z0z1Tb_size is solved at run time
         loops (z0z1TB bound to blocks, z0z1Tb), vectorised (z1t, z2)
"""

from attrs import frozen
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import ceildiv, const, dim_max, product, symbol
from autofuse_ir.schedule import TileRole, TileVariable


@frozen
class SplitLoops:
    """The axes of one case: all new ``axes`` (parents first), ``loops``, ``block`` axis, ``vectorised`` axes."""

    axes: tuple[Axis, ...]
    loops: tuple[str, ...]
    block: str
    vectorised: tuple[str, ...]
    variables: tuple[TileVariable, ...]


def split_parallel(roots: tuple[Axis, ...], split: str, lanes: int, taken: frozenset[str]) -> SplitLoops:
    """Split root axis ``split`` for the tile and spread everything outside of it over blocks.

    ``taken`` are size symbols of the model, which tile sizes must not be called. ``lanes`` is the granule of a tile
    that ends in the innermost axis (elements of one vector), so that only the last tile has a tail.
    """
    position = next(i for i, axis in enumerate(roots) if axis.name == split)
    axis = roots[position]
    tile_name = _unused(f"{split}t_size", taken)
    tile_size = symbol(tile_name)
    outer = Axis(f"{split}T", AxisKind.TILE_OUTER, ceildiv(axis.size, tile_size), (split,))
    inner = Axis(f"{split}t", AxisKind.TILE_INNER, tile_size, (split,))
    made = [outer, inner]
    parts = (*roots[:position], outer)
    if len(parts) > 1:
        merged = Axis(
            "".join(p.name for p in parts),
            AxisKind.MERGED,
            product(p.size for p in parts),
            tuple(p.name for p in parts),
        )
        made.append(merged)
    else:
        merged = outer
    share_name = _unused(f"{merged.name}b_size", taken)
    share = symbol(share_name)
    block = Axis(f"{merged.name}B", AxisKind.BLOCK_OUTER, ceildiv(merged.size, share), (merged.name,))
    within = Axis(f"{merged.name}b", AxisKind.BLOCK_INNER, share, (merged.name,))
    made += [block, within]
    innermost = position == len(roots) - 1
    one = const(1)
    variables = (
        TileVariable(tile_name, inner.name, TileRole.LOCAL, 1, dim_max(axis.size, one), lanes if innermost else 1),
        TileVariable(share_name, within.name, TileRole.MULTICORE, 1, dim_max(merged.size, one), 1),
    )
    return SplitLoops(
        axes=tuple(made),
        loops=(block.name, within.name),
        block=block.name,
        vectorised=(inner.name, *(a.name for a in roots[position + 1 :])),
        variables=variables,
    )


def _unused(wish: str, taken: frozenset[str]) -> str:
    while wish in taken:
        wish += "_"
    return wish
