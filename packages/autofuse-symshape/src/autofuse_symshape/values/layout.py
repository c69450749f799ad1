"""Contents rearranged: row-major positions, for shapes known when compiling."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from autofuse_symshape.known import Content

Sizes: TypeAlias = tuple[int, ...]
Index: TypeAlias = tuple[int, ...]


def indices(shape: Sizes) -> Iterable[Index]:
    """All positions of a tensor, row-major."""
    return product(*[range(size) for size in shape])


def position(index: Sequence[int], shape: Sizes) -> int:
    """The row-major position of ``index``."""
    flat = 0
    for each, size in zip(index, shape, strict=True):
        flat = flat * size + each
    return flat


def moved(content: Content, shape: Sizes, result: Sizes, source: Callable[[Index], Index]) -> Content:
    """The content of shape ``result`` whose element at an index is that of ``content`` at ``source`` of it."""
    return tuple([content[position(source(index), shape)] for index in indices(result)])


def stretched(content: Content, shape: Sizes, result: Sizes) -> Content:
    """``content`` broadcast to ``result``."""
    if shape == result:
        return content
    if len(content) == 1:
        return content * prod(result)
    skipped = len(result) - len(shape)
    return moved(
        content,
        shape,
        result,
        lambda index: tuple([0 if size == 1 else i for i, size in zip(index[skipped:], shape, strict=True)]),
    )


def transposed(content: Content, shape: Sizes, perm: Sizes) -> Content:
    """``content`` with its axes permuted: axis i of the result is axis ``perm[i]``."""
    result = tuple([shape[axis] for axis in perm])
    inverse = [perm.index(axis) for axis in range(len(perm))]
    return moved(content, shape, result, lambda index: tuple([index[place] for place in inverse]))


def joined(parts: Sequence[tuple[Content, Sizes]], axis: int) -> Content:
    """Contents joined along ``axis``."""
    outer = prod(parts[0][1][:axis])
    rows = [(content, prod(shape[axis:])) for content, shape in parts]
    return tuple([each for row in range(outer) for content, width in rows for each in content[row * width :][:width]])


def taken(content: Content, shape: Sizes, axis: int, places: Sequence[int]) -> Content:
    """``content`` at ``places`` along ``axis``, in that order."""
    result = (*shape[:axis], len(places), *shape[axis + 1 :])
    return moved(content, shape, result, lambda index: (*index[:axis], places[index[axis]], *index[axis + 1 :]))
