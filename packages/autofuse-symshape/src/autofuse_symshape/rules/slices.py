"""Slices: begins and ends that may be negative or beyond the tensor, strides, and Ascend IR's bit masks."""

from attrs import evolve, frozen
from autofuse_ir.dims import Dim, all_of, const, eq, ge, gt, le, lt, ne

from autofuse_symshape.call import Call, shown
from autofuse_symshape.divisions import divided
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.oracle import Oracle
from autofuse_symshape.rules.model import Rule, Shapes
from autofuse_symshape.simplify import ONE, ZERO, as_extremum, chosen, larger, smaller

_MINUS_ONE = const(-1)
_FAR = 2**62
"""Further than any size."""


@frozen
class Cut:
    """What is taken of one axis: None means the whole extent on that side; ``drops`` the axis after taking one.

    A backward slice whose begin lies before the tensor has no elements in NumPy; where it ``starts_inside``, as ONNX
    defines its Slice, it begins at the first.
    """

    begin: Dim | None
    end: Dim | None
    step: Dim
    drops: bool = False
    starts_inside: bool = False


_WHOLE = Cut(None, None, ONE)


def _cuts(call: Call, rank: int) -> list[Cut | None]:
    """What is taken of each axis, in order; None stands for a new axis of size 1."""
    begins, ends = call.sizes_of("begin"), call.sizes_of("end")
    has_strides = call.op.input("strides") is None or call.has("strides")
    strides = call.sizes_of("strides") if has_strides else (ONE,) * len(begins)
    if not len(begins) == len(ends) == len(strides):
        call.fail(f"begin, end and strides have {len(begins)}, {len(ends)} and {len(strides)} elements")
    for stride in strides:
        call.require(ne(stride, 0), f"a stride is 0: {shown(strides)}")
    cuts = [Cut(begin, end, step) for begin, end, step in zip(begins, ends, strides, strict=True)]
    along = call.op.name == "StridedSliceV3" or (call.op.name == "StridedSliceV2" and call.has("axes"))
    return _along_axes(call, cuts, rank) if along else _masked(call, cuts, rank)


def _along_axes(call: Call, cuts: list[Cut], rank: int) -> list[Cut | None]:
    axes = call.axes(call.integers("axes") if call.has("axes") else range(len(cuts)), rank)
    if len(axes) != len(cuts):
        call.fail(f"{len(cuts)} begins for {len(axes)} axes")
    result: list[Cut | None] = [_WHOLE] * rank
    for axis, cut in zip(axes, cuts, strict=True):
        result[axis] = evolve(cut, starts_inside=True)
    return result


def _masked(call: Call, cuts: list[Cut], rank: int) -> list[Cut | None]:
    """Bit i of a mask speaks of position i of the lists; ellipsis comes before new axis before shrink."""
    begin, end, ellipsis, new, shrink = (
        call.int_attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    )
    result: list[Cut | None] = []
    place_of_rest: int | None = None
    for i, cut in enumerate(cuts):
        bit = 1 << i
        if ellipsis & bit:
            if place_of_rest is not None:
                call.fail("the ellipsis mask has more than one bit")
            place_of_rest = len(result)
        elif new & bit:
            result.append(None)
        elif shrink & bit:
            result.append(Cut(cut.begin, None, ONE, drops=True))
        else:
            result.append(Cut(None if begin & bit else cut.begin, None if end & bit else cut.end, cut.step))
    rest = rank - sum(cut is not None for cut in result)
    if rest < 0:
        call.fail(f"{rank - rest} slices for rank {rank}")
    place = len(result) if place_of_rest is None else place_of_rest
    return [*result[:place], *[_WHOLE] * rest, *result[place:]]


def _absolute(oracle: Oracle, index: Dim, size: Dim) -> Dim:
    """``index`` counted from the front."""
    number = index.constant_value
    if number is not None:  # the largest integers stand for "to the end": sums with them must not leave int64
        index = const(min(max(number, -_FAR), _FAR))
    return chosen(oracle, lt(index, 0), index + size, index)


def bounds_of(oracle: Oracle, cut: Cut, size: Dim, *, forward: bool) -> tuple[Dim, Dim]:
    """The first index and the one past the last, clamped to the tensor."""
    if forward:
        begin = ZERO if cut.begin is None else _clamped(oracle, _absolute(oracle, cut.begin, size), ZERO, size)
        end = size if cut.end is None else _clamped(oracle, _absolute(oracle, cut.end, size), ZERO, size)
        return begin, end
    last = size - 1
    begin = last
    if cut.begin is not None:
        lowest = ZERO if cut.starts_inside else _MINUS_ONE
        begin = smaller(oracle, larger(oracle, lowest, _absolute(oracle, cut.begin, size)), last)
    end = _MINUS_ONE if cut.end is None else _clamped(oracle, _absolute(oracle, cut.end, size), _MINUS_ONE, last)
    return begin, end


def _clamped(oracle: Oracle, index: Dim, low: Dim, high: Dim) -> Dim:
    return larger(oracle, low, smaller(oracle, index, high))


def _length(oracle: Oracle, cut: Cut, size: Dim) -> Dim:
    if cut is _WHOLE:
        return size
    return chosen(
        oracle,
        gt(cut.step, 0),
        _steps(oracle, bounds_of(oracle, cut, size, forward=True), cut.step),
        _steps(oracle, bounds_of(oracle, cut, size, forward=False)[::-1], -cut.step),
    )


def _steps(oracle: Oracle, bounds: tuple[Dim, Dim], step: Dim) -> Dim:
    begin, end = bounds
    return divided(larger(oracle, ZERO, as_extremum(end - begin)), step, up=True)


def _strided(call: Call) -> Shapes:
    x = call.shape("x")
    dims = iter(x)
    result: list[Dim] = []
    for cut in _cuts(call, len(x)):
        if cut is None:
            result.append(const(1))
            continue
        size = next(dims)
        if not cut.drops:
            result.append(_length(call.oracle, cut, size))
        elif cut.begin is not None:
            inside = all_of(lt(cut.begin, size), ge(cut.begin, -size))
            call.require(inside, f"index {cut.begin} is outside a dim of size {size} of {shown(x)}")
    return (tuple(result),)


def _slice(call: Call) -> Shapes:
    x, offsets, sizes = call.shape("x"), call.sizes_of("offsets"), call.sizes_of("size")
    if not len(x) == len(offsets) == len(sizes):
        call.fail(f"{len(offsets)} offsets and {len(sizes)} sizes for {shown(x)}")
    oracle = call.oracle
    result = []
    for dim, offset, size in zip(x, offsets, sizes, strict=True):
        length = chosen(oracle, eq(size, -1), dim - offset, size)
        fits = all_of(ge(offset, 0), ge(length, 0), le(offset + length, dim))
        call.require(fits, f"a slice of {length} from {offset} does not fit a dim of size {dim} of {shown(x)}")
        result.append(length)
    return (tuple(result),)


def sliced_places(call: Call, shape: tuple[int, ...]) -> list[range] | None:
    """The indices taken of each axis of a static shape; None where they are not known when compiling.

    Axes that are dropped or new do not matter to the row-major order.
    """
    sizes = [const(size) for size in shape]
    try:
        if call.op.name in ("Slice", "SliceD"):
            offsets, lengths = call.ints_of("offsets"), call.ints_of("size")
            ends = [size if n == -1 else o + n for o, n, size in zip(offsets, lengths, shape, strict=True)]
            return [range(offset, end) for offset, end in zip(offsets, ends, strict=True)]
        cuts = [cut for cut in _cuts(call, len(shape)) if cut is not None]
    except UnknownShape:
        return None
    places = []
    for cut, size in zip(cuts, sizes, strict=True):
        if cut.drops:
            index = None if cut.begin is None else cut.begin.constant_value
            if index is None:
                return None
            whole = size.constant_value or 0
            places.append(range(index % whole, index % whole + 1) if whole else range(0))
            continue
        step = cut.step.constant_value
        if not step:
            return None
        begin, end = (each.constant_value for each in bounds_of(call.oracle, cut, size, forward=step > 0))
        if begin is None or end is None:
            return None
        places.append(range(begin, end, step))
    return places


RULES: dict[str, Rule] = {
    "Slice": _slice,
    "SliceD": _slice,
    "StridedSlice": _strided,
    "StridedSliceD": _strided,
    "StridedSliceV2": _strided,
    "StridedSliceV3": _strided,
}
