"""Access maps on whole arrays: which elements a Load reads or a Store writes, as a strided view."""

from collections.abc import Callable, Sequence

import numpy as np
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim
from numpy.lib.stride_tricks import as_strided

from autofuse_reference.arrays import Array
from autofuse_reference.asc_graph.gather import outside_of
from autofuse_reference.errors import EvaluationError


def element_view(
    node: AscNode, memory: Array, shape: Sequence[int], axes: Sequence[str], size: Callable[[Dim], int], kernel: str
) -> Array:
    """Return the view of ``memory`` whose element at each point of ``axes`` is the one that ``node`` touches.

    ``memory`` is row-major and contiguous, ``shape`` the repeats of the node along ``axes``. Raises ``EvaluationError``
    when an index is outside of its dim (``StatusError`` where the access has bounds ERROR).
    """
    extents = memory_shape(node, memory, size, kernel)
    assert node.access is not None
    if 0 in shape:
        return np.empty(tuple(shape), memory.dtype)
    start, strides, running = 0, [0] * len(shape), 1
    for extent, dim in zip(reversed(extents), reversed(node.access.dims), strict=True):
        offset, last = size(dim.offset), 0
        if dim.axis is not None:
            place, step = list(axes).index(dim.axis), size(dim.step)
            strides[place] += step * running
            last = step * (shape[place] - 1)
        low, high = min(offset, offset + last), max(offset, offset + last)
        if low < 0 or high >= extent:
            raise outside_of(node, low if low < 0 else high, extent, kernel)
        start += offset * running
        running *= extent
    flat = memory.reshape(-1)[start:]
    return as_strided(flat, tuple(shape), tuple(s * memory.itemsize for s in strides))


def memory_shape(node: AscNode, memory: Array, size: Callable[[Dim], int], kernel: str) -> tuple[int, ...]:
    """Return the shape that ``node`` takes ``memory`` for; ``EvaluationError`` when it has another size."""
    assert node.access is not None
    extents = tuple(map(size, node.access.memory))
    if memory.size != int(np.prod(extents, dtype=np.int64)):
        raise EvaluationError(
            f"{node.op} expects data of shape {list(extents)}, but the array has shape {list(memory.shape)}",
            where=f"kernel {kernel}, node {node.name}",
            fix="give an array of that shape",
        )
    return extents
