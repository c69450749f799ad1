"""Gathers: an index that is a value. One out of range is an error of the run."""

from collections.abc import Sequence

from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import DTypeKind, bool_, int64

from autofuse_fusion.index_map import Place, at, given, still
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.nodes import Shape


def _gather(call: ViewCall) -> None:
    x, indices, shape = call.shape("x"), call.shape("indices"), call.result_shape
    batch = call.integer("batch_dims")
    batch += len(indices) if batch < 0 else 0
    axis = call.axis("axis", len(x)) if call.node.op == "GatherV2" else batch
    inner = len(indices) - batch
    places = [at(dim) for dim in range(axis)] + [given(0)]
    places += [at(dim + inner - 1) for dim in range(axis + 1, len(x))]
    lies = (*range(batch), *range(axis, axis + inner))
    index = _index(call, "indices", shape, lies, x[axis])
    call.finish(call.builder.gather(call.value("x"), shape, tuple(places), [index], call.result))


def _gather_elements(call: ViewCall) -> None:
    x, shape = call.shape("x"), call.result_shape
    axis = call.axis("dim", len(x))
    index = _index(call, "index", shape, tuple(range(len(shape))), x[axis])
    places = [at(dim) for dim in range(len(x))]
    places[axis] = given(0)
    call.finish(call.builder.gather(call.value("x"), shape, tuple(places), [index], call.result))


def _gather_nd(call: ViewCall) -> None:
    x, indices, shape = call.shape("x"), call.shape("indices"), call.result_shape
    batch = call.integer("batch_dims")
    batch += len(x) if batch < 0 else 0
    depth = len(x) - (len(shape) - (len(indices) - 1)) - batch
    inner = len(indices) - 1
    lies = tuple(range(inner))
    listed = [_index(call, "indices", shape, lies, x[batch + number], still(const(number))) for number in range(depth)]
    places = [at(dim) for dim in range(batch)] + [given(number) for number in range(depth)]
    places += [at(inner + dim) for dim in range(len(x) - batch - depth)]
    call.finish(call.builder.gather(call.value("x"), shape, tuple(places), listed, call.result))


def _index(call: ViewCall, name: str, shape: Shape, lies: Sequence[int], size: Dim, last: Place | None = None) -> str:
    """Return input ``name`` over ``shape``, its dims at ``lies`` (and ``last``), counted from the front of ``size``."""
    places = tuple([at(dim) for dim in lies]) + (() if last is None else (last,))
    index = call.builder.view(call.value(name), shape, places)
    return counted(call, index, size) if call.flag("negative_index_support") else index


def counted(call: ViewCall, index: str, size: Dim) -> str:
    """Return ``index`` with negative ones counted from the end of ``size``."""
    builder = call.builder
    fact = builder.values.fact(index)
    if fact.dtype.kind is not DTypeKind.SIGNED:
        return index
    own = call.shape_of(index)
    dtype = fact.dtype
    if dtype.bits < 64 and not (dtype.bits == 32 and call.sizes.fits_int32(size)):
        dtype = int64
        index = builder.cast(index, dtype)
    negative = builder.emit("Less", (index, builder.number(0, dtype)), own, bool_)
    from_end = builder.emit("Add", (index, builder.size(size, dtype)), own, dtype)
    return builder.emit("SelectV2", (negative, from_end, index), own, dtype)


LOWERINGS: dict[str, ViewLowering] = {
    "Gather": _gather,
    "GatherV2": _gather,
    "GatherElements": _gather_elements,
    "GatherNd": _gather_nd,
}
