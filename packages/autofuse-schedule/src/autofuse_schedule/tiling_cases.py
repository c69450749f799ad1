"""The tiling cases of a kernel: which axes are split for the tile."""

from autofuse_ir.asc_graph import Axis
from autofuse_ir.dims import const
from autofuse_ir.schedule import TilingCase, TilingGroup


def tiling_cases(group: TilingGroup, axes: tuple[Axis, ...]) -> tuple[TilingCase, ...]:
    """Return one case per axis of ``group.y``, outermost first; axes of provable size 1 are not worth a case.

    With ``x`` and ``r`` axes a case names one of each, too (their Cartesian product).
    """
    sizes = {axis.name: axis.size for axis in axes}

    def candidates(names: tuple[str, ...]) -> tuple[str, ...]:
        long = tuple(n for n in names if sizes[n] != const(1))
        return long or names[:1]

    cases: tuple[tuple[str, ...], ...] = ((),)
    for role in (group.x, group.y, group.r):
        if role:
            cases = tuple((*case, name) for case in cases for name in candidates(role))
    return tuple(TilingCase("_".join(case), case) for case in cases)
