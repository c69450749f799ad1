"""The meaning of gathers, one-hot and top-k. An index out of range is an error."""

import math
from typing import Literal, TypeAlias

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.errors import Status, StatusError
from autofuse_reference.operators.axes import normalised
from autofuse_reference.operators.call import Call, Meaning

_Side: TypeAlias = Literal["left", "right"]


def checked(call: Call, index: Array, size: int, negative: bool) -> Array:
    """Return ``index`` as int64 in 0..size-1; negative ones count from the end where ``negative`` allows them."""
    index = index.astype(np.int64)
    low = -size if negative else 0
    if index.size and (index.min() < low or index.max() >= size):
        wrong = index.min() if index.min() < low else index.max()
        fix = f"index {int(wrong)} is outside of a dim of size {size}"
        raise StatusError(Status.INDEX_OUT_OF_RANGE, where=call.where, fix=fix)
    return np.where(index < 0, index + size, index)


def _gather(call: Call, axis: int | None) -> Array:
    x, index, batch = call.array("x"), call.array("indices"), call.integer("batch_dims")
    batch = batch + index.ndim if batch < 0 else batch
    (axis,) = normalised(call, (batch if axis is None else axis,), x.ndim)
    shape = (*x.shape[:axis], *index.shape[batch:], *x.shape[axis + 1 :])
    if 0 in shape:
        return np.zeros(shape, x.dtype)  # nothing is picked, so no index is wrong
    index = checked(call, index, x.shape[axis], call.flag("negative_index_support"))
    if batch == 0:
        return np.take(x, index, axis)
    flat_x = x.reshape(math.prod(x.shape[:batch]), *x.shape[batch:])
    flat_index = index.reshape(flat_x.shape[0], *index.shape[batch:])
    rows = [np.take(row, i, axis - batch) for row, i in zip(flat_x, flat_index, strict=True)]
    return np.stack(rows).reshape(shape)


def nd_positions(call: Call, indices: Array, sizes: tuple[int, ...], negative: bool) -> tuple[Array, ...]:
    """Return the index arrays that the last dim of ``indices`` selects, one for each of its elements."""
    depth = indices.shape[-1]
    if depth > len(sizes):
        call.fail(f"{depth} indices for {len(sizes)} dims")
    return tuple(checked(call, indices[..., i], sizes[i], negative) for i in range(depth))


def _gather_nd(call: Call) -> Array:
    x, indices, batch = call.array("x"), call.array("indices"), call.integer("batch_dims")
    shape = (*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :])
    if 0 in shape and indices.shape[-1] <= x.ndim - batch:
        return np.zeros(shape, x.dtype)
    positions = nd_positions(call, indices, x.shape[batch:], call.flag("negative_index_support"))
    if not positions:
        whole = x.reshape(*x.shape[:batch], *(1,) * (indices.ndim - 1 - batch), *x.shape[batch:])
        return np.broadcast_to(whole, (*indices.shape[:-1], *x.shape[batch:]))
    inner = indices.ndim - 1
    leading = [
        np.arange(x.shape[i]).reshape([-1 if j == i else 1 for j in range(max(inner, batch))]) for i in range(batch)
    ]
    return np.asarray(x[(*leading, *positions)])


def _gather_elements(call: Call) -> Array:
    x, index = call.array("x"), call.array("index")
    (axis,) = normalised(call, (call.integer("dim"),), x.ndim)
    index = checked(call, index, x.shape[axis], call.flag("negative_index_support"))
    grid: list[Array] = list(np.indices(index.shape, sparse=True))
    grid[axis] = index
    return np.asarray(x[tuple(grid)])


def _one_hot(call: Call) -> Array:
    ids, depth = call.array("x"), call.operand("depth")[0]
    (axis,) = normalised(call, (call.integer("axis"),), ids.ndim + 1)
    ids = ids.astype(np.int64)
    ids = np.where((ids < 0) & (ids >= -depth), ids + depth, ids)
    classes = np.arange(depth).reshape([-1 if i == axis else 1 for i in range(ids.ndim + 1)])
    hit = np.expand_dims(ids, axis) == classes
    return np.where(hit, call.array("on_value").reshape(()), call.array("off_value").reshape(()))


def _index_fill(call: Call) -> Array:
    x = call.array("x").copy()
    (axis,) = normalised(call, (call.integer("dim"),), x.ndim)
    index = checked(call, call.array("indices").reshape(-1), x.shape[axis], negative=True)
    where: tuple[Array | slice, ...] = (*[slice(None)] * axis, index)
    x[where] = call.array("value").reshape(())
    return x


def _index(call: Call) -> Array:
    x, mask = call.array("x"), call.operand("indexed_sizes")
    indexed = [axis for axis, used in enumerate(mask) if used]
    selected: list[Array | slice] = [slice(None)] * x.ndim
    for axis, index in zip(indexed, call.tensors("indices"), strict=True):
        selected[axis] = checked(call, index, x.shape[axis], negative=True)
    return np.asarray(x[tuple(selected)])


def order(x: Array, axis: int, descending: bool) -> Array:
    """Return the stable sorting order along ``axis``; NaN counts as the largest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    # Sorting the reversed array ascending and reversing again keeps equal elements in their order.
    reverse = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.asarray(x.shape[axis] - 1 - np.flip(reverse, axis))


def _top_k(call: Call, name: str, count: str, axis_name: str) -> tuple[Array, Array]:
    x, k = call.array(name), call.operand(count)[0]
    (axis,) = normalised(call, (call.integer(axis_name),), x.ndim)
    if not 0 <= k <= x.shape[axis]:
        call.fail(f"k is {k}, but dim {axis} has {x.shape[axis]} elements")
    index = np.take(order(x, axis, call.flag("largest")), range(k), axis)
    return np.take_along_axis(x, index, axis), index


def _sort(call: Call) -> tuple[Array, Array]:
    x = call.array("x")
    (axis,) = normalised(call, (call.integer("axis"),), x.ndim)
    index = order(x, axis, call.flag("descending"))
    return np.take_along_axis(x, index, axis), index


def _search_sorted(call: Call) -> Array:
    sequence, values = call.array("sorted_sequence"), call.array("values")
    side: _Side = "right" if call.flag("right") else "left"
    if sequence.ndim == 1:
        return np.asarray(np.searchsorted(sequence, values, side))
    rows = sequence.reshape(math.prod(sequence.shape[:-1]), sequence.shape[-1])
    wanted = values.reshape(rows.shape[0], values.shape[-1])
    found = [np.searchsorted(row, value, side) for row, value in zip(rows, wanted, strict=True)]
    return np.asarray(found, np.int64).reshape(values.shape)


def _bucketize(call: Call) -> Array:
    boundaries = np.asarray(call.attrs["boundaries"], np.float64)
    # torch.bucketize's right=False means boundaries[i-1] < x <= boundaries[i].
    side: _Side = "right" if call.flag("right") else "left"
    return np.asarray(np.searchsorted(boundaries, call.array("x"), side))


def _non_zero(call: Call) -> Array:
    x = call.array("X")
    return np.asarray(np.nonzero(np.atleast_1d(x))[: max(x.ndim, 1)], np.int64).reshape(max(x.ndim, 1), -1)[: x.ndim]


def _compress(call: Call) -> Array:
    x, axis = call.array("input"), call.attrs["axis"]
    return np.compress(call.array("condition"), x, axis if isinstance(axis, int) else None)


def _unique(call: Call) -> tuple[Array, ...]:
    x, attr = call.array("X"), call.attrs["axis"]
    axis = attr if isinstance(attr, int) else None
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not call.flag("sorted"):
        appearance = np.argsort(first)
        values = np.take(values, appearance, axis or 0)
        first, counts = first[appearance], counts[appearance]
        inverse = np.argsort(appearance)[inverse]
    return values, first, inverse, counts


def _diag_part(call: Call) -> Array:
    x = call.array("x")
    half = x.shape[: x.ndim // 2]
    size = math.prod(half)
    return np.diagonal(x.reshape(size, size)).reshape(half)


def _matrix_diag(call: Call) -> Array:
    diagonal, k = call.array("diagonal"), call.operand("k")
    low, high = k[0], k[-1]
    banded = low != high
    longest = diagonal.shape[-1]
    rows, columns = call.operand("num_rows")[0], call.operand("num_cols")[0]
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    batch = diagonal.shape[: -2 if banded else -1]
    result = np.full((*batch, rows, columns), call.array("padding_value").reshape(()), diagonal.dtype)
    for row, offset in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(offset, 0), columns - max(offset, 0))
        i = np.arange(length)
        values = diagonal[..., row, :length] if banded else diagonal[..., :length]
        result[..., i - min(offset, 0), i + max(offset, 0)] = values
    return result


MEANINGS: tuple[Meaning, ...] = (
    Meaning("Gather", lambda call: _gather(call, None), moves=True),
    Meaning("GatherV2", lambda call: _gather(call, call.operand("axis")[0]), moves=True),
    Meaning("GatherNd", _gather_nd, moves=True),
    Meaning("GatherElements", _gather_elements, moves=True),
    Meaning("OneHot", _one_hot, moves=True),
    Meaning("IndexFill", _index_fill, moves=True),
    Meaning("Index", _index, moves=True),
    Meaning("TopKV2", lambda call: _top_k(call, "x", "k", "dim")),
    Meaning("TopK", lambda call: _top_k(call, "X", "K", "axis")),
    Meaning("Sort", _sort),
    Meaning("SearchSorted", _search_sorted),
    Meaning("Bucketize", _bucketize),
    Meaning("NonZero", _non_zero, moves=True),
    Meaning("Compress", _compress, moves=True),
    Meaning("Unique", _unique),
    Meaning("DiagPartD", _diag_part),
    Meaning("MatrixDiagV2", _matrix_diag, moves=True),
)
