"""The meaning of concatenation, splits, slices and padding."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.axes import normalised
from autofuse_reference.operators.call import Call, Meaning
from autofuse_reference.operators.strided_slices import Bounds, along_axes, masks_of, strided_slice

_NUMPY_MODES = {"reflect": "reflect", "edge": "edge", "symmetric": "symmetric", "circular": "wrap", "wrap": "wrap"}


def _concat(call: Call, axis: int) -> Array:
    arrays = call.tensors("x")
    (axis,) = normalised(call, (axis,), arrays[0].ndim)
    return np.concatenate(arrays, axis)


def _multislice_concat(call: Call) -> tuple[Array, ...]:
    x, begins, sizes = call.array("x"), call.integers("slice_begin"), call.integers("silce_size")
    if not len(begins) == len(sizes) == sum(call.integers("concat_size")):
        call.fail(f"{len(begins)} begins and {len(sizes)} sizes for {sum(call.integers('concat_size'))} slices")
    slices = iter([x[..., begin : begin + size] for begin, size in zip(begins, sizes, strict=True)])
    return tuple(np.concatenate([next(slices) for _ in range(count)], -1) for count in call.integers("concat_size"))


def _pack(call: Call) -> Array:
    arrays = call.tensors("x")
    (axis,) = normalised(call, (call.integer("axis"),), arrays[0].ndim + 1)
    return np.stack(arrays, axis)


def _unpack(call: Call) -> tuple[Array, ...]:
    x = call.array("x")
    (axis,) = normalised(call, (call.integer("axis"),), x.ndim)
    if x.shape[axis] != call.integer("num"):
        call.fail(f"dim {axis} has size {x.shape[axis]}, not {call.integer('num')}")
    return tuple(np.take(x, i, axis) for i in range(x.shape[axis]))


def _split(call: Call, axis: int) -> tuple[Array, ...]:
    x, count = call.array("x"), call.integer("num_split")
    (axis,) = normalised(call, (axis,), x.ndim)
    if count < 1 or x.shape[axis] % count:
        call.fail(f"dim {axis} of size {x.shape[axis]} has no {count} equal pieces")
    return tuple(np.split(x, count, axis))


def _split_sizes(call: Call, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    x = call.array("x")
    (axis,) = normalised(call, (axis,), x.ndim)
    if len(sizes) != call.integer("num_split"):
        call.fail(f"{len(sizes)} sizes for {call.integer('num_split')} pieces")
    rest = x.shape[axis] - sum(size for size in sizes if size != -1)
    sizes = tuple(rest if size == -1 else size for size in sizes)
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 0:
        call.fail(f"pieces {list(sizes)} do not make up dim {axis} of size {x.shape[axis]}")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


def _slice(call: Call, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    x = call.array("x")
    if not len(offsets) == len(sizes) == x.ndim:
        call.fail(f"{len(offsets)} offsets and {len(sizes)} sizes for rank {x.ndim}")
    sizes = tuple(
        whole - offset if size == -1 else size for whole, offset, size in zip(x.shape, offsets, sizes, strict=True)
    )
    if any(not 0 <= o <= o + s <= whole for whole, o, s in zip(x.shape, offsets, sizes, strict=True)):
        call.fail(f"offsets {list(offsets)} and sizes {list(sizes)} do not fit shape {list(x.shape)}")
    return x[tuple(slice(o, o + s) for o, s in zip(offsets, sizes, strict=True))]


def _strided_slice(call: Call) -> Array:
    bounds = Bounds(call.operand("begin"), call.operand("end"), call.operand("strides"))
    return strided_slice(call, call.array("x"), bounds, masks_of(call))


def _strided_slice_d(call: Call) -> Array:
    bounds = Bounds(call.integers("begin"), call.integers("end"), call.integers("strides"))
    return strided_slice(call, call.array("x"), bounds, masks_of(call))


def _optional_bounds(call: Call) -> tuple[Bounds, tuple[int, ...] | None]:
    """Return the bounds, with strides of 1 where the node has none, and the axes."""
    begin = call.operand("begin")
    strides = (1,) * len(begin) if call.optional("strides") is None else call.operand("strides")
    axes = None if call.optional("axes") is None else call.operand("axes")
    return Bounds(begin, call.operand("end"), strides), axes


def _strided_slice_v2(call: Call) -> Array:
    bounds, axes = _optional_bounds(call)
    if axes is None:
        return strided_slice(call, call.array("x"), bounds, masks_of(call))
    return along_axes(call, call.array("x"), bounds, axes)


def _strided_slice_v3(call: Call) -> Array:
    bounds, axes = _optional_bounds(call)
    return along_axes(call, call.array("x"), bounds, axes)


def _padded(call: Call, paddings: list[tuple[int, int]], mode: str, value: Array | None = None) -> Array:
    x = call.array("x")
    if len(paddings) != x.ndim:
        call.fail(f"{len(paddings)} pairs of paddings for rank {x.ndim}")
    for size, (before, after) in _zip(x, paddings):
        if max(0, -before) + max(0, -after) > size:
            call.fail(f"paddings {before} and {after} cut more than the {size} elements of a dim")
    cropped = x[tuple(slice(max(0, -before), size - max(0, -after)) for size, (before, after) in _zip(x, paddings))]
    widths = [(max(0, before), max(0, after)) for before, after in paddings]
    if mode == "constant":
        fill = np.zeros((), x.dtype) if value is None else value.reshape(()).astype(x.dtype)
        shape = [size + sum(width) for size, width in zip(cropped.shape, widths, strict=True)]
        result = np.full(shape, fill, x.dtype)
        inside = zip(cropped.shape, widths, strict=True)
        result[tuple(slice(before, before + size) for size, (before, _) in inside)] = cropped
        return result
    if mode not in _NUMPY_MODES:
        call.fail(f"the padding mode is {mode!r}", f"use constant, {', '.join(_NUMPY_MODES)}")
    for axis, (size, width) in enumerate(zip(cropped.shape, widths, strict=True)):
        if mode == "reflect" and max(width) > 0 and max(width) >= size:
            call.fail(f"{max(width)} reflected elements need more than the {size} of dim {axis}", "pad by less")
        if max(width) > 0 and size == 0:
            call.fail(f"dim {axis} of size 0 has nothing to pad with", "use mode constant")
    if not widths:
        return cropped.copy()  # NumPy takes no paddings of nothing
    return np.pad(cropped, widths, _NUMPY_MODES[mode])  # type: ignore[call-overload,no-any-return]


def _zip(x: Array, paddings: list[tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    return list(zip(x.shape, paddings, strict=True))


def _pairs(flat: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _pad_d(call: Call) -> Array:
    rows = call.attrs["paddings"]
    assert isinstance(rows, tuple), "paddings"
    return _padded(call, [(int(row[0]), int(row[1])) for row in rows if isinstance(row, tuple)], "constant")


def _pad_v3(call: Call) -> Array:
    flat = call.operand("paddings")
    half = len(flat) // 2
    pairs = _pairs(flat) if call.flag("paddings_contiguous") else list(zip(flat[:half], flat[half:], strict=True))
    return _padded(call, pairs, call.text("mode"), call.optional("constant_values"))


MEANINGS: tuple[Meaning, ...] = (
    Meaning("Concat", lambda call: _concat(call, call.operand("concat_dim")[0]), moves=True),
    Meaning("ConcatD", lambda call: _concat(call, call.integer("concat_dim")), moves=True),
    Meaning("ConcatV2", lambda call: _concat(call, call.operand("concat_dim")[0]), moves=True),
    Meaning("ConcatV2D", lambda call: _concat(call, call.integer("concat_dim")), moves=True),
    Meaning("MultisliceConcat", _multislice_concat, moves=True),
    Meaning("Pack", _pack, moves=True),
    Meaning("Unpack", _unpack, moves=True),
    Meaning("Split", lambda call: _split(call, call.operand("split_dim")[0]), moves=True),
    Meaning("SplitD", lambda call: _split(call, call.integer("split_dim")), moves=True),
    Meaning(
        "SplitV",
        lambda call: _split_sizes(call, call.operand("size_splits"), call.operand("split_dim")[0]),
        moves=True,
    ),
    Meaning(
        "SplitVD", lambda call: _split_sizes(call, call.integers("size_splits"), call.integer("split_dim")), moves=True
    ),
    Meaning("Slice", lambda call: _slice(call, call.operand("offsets"), call.operand("size")), moves=True),
    Meaning("SliceD", lambda call: _slice(call, call.integers("offsets"), call.integers("size")), moves=True),
    Meaning("StridedSlice", _strided_slice, moves=True),
    Meaning("StridedSliceD", _strided_slice_d, moves=True),
    Meaning("StridedSliceV2", _strided_slice_v2, moves=True),
    Meaning("StridedSliceV3", _strided_slice_v3, moves=True),
    Meaning("Pad", lambda call: _padded(call, _pairs(call.operand("paddings")), "constant"), moves=True),
    Meaning("PadD", _pad_d, moves=True),
    Meaning("PadV3", _pad_v3, moves=True),
)
