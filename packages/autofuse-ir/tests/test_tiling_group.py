"""The table by which TilingGroups merge."""

import pytest
from autofuse_ir.schedule import TilingGroup
from autofuse_ir.tiling_group import merge, normalise
from hypothesis import given
from hypothesis import strategies as st

G = TilingGroup


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        (G(y=("a", "b")), G(y=("a", "b")), G(y=("a", "b"))),
        (G(y=("a", "b")), G(y=("b", "a")), G(y=("a", "b"))),
        (G(), G(), G()),
        (G(y=("a", "b")), G(y=("a",), r=("b",)), G(y=("a",), r=("b",))),
        (G(y=("a",), r=("b",)), G(y=("a",), r=("b",)), G(y=("a",), r=("b",))),
        (G(y=("a", "b", "c")), G(y=("a",), r=("b", "c")), G(y=("a",), r=("b", "c"))),
        (G(y=("a",)), G(r=("b",)), G(y=("a",), r=("b",))),
        (G(y=("a", "b")), G(r=("a", "b")), G(r=("a", "b"))),
        (G(y=("a", "b")), G(x=("a",), y=("b",)), G(x=("a",), y=("b",))),
        (G(x=("a",), y=("b",)), G(x=("a",), y=("b",)), G(x=("a",), y=("b",))),
        (G(y=("a", "b"), n=("c",)), G(y=("a", "b")), G(y=("a", "b"), n=("c",))),
        (G(y=("a", "b")), G(y=("a",), n=("b",)), G(y=("a",), n=("b",))),
        (G(y=("a",), n=("b",)), G(y=("a",), n=("c",)), G(y=("a",), n=("b", "c"))),
        (G(y=("a", "b")), G(y=("a",)), None),
        (G(y=("a",), r=("b",)), G(y=("b",), r=("a",)), None),
        (G(y=("a", "b")), G(y=("a",), r=("c",)), None),
        (G(x=("a",), y=("b",)), G(y=("a",), r=("b",)), None),
        (G(x=("a",), y=("b",)), G(x=("b",), y=("a",)), None),
    ],
)
def test_the_table(a, b, merged):
    assert merge(a, b) == merged


AXES = st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map(tuple)


@st.composite
def groups(draw):
    names = draw(st.permutations("abcd"))
    cuts = sorted(draw(st.lists(st.integers(0, 4), min_size=3, max_size=3)))
    return G(*(tuple(names[i:j]) for i, j in zip([0, *cuts], [*cuts, 4], strict=True)))


def roles(group):
    return None if group is None else tuple(frozenset(part) for part in (group.x, group.y, group.r, group.n))


@given(groups(), groups())
def test_the_order_of_two_nodes_does_not_matter(a, b):
    assert roles(merge(a, b)) == roles(merge(b, a))


@given(groups())
def test_a_group_merges_with_itself(group):
    assert merge(group, group) == group


@given(groups(), groups())
def test_a_merged_group_covers_the_axes_of_both_once(a, b):
    merged = merge(a, b)
    if merged is None:
        return
    axes = [*merged.x, *merged.y, *merged.r, *merged.n]
    assert len(axes) == len(set(axes))
    assert set(axes) == {*a.x, *a.y, *a.r, *a.n, *b.x, *b.y, *b.r, *b.n}


@given(groups(), AXES)
def test_axes_that_are_never_tiled_leave_the_other_roles(group, never):
    found = normalise(group, never)
    assert set(found.n) == {*group.n, *never}
    assert not {*found.x, *found.y, *found.r} & set(never)
