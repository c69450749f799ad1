"""TilingGroups and the table by which the groups of two nodes merge into one.

A group names, per role, the axes of a node's loop nest. Two nodes share a nest when their groups merge; the table is
the original's: ``n`` sets unite first (and leave the other roles), equal ``y`` merge, ``y`` merges into ``y`` and ``r``
when it covers both, and a transpose's ``x``, ``y`` takes a plain ``y``.
"""

from autofuse_ir.schedule import TilingGroup


def normalise(group: TilingGroup, never_tiled: tuple[str, ...]) -> TilingGroup:
    """Return ``group`` with the axes ``never_tiled`` moved from the other roles to ``n`` (order kept)."""
    fixed = set(never_tiled)

    def without(axes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(a for a in axes if a not in fixed)

    n = group.n + tuple(a for a in never_tiled if a not in group.n)
    return TilingGroup(x=without(group.x), y=without(group.y), r=without(group.r), n=n)


def merge(a: TilingGroup, b: TilingGroup) -> TilingGroup | None:
    """Return the group of a nest that holds both nodes, or None when their axes cannot be tiled together.

    Order within a role does not matter for the decision; the result keeps the order of the group that decides.
    """
    never_tiled = tuple(dict.fromkeys(a.n + b.n))
    a, b = normalise(a, never_tiled), normalise(b, never_tiled)
    for first, second in ((a, b), (b, a)):
        merged = _merge_ordered(first, second)
        if merged is not None:
            return TilingGroup(x=merged.x, y=merged.y, r=merged.r, n=never_tiled)
    return None


def _merge_ordered(a: TilingGroup, b: TilingGroup) -> TilingGroup | None:
    """Try the rows of the table with ``a`` on the left."""
    if _same(a.x, b.x) and _same(a.y, b.y) and _same(a.r, b.r):
        return a
    a_plain_y = not a.x and not a.r
    if a_plain_y and not b.x and b.r and _same(a.y, b.y + b.r):
        return b  # element-wise with a reduction over some of its axes
    if a_plain_y and b.x and not b.r and _same(a.y, tuple(dict.fromkeys(b.x + b.y))):
        return b  # element-wise with a transpose
    if a_plain_y and a.y and not b.x and not b.y and b.r and not set(a.y) & set(b.r):
        return TilingGroup(y=a.y, r=b.r)
    return None


def _same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return set(a) == set(b)
