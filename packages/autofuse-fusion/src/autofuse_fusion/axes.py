"""Axes and how values lie on them.

A *nest* is the tuple of sizes of a kernel's loop axes, outer to inner. A *layout* says how a value lies on a nest: per
axis the size of the value's dim there, or None where the value does not vary. A dim whose size is not proved to be the
axis' size is 1 or that size, which only the run decides::

    nest (batch, 768)      x: [batch, 768]  layout (batch, 768)
                           bias: [768]      layout (None, 768)       read with stride 0 along batch
    nest (select(d == 1, s, d),)
                           a: [d]           layout (d,)              read with step select(d == 1, 0, 1)
    nest (n, m)            max over m: [n]  layout (n, None)         the result of a reduction

Axes of two kernels become one because a tensor that both touch says so, never because two sizes are equal (`joins`).
"""

from collections.abc import Iterable
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim, const, product
from autofuse_symshape.divisions import exact_quotient

from autofuse_fusion.size_facts import SizeFacts

Nest: TypeAlias = tuple[Dim, ...]
Layout: TypeAlias = tuple[Dim | None, ...]


@frozen
class Piece:
    """Neighbouring axes that are cut alike: ``first`` of one nest, ``second`` of the other, ``sizes`` of both."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    sizes: tuple[Dim, ...]


def nest_of(shape: tuple[Dim, ...], sizes: SizeFacts) -> Nest:
    """Return the axes of a value of ``shape``: its dims but those of size 1."""
    return tuple(dim for dim in shape if not sizes.is_one(dim))


def is_full(layout: Layout, nest: Nest) -> bool:
    """True when a value with ``layout`` covers every point of ``nest`` once."""
    return layout == nest


def varies(layout: Layout, axes: Iterable[int]) -> bool:
    """True when a value with ``layout`` varies along one of ``axes``."""
    return any(layout[axis] is not None for axis in axes)


def innermost(layout: Layout) -> int:
    """Return the innermost axis along which a value with ``layout`` varies; -1 where there is none."""
    return max((axis for axis, size in enumerate(layout) if size is not None), default=-1)


def factorise(a: Nest, b: Nest, sizes: SizeFacts) -> tuple[Piece, ...] | None:
    """Return the finest cut of two row-major nests of one number of elements, None where the numbers are not equal.

    Axes of equal products belong together; a single axis against several is split like them; several against several
    are split by common factors, and become one linear axis where there are none.
    """
    pieces: list[Piece] = []
    i = j = 0
    while i < len(a) or j < len(b):
        found = _shortest_equal(a[i:], b[j:], sizes)
        if found is None:
            if not sizes.equal(product(a), product(b)):
                return None
            return (Piece(tuple(range(len(a))), tuple(range(len(b))), (product(a),)),)
        p, q = found
        first, second = tuple(range(i, i + p)), tuple(range(j, j + q))
        pieces += _cut(first, second, a, b)
        i, j = i + p, j + q
    return tuple(pieces)


def _shortest_equal(a: Nest, b: Nest, sizes: SizeFacts) -> tuple[int, int] | None:
    left = [product(a[:p]) for p in range(len(a) + 1)]
    right = [product(b[:q]) for q in range(len(b) + 1)]
    for length in range(2, len(a) + len(b) + 1):
        for p in range(max(1, length - len(b)), min(len(a), length - 1) + 1):
            if sizes.equal(left[p], right[length - p]):
                return p, length - p
    return None


def _cut(first: tuple[int, ...], second: tuple[int, ...], a: Nest, b: Nest) -> list[Piece]:
    if len(first) == 1:
        return [Piece(first, second, tuple(b[k] for k in second))]
    if len(second) == 1:
        return [Piece(first, second, tuple(a[k] for k in first))]
    common = _common_factors([a[k] for k in first], [b[k] for k in second])
    return [Piece(first, second, common or (product(a[k] for k in first),))]


def _common_factors(a: list[Dim], b: list[Dim]) -> tuple[Dim, ...] | None:
    """Return factors, outer to inner, of which the sizes of both are products of neighbours; None if there are none."""
    factors: list[Dim] = []
    left, right = list(reversed(a)), list(reversed(b))
    while left and right:
        x, y = left.pop(), right.pop()
        if x == const(0) or y == const(0):
            return None
        if x == y:
            factors.append(x)
        elif (rest := exact_quotient(x, y)) is not None:
            factors.append(y)
            left.append(rest)
        elif (rest := exact_quotient(y, x)) is not None:
            factors.append(x)
            right.append(rest)
        else:
            return None
    return tuple(factors) if not left and not right else None


def pair_axes(nest: Nest, factors: tuple[Dim, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Return which neighbouring ``factors`` make up each axis of ``nest``."""
    found: list[tuple[int, ...]] = []
    at = 0
    for size in nest:
        taken: list[int] = []
        done = const(1)
        while done != size or not taken:
            if at >= len(factors):
                return None
            taken.append(at)
            done = done * factors[at]
            at += 1
        found.append(tuple(taken))
    return tuple(found) if at == len(factors) else None
