"""Concatenations: at each point one piece is chosen by the index along the joined dim."""

from collections.abc import Sequence

from autofuse_ir.dims import Dim, const

from autofuse_fusion.index_map import Place, at, still
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.nodes import Shape


def _concat(call: ViewCall) -> None:
    shape = call.result_shape
    axis = call.axis("concat_dim", len(shape))
    pieces = [(value, call.shape_of(value)[axis]) for value in call.values("x")]
    call.finish(joined(call, shape, axis, pieces, call.result))


def _pack(call: ViewCall) -> None:
    shape = call.result_shape
    axis = call.axis("axis", len(shape))
    listed = [(value, const(1)) for value in call.values("x")]
    places = [still() if dim == axis else at(dim) for dim in range(len(shape))]
    del places[axis]
    call.finish(chosen_along(call, shape, axis, listed, [tuple(places)] * len(listed), call.result))


def _multislice_concat(call: ViewCall) -> None:
    x = call.value("x")
    axis = len(call.shape("x")) - 1
    slices = list(zip(call.elements("slice_begin"), call.elements("silce_size"), strict=True))
    for name, count in zip(call.node.outputs, call.integers("concat_size"), strict=True):
        taken, slices = slices[:count], slices[count:]
        if not name:
            continue
        shape = call.shape_of(name)
        start, places = const(0), []
        for begin, size in taken:
            places.append(_shifted(len(shape), axis, begin - start))
            start = start + size
        pieces = [(x, size) for _, size in taken]
        call.builder.finish(name, chosen_along(call, shape, axis, pieces, places, name))


def joined(call: ViewCall, shape: Shape, axis: int, pieces: Sequence[tuple[str, Dim]], name: str | None) -> str:
    """Return the pieces (value, size) one after the other along ``axis`` of ``shape``."""
    start, places = const(0), []
    for _, size in pieces:
        places.append(_shifted(len(shape), axis, const(0) - start))
        start = start + size
    return chosen_along(call, shape, axis, pieces, places, name)


def _shifted(rank: int, axis: int, offset: Dim) -> tuple[Place, ...]:
    return tuple([at(dim, const(1), offset) if dim == axis else at(dim) for dim in range(rank)])


def chosen_along(
    call: ViewCall,
    shape: Shape,
    axis: int,
    pieces: Sequence[tuple[str, Dim]],
    places: Sequence[tuple[Place, ...]],
    name: str | None,
) -> str:
    """Return, per point, the piece in whose range the index along ``axis`` is; ``places`` say how each is read."""
    builder = call.builder
    listed = [(value, size, place) for (value, size), place in zip(pieces, places, strict=True)]
    there = [each for each in listed if not call.sizes.equal(each[1], const(0))]
    if len(there) < 2:
        value, _, place = (there or listed[:1])[0]
        return builder.view(value, shape, place, name=name)
    index = builder.index(shape, axis)
    ends, total = [], const(0)
    for _, size, _ in there:
        total = total + size
        ends.append(total)
    views = [builder.view(value, shape, place, partial=True) for value, _, place in there]
    found = views[-1]
    for number in reversed(range(len(there) - 1)):
        before = builder.compare("Less", index, ends[number])
        result = name if number == 0 else None
        found = builder.chosen(before, views[number], found, shape, result)
    return found


LOWERINGS: dict[str, ViewLowering] = {
    **dict.fromkeys(("Concat", "ConcatD", "ConcatV2", "ConcatV2D"), _concat),
    "Pack": _pack,
    "MultisliceConcat": _multislice_concat,
}
