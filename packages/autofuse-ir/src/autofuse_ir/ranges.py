"""Ranges: phases that walk, of some root axes, no more than a range of their points.

Axis ``z0z2`` numbers the points of roots z0 and z2, row-major, and is cut into z0z2R ranges of z0z2r points. A phase
that loops over z0z2R and walks z0 and z2 goes through the points of one range in each iteration. Its first and its last
row along z2 may be parts of rows.
"""

from collections.abc import Collection, Mapping

from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import Dim, product


def range_inner(axes: Mapping[str, Axis], outer: Axis) -> Axis:
    """Return the half of a range whose other half is ``outer``: its size is that of a range."""
    return next(a for a in axes.values() if a.kind is AxisKind.RANGE_INNER and a.parents == outer.parents)


def range_parts(axes: Mapping[str, Axis], roots: Collection[str], outer: Axis) -> tuple[tuple[Axis, Dim], ...]:
    """Return the root axes that a phase with the outer half ``outer`` of a range walks of its parent, outer to inner.

    Each comes with the number of points that one step along it passes.
    """
    shared = axes[outer.parents[0]]
    names = (shared.name,) if shared.name in roots else shared.parents
    parts = tuple(axes[name] for name in names)
    return tuple((part, product(p.size for p in parts[at + 1 :])) for at, part in enumerate(parts))
