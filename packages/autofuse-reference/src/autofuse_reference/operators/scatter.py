"""The meaning of scatters and segment reductions. Equal indices combine in row-major order; the last update wins."""

from collections.abc import Callable

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.axes import normalised
from autofuse_reference.operators.call import Call, Function, Meaning
from autofuse_reference.operators.extremes import highest, lowest
from autofuse_reference.operators.gather import checked, nd_positions

_COMBINE: dict[str, "np.ufunc"] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _store(call: Call, target: Array, where: tuple[Array | slice, ...], updates: Array, reduction: str) -> Array:
    """Return ``target`` with ``updates`` stored at (or combined into) ``where``."""
    result = target.copy()
    if reduction == "none":
        result[where] = updates
        return result
    if reduction not in _COMBINE:
        call.fail(f"the reduction is {reduction!r}", f"use none, {', '.join(_COMBINE)}")
    _COMBINE[reduction].at(result, where, updates)  # type: ignore[arg-type]  # the stubs forget tuples
    return result


def _scatter_elements(call: Call) -> Array:
    data, index = call.array("data"), call.array("indices")
    (axis,) = normalised(call, (call.integer("axis"),), data.ndim)
    grid: list[Array | slice] = list(np.indices(index.shape, sparse=True))
    grid[axis] = checked(call, index, data.shape[axis], negative=True)
    return _store(call, data, tuple(grid), call.array("updates"), call.text("reduction"))


def _scatter_nd(target: str, reduction: str | None, negative: bool) -> Function:
    def apply(call: Call) -> Array:
        data = call.array(target)
        positions = nd_positions(call, call.array("indices"), data.shape, negative)
        return _store(call, data, positions, call.array("updates"), reduction or call.text("reduction"))

    return apply


def _scatter_rows(call: Call) -> Array:
    var = call.array("var")
    index = checked(call, call.array("indices"), var.shape[0], negative=False)
    return _store(call, var, (index,), call.array("updates"), "add")


def _index_add(call: Call) -> Array:
    var, updates, alpha = call.array("var"), call.array("updates"), call.optional("alpha")
    (axis,) = normalised(call, (call.integer("axis"),), var.ndim)
    index = checked(call, call.array("indices").reshape(-1), var.shape[axis], negative=False)
    where: tuple[Array | slice, ...] = (*[slice(None)] * axis, index)
    return _store(call, var, where, updates if alpha is None else updates * alpha.reshape(()), "add")


def _view(call: Call, side: str) -> Array:
    """Return the element numbers that the view of ``side`` ("dst" or "src") reads or writes."""
    index = np.full((), call.operand(f"{side}_storage_offset")[0], np.int64)
    for size, stride in zip(call.operand(f"{side}_size"), call.operand(f"{side}_stride"), strict=True):
        index = index[..., None] + stride * np.arange(size)
    return checked(call, index, call.array(side).size, negative=False)


def _view_copy(call: Call) -> Array:
    dst = call.array("dst").copy()
    flat = dst.reshape(-1)
    flat[_view(call, "dst")] = call.array("src").reshape(-1)[_view(call, "src")]
    return flat.reshape(dst.shape)


def _segments(combine: "np.ufunc", identity: Callable[["np.dtype[np.generic]"], float]) -> Function:
    def apply(call: Call) -> Array:
        x, ids, count = call.array("x"), call.array("segment_ids"), call.operand("num_segments")[0]
        rows = x.reshape(-1, *x.shape[ids.ndim :])
        flat = ids.reshape(-1).astype(np.int64)
        checked(call, flat[flat >= 0], count, negative=False)
        result = np.full((count, *x.shape[ids.ndim :]), identity(x.dtype), x.dtype)
        combine.at(result, flat[flat >= 0], rows[flat >= 0])
        return result

    return apply


def _dynamic_stitch(call: Call) -> Array:
    indices, arrays = call.tensors("indices"), call.tensors("x")
    size = max((int(index.max()) + 1 for index in indices if index.size), default=0)
    rest = arrays[0].shape[indices[0].ndim :]
    result = np.zeros((size, *rest), arrays[0].dtype)
    for index, x in zip(indices, arrays, strict=True):
        result[checked(call, index, size, negative=False)] = x
    return result


def _sparse_to_dense(call: Call) -> Array:
    shape, values = call.operand("output_shape"), call.array("values")
    result = np.full(shape, call.array("default_value").reshape(()), values.dtype)
    indices = call.array("indices")
    positions = nd_positions(call, indices if indices.ndim == 2 else indices.reshape(-1, 1), shape, negative=False)
    result[positions] = values
    return result


MEANINGS: tuple[Meaning, ...] = (
    Meaning("ScatterElements", _scatter_elements),
    Meaning("ScatterND", _scatter_nd("data", None, negative=True)),
    Meaning("TensorScatterUpdate", _scatter_nd("x", "none", negative=False), moves=True),
    Meaning("ScatterAdd", _scatter_rows),
    Meaning("ScatterNdAdd", _scatter_nd("var", "add", negative=False)),
    Meaning("ScatterNdUpdate", _scatter_nd("var", "none", negative=False), moves=True),
    Meaning("ScatterNdMax", _scatter_nd("var", "max", negative=False)),
    Meaning("ScatterNdMin", _scatter_nd("var", "min", negative=False)),
    Meaning("InplaceIndexAdd", _index_add),
    Meaning("ViewCopy", _view_copy, moves=True),
    Meaning("UnsortedSegmentSum", _segments(np.add, lambda dtype: 0)),
    Meaning("UnsortedSegmentMax", _segments(np.maximum, lowest)),
    Meaning("UnsortedSegmentMin", _segments(np.minimum, highest)),
    Meaning("DynamicStitch", _dynamic_stitch, moves=True),
    Meaning("SparseToDense", _sparse_to_dense, moves=True),
)
