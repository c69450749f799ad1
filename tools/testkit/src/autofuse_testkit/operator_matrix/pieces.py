"""Operators that join and cut tensors: concatenation, splits, slices, padding; and gathers."""

from collections.abc import Callable

import numpy as np
from autofuse_ir import dtypes as dt

from autofuse_testkit.operator_matrix.call import Call, Size, below
from autofuse_testkit.operator_matrix.form import Form


def _joined(axis_first: bool | None) -> Callable[[Call], tuple[str, ...]]:
    """Three pieces, of a size of its own, of another one, and of three; the axis is an operand or an attribute."""

    def build(b: Call) -> tuple[str, ...]:
        axis = b.axis()
        pieces = [b.whole(), b.x(*b.with_dim(axis, "g")), b.x(*b.with_dim(axis, 3))]
        if axis_first is None:
            return b.call(*pieces, concat_dim=axis, N=3)
        where = b.fixed(axis)
        return b.call(where, *pieces, N=3) if axis_first else b.call(*pieces, where, N=3)

    return build


def _pack(b: Call) -> tuple[str, ...]:
    shape = b.dims[:-1]
    return b.call(b.x(*shape), b.x(*shape), b.x(*shape), axis=b.axis(), N=3)


def _unpack(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    return b.call(b.x(*b.with_dim(axis, 3)), outputs=3, num=3, axis=axis)


def _split(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    x = b.x(*b.with_dim(axis, f"3*{b.dims[axis]}"))
    if b.operator.name == "Split":
        return b.call(b.fixed(axis), x, outputs=3, num_split=3)
    return b.call(x, outputs=3, split_dim=axis, num_split=3)


def _split_sizes(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    x = b.x(*b.with_dim(axis, f"{b.dims[axis]}+3"))
    sizes = (1, -1, 2)
    if b.operator.name == "SplitV":
        return b.call(x, b.fixed(sizes), b.fixed(axis), outputs=3, num_split=3)
    return b.call(x, outputs=3, size_splits=sizes, split_dim=axis, num_split=3)


def _multislice(b: Call) -> tuple[str, ...]:
    attrs = {"concat_size": (2, 1), "slice_begin": (0, 4, 2), "silce_size": (2, 1, 3)}
    return b.call(b.x(*b.dims[:-1], 6), outputs=2, **attrs, concat_num=2, max_concat_size=2)


def _longer(b: Call) -> tuple[Size, ...]:
    return tuple(f"{dim}+2" for dim in b.dims)


def _sliced(b: Call) -> tuple[str, ...]:
    offsets = [(axis + b.turn) % 3 for axis in range(b.rank)]
    sizes = [-1 if (axis + b.turn) % 2 else 0 if (axis + b.turn) % 5 == 4 else 1 for axis in range(b.rank)]
    offsets = [min(offset, 1) if size == 1 else offset for offset, size in zip(offsets, sizes, strict=True)]
    x = b.x(*_longer(b))
    if b.operator.name == "SliceD":
        return b.call(x, offsets=tuple(offsets), size=tuple(sizes))
    return b.call(x, b.fixed(offsets), b.fixed(sizes))


_STRIDES = ((1, 100, 2), (-1, -100, -1), (-2, 0, -2), (0, -1, 1), (2, 1, 1))
"""Begin, end and step of slices: every other one, backwards, backwards with gaps, all but the last, none."""


def _strided_slice(b: Call) -> tuple[str, ...]:
    begin, end, steps = zip(*(_STRIDES[(axis + b.turn) % 5] for axis in range(b.rank)), strict=True)
    x = b.whole()
    match b.operator.name:
        case "StridedSliceD":
            return b.call(x, begin=begin, end=end, strides=steps)
        case "StridedSlice":
            return b.call(x, b.fixed(begin), b.fixed(end), b.fixed(steps))
        case _:
            return b.call(x, b.fixed(begin), b.fixed(end), b.fixed(range(b.rank)), b.fixed(steps))


def _paddings(b: Call) -> list[list[int]]:
    return [[(axis + b.turn) % 3, (axis + b.turn + 1) % 2] for axis in range(b.rank)]


def _pad(b: Call) -> tuple[str, ...]:
    if b.operator.name == "PadD":
        return b.call(b.whole(), paddings=tuple(map(tuple, _paddings(b))))
    return b.call(b.whole(), b.fixed(np.reshape(_paddings(b), (b.rank, 2))))


def _pad_modes(b: Call) -> tuple[str, ...]:
    mode = ("constant", "reflect", "edge", "symmetric", "circular")[b.turn % 5]
    pads = b.fixed(np.reshape(_paddings(b), -1))
    return b.call(b.whole(), pads, b.x() if mode == "constant" else None, mode=mode)


def _gather(b: Call) -> tuple[str, ...]:
    batch = 1 if b.turn % 3 == 2 and b.rank > 1 else 0
    shape = (*b.dims[:batch], *(("k",), ("k", "l"), ("k",))[b.turn % 3])
    return b.call(b.whole(), b.x(*shape, dtype=dt.int64, content=below(b.dims[batch])), batch_dims=batch)


def _gather_along(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    shape: tuple[Size, ...] = ((), ("k",), ("k", "l"))[b.turn % 3]
    return b.call(b.whole(), b.x(*shape, dtype=dt.int32, content=below(b.dims[axis])), b.fixed(axis))


def _gather_nd(b: Call) -> tuple[str, ...]:
    depth = 1 + b.turn % min(b.rank, 3)
    return b.call(b.whole(), b.x("k", depth, dtype=dt.int64, content=below(*b.dims[:depth])))


def _gather_elements(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    index = b.x(*b.with_dim(axis, "k"), dtype=dt.int64, content=below(b.dims[axis]))
    return b.call(b.whole(), index, dim=axis)


def _one_hot(b: Call) -> tuple[str, ...]:
    axis = -1 if b.turn % 2 else b.turn // 2 % b.rank
    values = b.x(*b.dims[:-1], dtype=dt.int64)
    return b.call(values, b.fixed(4), b.x(), b.x(), axis=axis)


def _index_fill(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    return b.call(b.whole(), b.x("k", dtype=dt.int64, content=below(b.dims[axis])), b.x(), dim=axis)


FORMS: dict[str, Form] = {
    "Concat": Form(_joined(True), 1),
    "ConcatD": Form(_joined(None), 1),
    "ConcatV2": Form(_joined(False), 1),
    "ConcatV2D": Form(_joined(None), 1),
    "MultisliceConcat": Form(_multislice, 1),
    "Pack": Form(_pack, 1),
    "Unpack": Form(_unpack, 1),
    "Split": Form(_split, 1),
    "SplitD": Form(_split, 1),
    "SplitV": Form(_split_sizes, 1),
    "SplitVD": Form(_split_sizes, 1),
    "Slice": Form(_sliced, 1),
    "SliceD": Form(_sliced, 1),
    "StridedSlice": Form(_strided_slice, 1),
    "StridedSliceD": Form(_strided_slice, 1),
    "StridedSliceV2": Form(_strided_slice, 1),
    "StridedSliceV3": Form(_strided_slice, 1),
    "Pad": Form(_pad),
    "PadD": Form(_pad),
    "PadV3": Form(_pad_modes),
    "Gather": Form(_gather, 1),
    "GatherV2": Form(_gather_along, 1),
    "GatherNd": Form(_gather_nd, 1),
    "GatherElements": Form(_gather_elements, 1),
    "OneHot": Form(_one_hot, 1, types=dt.TENSOR_DTYPES),
    "IndexFill": Form(_index_fill, 1),
}
