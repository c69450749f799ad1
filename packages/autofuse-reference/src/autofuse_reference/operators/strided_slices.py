"""Slices with begin, end and strides, and the bit masks of Ascend IR's StridedSlice."""

from types import EllipsisType
from typing import TypeAlias

import numpy as np
from attrs import frozen

from autofuse_reference.arrays import Array
from autofuse_reference.operators.axes import normalised
from autofuse_reference.operators.call import Call

Index: TypeAlias = slice | int | EllipsisType | None


@frozen
class Masks:
    """Bit i of a mask speaks of position i of begin, end and strides; ellipsis before new axis before shrink."""

    begin: int = 0
    end: int = 0
    ellipsis: int = 0
    new_axis: int = 0
    shrink_axis: int = 0


def masks_of(call: Call) -> Masks:
    """Return the masks among the attributes of a strided slice."""
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    return Masks(*(call.integer(name) for name in names))


@frozen
class Bounds:
    """Begin, end and stride per sliced axis."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    strides: tuple[int, ...]

    def check(self, call: Call) -> None:
        """Raise when the three do not go together or a stride is 0."""
        lengths = (len(self.begin), len(self.end), len(self.strides))
        if len(set(lengths)) != 1:
            call.fail(f"begin, end and strides have {lengths[0]}, {lengths[1]} and {lengths[2]} elements")
        if 0 in self.strides:
            call.fail(f"a stride is 0: {list(self.strides)}")


def strided_slice(call: Call, x: Array, bounds: Bounds, masks: Masks) -> Array:
    """Return the slice of ``x``; negative begins and ends count from the end, out-of-range ones are clamped."""
    bounds.check(call)
    indices: list[Index] = []
    for i, (first, last, step) in enumerate(zip(bounds.begin, bounds.end, bounds.strides, strict=True)):
        bit = 1 << i
        if masks.ellipsis & bit:
            indices.append(...)
        elif masks.new_axis & bit:
            indices.append(None)
        elif masks.shrink_axis & bit:
            indices.append(first)
        else:
            indices.append(slice(None if masks.begin & bit else first, None if masks.end & bit else last, step))
    return np.asarray(x[tuple(indices)])


def along_axes(call: Call, x: Array, bounds: Bounds, axes: tuple[int, ...] | None) -> Array:
    """Return the slice of ``x`` in ``axes`` (the leading ones when None); out-of-range begins and ends are clamped.

    Unlike NumPy's, and as ONNX's, backward slices that begin before the tensor begin at its first element.
    """
    bounds.check(call)
    chosen = tuple(range(len(bounds.begin))) if axes is None else normalised(call, axes, x.ndim)
    if len(chosen) != len(bounds.begin):
        call.fail(f"{len(bounds.begin)} begins for {len(chosen)} axes")
    indices = [slice(None)] * x.ndim
    for first, last, axis, step in zip(bounds.begin, bounds.end, chosen, bounds.strides, strict=True):
        begins_before = step < 0 and first < -x.shape[axis]
        indices[axis] = slice(0 if begins_before else first, last, step)
    return np.asarray(x[tuple(indices)])
