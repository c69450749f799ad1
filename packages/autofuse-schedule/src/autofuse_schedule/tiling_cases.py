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


def reduced_cases(group: TilingGroup) -> tuple[TilingCase, ...]:
    """Return the case that splits the outermost reduced axis, so that blocks share its elements."""
    return tuple(TilingCase(axis, (axis,)) for axis in group.r[:1])


def in_pieces(group: TilingGroup, cases: tuple[TilingCase, ...]) -> tuple[TilingCase, ...]:
    """Return ``cases`` that take a reduced axis in pieces, too: the outermost, or the innermost inside of the others.

    Where nothing is kept, one block takes all pieces: blocks that share an axis need whole leaves in local memory.
    """
    pieces = tuple(dict.fromkeys((*group.r[:1], *group.r[-1:])))
    return tuple(TilingCase(f"{case.name}_{piece}", (*case.split, piece)) for case in cases for piece in pieces)
