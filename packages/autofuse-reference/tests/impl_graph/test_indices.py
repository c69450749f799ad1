"""Loops over split, merged and reordered axes visit every point of the roots exactly once."""

import itertools
from collections import Counter

import numpy as np
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import const
from autofuse_ir.loops import walked_roots
from autofuse_reference.impl_graph.indices import plan_indices
from hypothesis import given, settings
from hypothesis import strategies as st

SMALL = st.integers(1, 4)


@st.composite
def nests(draw: st.DrawFn) -> tuple[tuple[Axis, ...], tuple[str, ...], tuple[str, ...], dict[str, int]]:
    """Axes, roots, leaves and extents: each step splits a leaf or merges two, in any order."""
    extent = {f"z{i}": draw(st.integers(0, 5)) for i in range(draw(st.integers(1, 3)))}
    axes = [Axis(name, AxisKind.ORIGINAL, const(size)) for name, size in extent.items()]
    roots = tuple(extent)
    leaves = list(roots)
    for number in range(draw(st.integers(0, 4))):
        name = f"a{number}"
        if draw(st.booleans()) and len(leaves) > 1:
            first, second = draw(st.permutations(leaves))[:2]
            extent[name] = extent[first] * extent[second]
            axes.append(Axis(name, AxisKind.MERGED, const(extent[name]), (first, second)))
            leaves = [leaf for leaf in leaves if leaf not in (first, second)] + [name]
        else:
            parent = draw(st.sampled_from(leaves))
            size = draw(SMALL)
            kinds = draw(
                st.sampled_from(
                    [(AxisKind.TILE_OUTER, AxisKind.TILE_INNER), (AxisKind.BLOCK_OUTER, AxisKind.BLOCK_INNER)]
                )
            )
            extent[f"{name}o"], extent[f"{name}i"] = -(-extent[parent] // size), size
            axes += [
                Axis(f"{name}{half}", kind, const(extent[f"{name}{half}"]), (parent,))
                for half, kind in zip("oi", kinds, strict=True)
            ]
            leaves = [leaf for leaf in leaves if leaf != parent] + [f"{name}o", f"{name}i"]
    return tuple(axes), roots, tuple(draw(st.permutations(leaves))), extent


@settings(max_examples=200, derandomize=True, database=None, deadline=None)
@given(nests())
def test_every_root_point_is_visited_once(
    nest: tuple[tuple[Axis, ...], tuple[str, ...], tuple[str, ...], dict[str, int]],
) -> None:
    axes, roots, leaves, extent = nest
    plan = plan_indices(axes, leaves, extent)
    visited: Counter[tuple[int, ...]] = Counter()
    for point in itertools.product(*(range(extent[leaf]) for leaf in leaves)):
        known, exists = plan.indices({leaf: np.asarray(i) for leaf, i in zip(leaves, point, strict=True)})
        if exists:
            visited[tuple(int(known[root]) for root in roots)] += 1
    assert visited == Counter(itertools.product(*(range(extent[root]) for root in roots)))


def test_a_merged_root_follows_from_loops_over_its_parts() -> None:
    parts = (Axis("a", AxisKind.ORIGINAL, const(2)), Axis("b", AxisKind.ORIGINAL, const(3)))
    axes = (*parts, Axis("ab", AxisKind.MERGED, const(6), ("a", "b")))
    plan = plan_indices(axes, ("b", "a"), {"a": 2, "b": 3, "ab": 6})
    known, exists = plan.indices({"a": np.asarray(1), "b": np.arange(3)})
    assert known["ab"].tolist() == [3, 4, 5]
    assert exists.all()
    assert walked_roots("b", axes, ("ab",)) == {"ab"}
