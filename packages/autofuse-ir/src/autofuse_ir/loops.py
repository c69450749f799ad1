"""Which root axes a loop or a vectorised axis decides about."""

from autofuse_ir.asc_graph import Axis, AxisKind


def walked_roots(axis: str, axes: tuple[Axis, ...], roots: tuple[str, ...]) -> frozenset[str]:
    """Return those of ``roots`` whose index depends on that of ``axis``, one of ``axes``.

    That is itself, what it was split or merged from, or a root that it is a part of.
    """
    by_name = {each.name: each for each in axes}
    if axis in roots:
        return frozenset({axis})
    down = frozenset(root for parent in by_name[axis].parents for root in walked_roots(parent, axes, roots))
    if down:
        return down
    merged = (each.name for each in axes if each.kind is AxisKind.MERGED and axis in each.parents)
    return frozenset(root for name in merged for root in _merged_roots(name, axes, roots))


def _merged_roots(axis: str, axes: tuple[Axis, ...], roots: tuple[str, ...]) -> frozenset[str]:
    if axis in roots:
        return frozenset({axis})
    outer = (each.name for each in axes if each.kind is AxisKind.MERGED and axis in each.parents)
    return frozenset(root for name in outer for root in _merged_roots(name, axes, roots))
