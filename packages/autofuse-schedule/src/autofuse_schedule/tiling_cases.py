"""The tiling cases of a kernel: which axes are split for the tile."""

from autofuse_ir.asc_graph import Axis
from autofuse_ir.dims import const
from autofuse_ir.schedule import TilingCase, TilingGroup


def tiling_cases(group: TilingGroup, axes: tuple[Axis, ...]) -> tuple[TilingCase, ...]:
    """Return one case per axis of ``group.y``, outermost first; axes of provable size 1 are not worth a case.

    With ``x`` axes a case names one of each (their Cartesian product). Reduced axes go whole into the tile. Without an
    axis to split there is one case, of one tile.
    """
    sizes = {axis.name: axis.size for axis in axes}

    def candidates(names: tuple[str, ...]) -> tuple[str, ...]:
        long = tuple(n for n in names if sizes[n] != const(1))
        return long or names[:1]

    cases: tuple[tuple[str, ...], ...] = ((),)
    for role in (group.x, group.y):
        if role:
            cases = tuple((*case, name) for case in cases for name in candidates(role))
    return tuple(TilingCase("_".join(case) or "whole", case) for case in cases)


def shared_cases(group: TilingGroup, axes: tuple[Axis, ...], has_pieces: bool) -> tuple[TilingCase, ...]:
    """Return the cases in which blocks share the elements of reduced axes.

    A block goes through its share as it comes, or (``has_pieces``) takes the outermost reduced axis in pieces, or the
    innermost inside of all others. Whole rows that are joined with one another are split along the kept axis innermost
    in ``axes``, too.
    """
    if not group.r:
        return ()
    if not has_pieces:
        return (TilingCase("".join(group.r), group.r),)
    kept = axes[-1:] if axes[-1].name not in group.r else ()
    splits = tuple((*(axis.name for axis in kept), piece) for piece in dict.fromkeys((group.r[0], group.r[-1])))
    return tuple(TilingCase("_".join(split), split) for split in splits)


def in_pieces(pieces: tuple[str, ...], cases: tuple[TilingCase, ...]) -> tuple[TilingCase, ...]:
    """Return ``cases`` that take one of the axes ``pieces``, too, in pieces.

    Where nothing is kept, one block takes all pieces: blocks that share an axis need whole leaves in local memory.
    """
    return tuple(TilingCase(f"{case.name}_{piece}", (*case.split, piece)) for case in cases for piece in pieces)
