"""Slices and splits: an offset and a step per dim."""

from attrs import evolve, frozen
from autofuse_ir.dims import Dim, const, gt, lt
from autofuse_ir.fused_graph import Reason
from autofuse_symshape.rules.slices import Cut, bounds_of
from autofuse_symshape.simplify import chosen

from autofuse_fusion.index_map import Place, at, still
from autofuse_fusion.lower.views.call import NotLoweredError, ViewCall, ViewLowering

_WHOLE = Cut(None, None, const(1))


@frozen
class _New:
    """A new dim of size 1."""


def _slice(call: ViewCall) -> None:
    offsets = call.elements("offsets")
    _finish(call, tuple([at(dim, const(1), offset) for dim, offset in enumerate(offsets)]))


def _strided_slice(call: ViewCall) -> None:
    x = call.shape("x")
    cuts = _cuts(call, len(x))
    places: list[Place] = []
    result = 0
    for cut in cuts:
        if isinstance(cut, _New):
            result += 1
            continue
        size = x[len(places)]
        if cut.drops:
            begin = const(0) if cut.begin is None else cut.begin
            places.append(still(chosen(call.oracle, lt(begin, 0), begin + size, begin)))
            continue
        if cut is _WHOLE:
            places.append(at(result))
        else:
            forward, backward = (bounds_of(call.oracle, cut, size, forward=each)[0] for each in (True, False))
            places.append(at(result, cut.step, chosen(call.oracle, gt(cut.step, 0), forward, backward)))
        result += 1
    _finish(call, tuple(places))


def _cuts(call: ViewCall, rank: int) -> list[Cut | _New]:
    """Return what is taken of each dim, in order."""
    begins, ends = call.elements("begin"), call.elements("end")
    names = [each for each in ("strides", "axes") if call.has(each)]
    has_strides = call.node.op in ("StridedSlice", "StridedSliceD") or "strides" in names
    strides = call.elements("strides") if has_strides else (const(1),) * len(begins)
    cuts = [Cut(begin, end, step) for begin, end, step in zip(begins, ends, strides, strict=True)]
    if call.node.op == "StridedSliceV3" or (call.node.op == "StridedSliceV2" and "axes" in names):
        axes = call.integers("axes") if "axes" in names else tuple(range(len(cuts)))
        result: list[Cut | _New] = [_WHOLE] * rank
        for axis, cut in zip(axes, cuts, strict=True):
            result[axis % rank] = evolve(cut, starts_inside=True)
        return result
    return _masked(call, cuts, rank)


def _masked(call: ViewCall, cuts: list[Cut], rank: int) -> list[Cut | _New]:
    """Bit i of a mask speaks of position i of the lists; ellipsis comes before new axis before shrink."""
    begin, end, ellipsis, new, shrink = (
        call.integer(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    )
    result: list[Cut | _New] = []
    place_of_rest: int | None = None
    for i, cut in enumerate(cuts):
        bit = 1 << i
        if ellipsis & bit:
            place_of_rest = len(result)
        elif new & bit:
            result.append(_New())
        elif shrink & bit:
            result.append(Cut(cut.begin, None, const(1), drops=True))
        else:
            result.append(Cut(None if begin & bit else cut.begin, None if end & bit else cut.end, cut.step))
    rest = rank - sum(isinstance(cut, Cut) for cut in result)
    place = len(result) if place_of_rest is None else place_of_rest
    return [*result[:place], *[_WHOLE] * rest, *result[place:]]


def _finish(call: ViewCall, places: tuple[Place, ...]) -> None:
    value = call.builder.view(call.value("x"), call.result_shape, places, name=call.result)
    call.finish(value)


def _split(call: ViewCall) -> None:
    """Equal pieces, or pieces of given sizes, of which one may be -1."""
    x = call.shape("x")
    axis = call.axis("split_dim", len(x))
    offset = const(0)
    for name in call.node.outputs:
        if name:
            size = call.shape_of(name)[axis]
            piece(call, name, axis, offset)
        elif call.node.op in ("Split", "SplitD"):
            size = const(0) + _equal_piece(call, axis)
        else:
            raise NotLoweredError(Reason.STRUCTURAL_OPERAND_UNKNOWN)
        offset = offset + size


def _equal_piece(call: ViewCall, axis: int) -> Dim:
    return call.shape_of(next(name for name in call.node.outputs if name))[axis]


def piece(call: ViewCall, name: str, axis: int, offset: Dim) -> None:
    """Make ``name`` the elements of input x from ``offset`` on along ``axis``."""
    shape = call.shape_of(name)
    places = [at(dim) for dim in range(len(shape))]
    places[axis] = at(axis, const(1), offset)
    call.builder.finish(name, call.builder.view(call.value("x"), shape, tuple(places), name=name))


def _unpack(call: ViewCall) -> None:
    x = call.shape("x")
    axis = call.axis("axis", len(x))
    for number, name in enumerate(call.node.outputs):
        if name:
            dims = [at(dim) for dim in range(len(x) - 1)]
            places = (*dims[:axis], still(const(number)), *dims[axis:])
            shape = call.shape_of(name)
            call.builder.finish(name, call.builder.view(call.value("x"), shape, places, name=name))


LOWERINGS: dict[str, ViewLowering] = {
    **dict.fromkeys(("Slice", "SliceD"), _slice),
    **dict.fromkeys(("StridedSlice", "StridedSliceD", "StridedSliceV2", "StridedSliceV3"), _strided_slice),
    **dict.fromkeys(("Split", "SplitD", "SplitV", "SplitVD"), _split),
    "Unpack": _unpack,
}
