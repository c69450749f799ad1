"""Padding: a constant around the tensor, or its own elements mirrored, repeated or wrapped.

Negative paddings cut. Where a constant is known and the tensor lies in memory, the load itself gives it; elsewhere each
point chooses by its indices.
"""

from collections.abc import Sequence

from attrs import frozen
from autofuse_ir.dims import Dim, const, dim_max, le
from autofuse_ir.dtypes import bool_
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_array

from autofuse_fusion.index_map import Number, Place, at
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.nodes import Shape

_ZERO, _ONE = const(0), const(1)


@frozen
class Padding:
    """Elements before and after a dim; negative: cut off."""

    before: Dim
    after: Dim


def _pad(call: ViewCall) -> None:
    flat = call.elements("paddings")
    _padded(call, [Padding(*pair) for pair in zip(flat[::2], flat[1::2], strict=True)])


def _pad_d(call: ViewCall) -> None:
    rows = call.attr("paddings")
    assert isinstance(rows, tuple)
    _padded(call, [Padding(const(row[0]), const(row[1])) for row in rows if isinstance(row, tuple)])


def _pad_v3(call: ViewCall) -> None:
    flat = call.elements("paddings")
    half = len(flat) // 2
    halves = (flat[::2], flat[1::2]) if call.flag("paddings_contiguous") else (flat[:half], flat[half:])
    listed = [Padding(*pair) for pair in zip(*halves, strict=True)]
    if call.text("mode") == "constant":
        _padded(call, listed)
    else:
        _mirrored(call, listed, call.text("mode"))


def _padded(call: ViewCall, paddings: Sequence[Padding]) -> None:
    builder, x, shape = call.builder, call.value("x"), call.result_shape
    places = tuple([at(dim, _ONE, _ZERO - pad.before) for dim, pad in enumerate(paddings)])
    around = [dim for dim, pad in enumerate(paddings) if not _is_cut(call, pad)]
    if not around:
        call.finish(builder.view(x, shape, places, name=call.result))
        return
    number = _constant(call)
    if number is not None:
        leaf = builder.filled(x, shape, places, number)
        if leaf is not None:
            call.finish(leaf)
            return
    inside = _inside(call, shape, paddings, around)
    read = builder.view(x, shape, places, partial=True)
    value = call.value("constant_values") if call.bound.get("constant_values") is not None else None
    fill = builder.number(0, call.result_dtype) if value is None else _one(call, value)
    call.finish(builder.emit("SelectV2", (inside, read, fill), shape, call.result_dtype, call.result))


def _is_cut(call: ViewCall, pad: Padding) -> bool:
    """True where nothing is added on either side in any run."""
    return call.oracle.holds(le(pad.before, 0)) and call.oracle.holds(le(pad.after, 0))


def _constant(call: ViewCall) -> Number | None:
    """Return the number that is padded with, where it is known when compiling."""
    if call.bound.get("constant_values") is None:
        return 0
    data = call.builder.values.constants.get(call.value("constant_values"))
    return None if data is None or data.element_count != 1 else number_of(data)


def number_of(data: TensorData) -> Number:
    """Return the one element of a constant."""
    array = to_array(data).reshape(())
    if data.dtype.is_float:
        return float(array)
    return bool(array) if data.dtype == bool_ else int(array)


def _one(call: ViewCall, value: str) -> str:
    """Return a value of one element as one of rank 0."""
    own = call.shape_of(value)
    return call.builder.view(value, (), tuple([Place()] * len(own)))


def _inside(call: ViewCall, shape: Shape, paddings: Sequence[Padding], dims: Sequence[int]) -> str:
    """Return where an index lies in the tensor, along all of ``dims``."""
    builder, x = call.builder, call.shape("x")
    found: str | None = None
    for dim in dims:
        index = builder.index(shape, dim)
        tests = []
        if not call.oracle.holds(le(paddings[dim].before, 0)):
            tests.append(builder.compare("GreaterEqual", index, paddings[dim].before))
        if not call.oracle.holds(le(paddings[dim].after, 0)):
            tests.append(builder.compare("Less", index, paddings[dim].before + x[dim]))
        for test in tests:
            found = test if found is None else both(call, found, test)
    assert found is not None
    return found


def both(call: ViewCall, first: str, second: str) -> str:
    """Return where both hold."""
    a, b = call.shape_of(first), call.shape_of(second)
    shape = tuple([one if other == 1 else other for one, other in zip(a, b, strict=True)])
    return call.builder.emit("LogicalAnd", (first, second), shape, bool_)


def _mirrored(call: ViewCall, paddings: Sequence[Padding], mode: str) -> None:
    """Read each padded dim at an index that is computed: cut first, then folded back into what is left."""
    builder, x, shape = call.builder, call.shape("x"), call.result_shape
    around = [dim for dim, pad in enumerate(paddings) if not _is_cut(call, pad)]
    places: list[Place] = []
    indices: list[str] = []
    for dim, pad in enumerate(paddings):
        if dim not in around:
            places.append(at(dim, _ONE, _ZERO - pad.before))
            continue
        first = dim_max(_ZERO, _ZERO - pad.before)
        left = x[dim] - first - dim_max(_ZERO, _ZERO - pad.after)
        index = builder.index(shape, dim, _ONE, _ZERO - dim_max(pad.before, 0))
        folded = _folded(call, index, left, mode)
        places.append(Place((), first, len(indices)))
        indices.append(folded)
    if not indices:
        call.finish(builder.view(call.value("x"), shape, tuple(places), name=call.result))
        return
    call.finish(builder.gather(call.value("x"), shape, tuple(places), indices, call.result))


def _folded(call: ViewCall, index: str, size: Dim, mode: str) -> str:
    """Return ``index`` (from below 0 to beyond ``size``) as one in 0..size-1."""
    builder = call.builder
    fact = builder.values.fact(index)
    shape, dtype = call.shape_of(index), fact.dtype

    def op(name: str, first: str, second: Dim) -> str:
        return builder.emit(name, (first, builder.size(second, dtype)), shape, dtype)

    if mode == "edge":
        return op("Maximum", op("Minimum", index, size - 1), _ZERO)
    if mode in ("circular", "wrap"):
        return op("FloorMod", index, dim_max(size, 1))
    # A period goes there and back; reflect does not repeat the outermost elements, symmetric does.
    period = dim_max(const(2) * size - 2, 1) if mode == "reflect" else dim_max(const(2) * size, 1)
    place = op("FloorMod", index, period)
    last = builder.size(period - 1 if mode == "symmetric" else period, dtype)
    back = builder.emit("Sub", (last, place), shape, dtype)
    return builder.emit("Minimum", (place, back), shape, dtype)


LOWERINGS: dict[str, ViewLowering] = {"Pad": _pad, "PadD": _pad_d, "PadV3": _pad_v3}
