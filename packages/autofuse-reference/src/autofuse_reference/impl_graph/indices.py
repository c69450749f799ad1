"""Root indices from loop indices, whatever the splits, merges and order of loops.

A nest loops over some axes; the indices of all others follow through ``Axis.parents``:

* both halves of a split give the parent: ``outer * size(inner) + inner``;
* a merged axis gives its parts, in row-major order, and all parts give the merged axis;
* the parent of a range and its outer half give the inner half, which lies inside of its size for points that exist.
"""

from collections.abc import Mapping
from math import prod
from typing import TypeAlias, assert_never

import numpy as np
from attrs import frozen
from autofuse_ir.asc_graph import Axis, AxisKind

from autofuse_reference.arrays import Array

OUTER = (AxisKind.TILE_OUTER, AxisKind.BLOCK_OUTER)
INNER = (AxisKind.TILE_INNER, AxisKind.BLOCK_INNER)


@frozen
class Join:
    """``axis = outer * inner_size + inner``."""

    axis: str
    outer: str
    inner: str
    inner_size: int


@frozen
class Part:
    """``axis = merged // divisor % size``."""

    axis: str
    merged: str
    divisor: int
    size: int


@frozen
class Compose:
    """``axis`` counts ``parts`` of ``sizes`` in row-major order."""

    axis: str
    parts: tuple[str, ...]
    sizes: tuple[int, ...]


@frozen
class Within:
    """``axis = parent - outer * size``: where a point of a range stands in it; others do not exist."""

    axis: str
    parent: str
    outer: str
    size: int


Derivation: TypeAlias = Join | Part | Compose | Within


@frozen
class IndexPlan:
    """How the indices of all axes follow from those of the leaves; ``extent`` are the sizes of all axes."""

    steps: tuple[Derivation, ...]
    extent: Mapping[str, int]

    def indices(self, leaves: Mapping[str, Array]) -> tuple[dict[str, Array], Array]:
        """Return the index of every axis that follows from ``leaves`` (arrays that broadcast), and which points exist.

        A point exists when every index lies inside of its axis: the last tile of a split may reach past its parent.
        """
        known = dict(leaves)
        exists: Array = np.asarray(True)
        for step in self.steps:
            match step:
                case Join(_, outer, inner, inner_size):
                    index = known[outer] * inner_size + known[inner]
                case Part(_, merged, divisor, size):
                    index = known[merged] // max(1, divisor) % max(1, size)
                case Compose(_, parts, sizes):
                    index = np.zeros((), np.int64)
                    for part, size in zip(parts, sizes, strict=True):
                        index = index * size + known[part]
                case Within(_, parent, outer, size):
                    index = known[parent] - known[outer] * size
                    exists = exists & (index >= 0)
                case never:
                    assert_never(never)
            known[step.axis] = index
            exists = exists & (index < self.extent[step.axis])
        return known, exists


def plan_indices(axes: tuple[Axis, ...], leaves: tuple[str, ...], extent: Mapping[str, int]) -> IndexPlan:
    """Return the derivations that start at ``leaves``, as many as there are."""
    known = set(leaves)
    steps: list[Derivation] = []
    candidates = _derivations(axes, extent)
    progress = True
    while progress:
        progress = False
        for step in candidates:
            if step.axis not in known and all(source in known for source in _sources(step)):
                known.add(step.axis)
                steps.append(step)
                progress = True
    return IndexPlan(tuple(steps), extent)


def _derivations(axes: tuple[Axis, ...], extent: Mapping[str, int]) -> list[Derivation]:
    found: list[Derivation] = []
    for axis in axes:
        halves = [a for a in axes if a.parents == (axis.name,)]
        outers = [a.name for a in halves if a.kind in OUTER]
        inners = [a.name for a in halves if a.kind in INNER]
        # One axis may be split again in another phase: its halves come in pairs, in order.
        found += [Join(axis.name, o, i, extent[i]) for o, i in zip(outers, inners, strict=False)]
        outers = [a.name for a in halves if a.kind is AxisKind.RANGE_OUTER]
        inners = [a.name for a in halves if a.kind is AxisKind.RANGE_INNER]
        found += [Within(i, axis.name, o, extent[i]) for o, i in zip(outers, inners, strict=False)]
        if axis.kind is AxisKind.MERGED:
            sizes = tuple(extent[p] for p in axis.parents)
            found += [
                Part(part, axis.name, prod(sizes[k + 1 :]), sizes[k] if k else max(1, extent[axis.name]))
                for k, part in enumerate(axis.parents)
            ]
            found.append(Compose(axis.name, axis.parents, sizes))
    return found


def _sources(step: Derivation) -> tuple[str, ...]:
    match step:
        case Join(_, outer, inner, _):
            return (outer, inner)
        case Part(_, merged, _, _):
            return (merged,)
        case Compose(_, parts, _):
            return parts
        case Within(_, parent, outer, _):
            return (parent, outer)
        case never:
            assert_never(never)
