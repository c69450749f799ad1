"""Tensors made from indices alone, and choices by them: ranges, identity matrices, triangles, one-hot rows, rolls."""

from autofuse_ir.dims import Dim, const, dim_max, mod, product
from autofuse_ir.dtypes import bool_, float32, int32, int64

from autofuse_fusion.index_map import Place, at, still
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.joins import chosen_along

_ZERO, _ONE = const(0), const(1)


def _range(call: ViewCall) -> None:
    builder, shape, dtype = call.builder, call.result_shape, call.result_dtype
    step = builder.cast(builder.index(shape, 0), dtype)
    far = builder.emit("Mul", (step, one_element(call, "delta")), shape, dtype)
    call.finish(builder.emit("Add", (one_element(call, "start"), far), shape, dtype, call.result))


def _lin_space(call: ViewCall) -> None:
    """Start plus whole steps; the last point is stop. Where the step is no number but 0, i / count comes first.

    16-bit floats are computed in float32 and rounded once.
    """
    builder, shape = call.builder, call.result_shape
    dtype = float32 if call.result_dtype.bits == 16 else call.result_dtype
    start, stop = (builder.cast(one_element(call, name), dtype) for name in ("start", "stop"))
    index = builder.index(shape, 0)
    place = builder.cast(index, dtype)
    count = builder.cast(builder.size(dim_max(shape[0] - 1, 1), int64), dtype)
    extent = builder.emit("Sub", (stop, start), (), dtype)
    step = builder.emit("RealDiv", (extent, count), (), dtype)
    tiny = builder.emit("Equal", (step, builder.number(0, dtype)), (), bool_)
    part = builder.emit("RealDiv", (place, count), shape, dtype)
    slow = builder.emit("Mul", (part, extent), shape, dtype)
    plain = builder.emit("Mul", (place, step), shape, dtype)
    far = builder.emit("SelectV2", (tiny, slow, plain), shape, dtype)
    inner = builder.emit("Add", (far, start), shape, dtype)
    # A single point is start.
    before = builder.compare("Less", index, dim_max(shape[0] - 1, 1))
    points = builder.emit("SelectV2", (before, inner, stop), shape, dtype)
    call.finish(builder.cast(points, call.result_dtype))


def _eye(call: ViewCall) -> None:
    k = call.integer("k") if call.node.op == "EyeLike" else 0
    shape = call.result_shape
    row, column = _row_and_column(call, const(k))
    on = call.builder.emit("Equal", (column, row), (*[_ONE] * (len(shape) - 2), *shape[-2:]), bool_)
    call.finish(call.builder.cast(on, call.result_dtype))


def _row_and_column(call: ViewCall, diagonal: Dim | str) -> tuple[str, str]:
    """Return the column that a diagonal (a size, or a value) crosses in each row, and each column's index, alike."""
    builder, shape = call.builder, call.result_shape
    rank = len(shape)
    column = builder.index(shape, rank - 1)
    if isinstance(diagonal, Dim):
        return builder.of_one_dtype(builder.index(shape, rank - 2, _ONE, diagonal), column)
    wide = int32 if builder.is_narrow else int64
    row = builder.cast(builder.index(shape, rank - 2), wide)
    rows = (*[_ONE] * (rank - 2), shape[-2], _ONE)
    shifted = builder.emit("Add", (row, builder.cast(diagonal, wide)), rows, wide)
    return shifted, builder.cast(column, wide)


def _triangle(call: ViewCall) -> None:
    builder, shape, dtype = call.builder, call.result_shape, call.result_dtype
    if call.node.op == "Trilu":
        upper = call.flag("upper")
        known = call.builder.values.content(call.value("k")) if call.has("k") else (_ZERO,)
        diagonal: Dim | str = one_element(call, "k") if known is None else known[0]
    else:
        upper, diagonal = call.node.op == "Triu", const(call.integer("diagonal"))
    row, column = _row_and_column(call, diagonal)
    square = (*[_ONE] * (len(shape) - 2), *shape[-2:])
    kept = builder.emit("GreaterEqual" if upper else "LessEqual", (column, row), square, bool_)
    zero = builder.number(0, dtype)
    call.finish(builder.emit("SelectV2", (kept, call.value("x"), zero), shape, dtype, call.result))


def _one_hot(call: ViewCall) -> None:
    """Compare ids with classes; ids from -depth on count from the end."""
    builder, shape, dtype = call.builder, call.result_shape, call.result_dtype
    axis = call.integer("axis") % len(shape)
    places = tuple([at(dim) for dim in range(len(shape)) if dim != axis])
    ids = builder.view(call.value("x"), shape, places)
    wide = int32 if call.dtype_of(ids) == int32 and call.sizes.fits_int32(shape[axis]) else int64
    ids = builder.cast(ids, wide)
    own = tuple([_ONE if dim == axis else size for dim, size in enumerate(shape)])
    negative = builder.emit("Less", (ids, builder.number(0, wide)), own, bool_)
    from_end = builder.emit("Add", (ids, builder.size(shape[axis], wide)), own, wide)
    counted = builder.emit("SelectV2", (negative, from_end, ids), own, wide)
    classes = builder.cast(builder.index(shape, axis), wide)
    hit = builder.emit("Equal", (counted, classes), shape, bool_)
    on, off = one_element(call, "on_value"), one_element(call, "off_value")
    call.finish(builder.emit("SelectV2", (hit, on, off), shape, dtype, call.result))


def _roll(call: ViewCall) -> None:
    """Along each dim: the last elements, then the first ones."""
    builder, shape = call.builder, call.result_shape
    shifts, dims = call.integers("shifts"), call.integers("dims")
    if not dims:
        flat = (product(shape),)
        vector = builder.declare(call.value("x"), flat, call.result_dtype)
        builder.reshape(call.value("x"), vector)
        rolled = _rolled(call, vector, flat, 0, shifts[0], None)
        builder.reshape(builder.in_memory_form(rolled, flat), call.result)
        return
    value = call.value("x")
    for number, (shift, dim) in enumerate(zip(shifts, dims, strict=True)):
        name = call.result if number == len(dims) - 1 else None
        value = _rolled(call, value, shape, dim % len(shape), shift, name)
    call.finish(value)


def _rolled(call: ViewCall, value: str, shape: tuple[Dim, ...], axis: int, shift: int, name: str | None) -> str:
    size = shape[axis]
    last = mod(const(shift), dim_max(size, 1))
    moved = [[at(dim) for dim in range(len(shape))] for _ in range(2)]
    moved[0][axis] = at(axis, _ONE, size - last)
    moved[1][axis] = at(axis, _ONE, _ZERO - last)
    pieces = [(value, last), (value, size - last)]
    return chosen_along(call, shape, axis, pieces, [tuple(places) for places in moved], name)


def _reverse_sequence(call: ViewCall) -> None:
    builder, shape = call.builder, call.result_shape
    axis, batch = call.integer("seq_dim") % len(shape), call.integer("batch_dim") % len(shape)
    wide = builder.counting(shape[axis])
    lengths = builder.cast(builder.view(call.value("seq_lengths"), shape, (at(batch),)), wide)
    index = builder.cast(builder.index(shape, axis), wide)
    rows = tuple([size if dim == batch else _ONE for dim, size in enumerate(shape)])
    both = tuple([size if dim in (axis, batch) else _ONE for dim, size in enumerate(shape)])
    taken = builder.emit("Minimum", (lengths, builder.size(shape[axis], wide)), rows, wide)
    inside = builder.emit("Less", (index, taken), both, bool_)
    last = builder.emit("Sub", (taken, builder.number(1, wide)), rows, wide)
    back = builder.emit("Sub", (last, index), both, wide)
    source = builder.emit("SelectV2", (inside, back, index), both, wide)
    places = [at(dim) for dim in range(len(shape))]
    places[axis] = Place((), _ZERO, 0)
    call.finish(builder.gather(call.value("x"), shape, tuple(places), [source], call.result))


def one_element(call: ViewCall, name: str) -> str:
    """Return an input of one element as a value of rank 0."""
    value = call.value(name)
    return call.builder.view(value, (), tuple([still()] * len(call.shape_of(value))))


LOWERINGS: dict[str, ViewLowering] = {
    "Range": _range,
    "LinSpace": _lin_space,
    "Eye": _eye,
    "EyeLike": _eye,
    **dict.fromkeys(("Trilu", "Tril", "Triu"), _triangle),
    "OneHot": _one_hot,
    "Roll": _roll,
    "ReverseSequence": _reverse_sequence,
}
