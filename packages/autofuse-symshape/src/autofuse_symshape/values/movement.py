"""Contents of operators that move, repeat or make elements without computing."""

from math import prod

from autofuse_ir.dims import Dim, const, product

from autofuse_symshape.known import Content, Element, Real
from autofuse_symshape.rules.slices import sliced_places
from autofuse_symshape.values.layout import Sizes, indices, joined, moved, position, stretched, taken, transposed
from autofuse_symshape.values.model import Contents, Follow, Kernel


def _shape(follow: Follow) -> Contents:
    shape = follow.call.shape("x")
    end = follow.call.attr("end")
    return (shape[follow.call.int_attr("start") : end if isinstance(end, int) else None],)


def _gather_shapes(follow: Follow) -> Contents:
    pairs, shapes = follow.call.attr("axes"), follow.call.shapes("x")
    assert isinstance(pairs, tuple)
    return (tuple([shapes[pair[0]][pair[1]] for pair in pairs if isinstance(pair, tuple)]),)


def _size(follow: Follow) -> Contents:
    return ((product(follow.call.shape("x")),),)


def _same(follow: Follow) -> Contents:
    return (follow.content("x"),)


def _filled(element: Element) -> Kernel:
    """The kernel of an operator that makes a constant tensor."""

    def kernel(follow: Follow) -> Contents:
        integer = element if not follow.dtype.is_float or isinstance(element, Real) else Real(element)
        return ((integer,) * prod(follow.result),)

    return kernel


def _fill(follow: Follow) -> Contents:
    content = follow.content("value")
    return () if content is None else (content[:1] * prod(follow.result),)


def _stretched(follow: Follow) -> Contents:
    content, shape = follow.content("x"), follow.sizes("x")
    return () if content is None or shape is None else (stretched(content, shape, follow.result),)


def _tiled(follow: Follow) -> Contents:
    content, shape = follow.content("x"), follow.sizes("x")
    if content is None or shape is None:
        return ()
    skipped = len(follow.result) - len(shape)
    return (
        moved(
            content,
            shape,
            follow.result,
            lambda index: tuple([i % size for i, size in zip(index[skipped:], shape, strict=True)]),
        ),
    )


def _transposed(follow: Follow) -> Contents:
    call, content, shape = follow.call, follow.content("x"), follow.sizes("x")
    if content is None or shape is None:
        return ()
    perm = call.integers("perm") if call.op.name == "Transpose" else call.ints_attr("perm")
    return (transposed(content, shape, call.axes(perm, len(shape), "perm")),)


def _concat_axis(follow: Follow) -> int:
    return follow.call.ints_of("concat_dim")[0]


def _joined(follow: Follow) -> Contents:
    parts = _parts(follow)
    if parts is None:
        return ()
    return (joined(parts, follow.call.axis(_concat_axis(follow), len(follow.result))),)


def _packed(follow: Follow) -> Contents:
    parts = _parts(follow)
    if parts is None:
        return ()
    axis = follow.call.axis(follow.call.int_attr("axis"), len(follow.result))
    return (joined([(content, (*shape[:axis], 1, *shape[axis:])) for content, shape in parts], axis),)


def _parts(follow: Follow) -> list[tuple[Content, Sizes]] | None:
    """Contents and sizes of the list input ``x``: unknown elements where nothing is known; None for unknown sizes."""
    parts = []
    is_any_known = False
    for value in follow.call.values("x"):
        shape = follow.call.static_shape_of(value)
        if shape is None:
            return None
        content = follow.call.content_of(value)
        is_any_known |= content is not None
        parts.append((content if content is not None else (None,) * prod(shape), shape))
    return parts if is_any_known else None


def _unpacked(follow: Follow) -> Contents:
    content, shape = follow.content("x"), follow.sizes("x")
    if content is None or shape is None:
        return ()
    axis = follow.call.axis(follow.call.int_attr("axis"), len(shape))
    return tuple([taken(content, shape, axis, [place]) for place in range(shape[axis])])


def _split(follow: Follow) -> Contents:
    content, shape = follow.content("x"), follow.sizes("x")
    if content is None or shape is None:
        return ()
    axis = follow.call.axis(follow.call.ints_of("split_dim")[0], len(shape))
    results: list[Content | None] = []
    begin = 0
    for piece in follow.shapes:
        if piece is None:
            return tuple(results)
        results.append(taken(content, shape, axis, range(begin, begin + piece[axis])))
        begin += piece[axis]
    return tuple(results)


def _gathered(follow: Follow) -> Contents:
    call, content, shape = follow.call, follow.content("x"), follow.sizes("x")
    if content is None or shape is None or call.int_attr("batch_dims") != 0:
        return ()
    axis = call.axis(call.integers("axis")[0], len(shape)) if call.has("axis") else 0
    size, count = shape[axis], len(call.shape("indices"))
    places = [place + size if place < 0 else place for place in call.integers("indices")]
    if any(not 0 <= place < size for place in places):
        call.fail(f"the indices {places} leave axis {axis} of size {size}")
    around = call.static_shape_of(call.value("indices"))
    assert around is not None
    return (
        moved(
            content,
            shape,
            follow.result,
            lambda index: (
                *index[:axis],
                places[position(index[axis : axis + count], around)],
                *index[axis + count :],
            ),
        ),
    )


def _gathered_elements(follow: Follow) -> Contents:
    call, content, shape = follow.call, follow.content("x"), follow.sizes("x")
    around = follow.sizes("index")
    if content is None or shape is None or around is None:
        return ()
    axis, places = call.axis(call.int_attr("dim"), len(shape), "dim"), call.integers("index")
    size = shape[axis]
    if any(not -size <= place < size for place in places):
        call.fail(f"the indices {list(places)} leave axis {axis} of size {size}")
    return (
        moved(
            content,
            shape,
            around,
            lambda index: (*index[:axis], places[position(index, around)] % size, *index[axis + 1 :]),
        ),
    )


def _gathered_nd(follow: Follow) -> Contents:
    call, content, shape = follow.call, follow.content("x"), follow.sizes("x")
    around = follow.sizes("indices")
    if content is None or shape is None or not around or call.int_attr("batch_dims") != 0:
        return ()
    places, depth = call.integers("indices"), around[-1]

    def source(index: tuple[int, ...]) -> tuple[int, ...]:
        start = position(index[: len(around) - 1], around[:-1]) * depth
        picked = [place % size for place, size in zip(places[start : start + depth], shape, strict=False)]
        return (*picked, *index[len(around) - 1 :])

    return (moved(content, shape, follow.result, source),)


def _sliced(follow: Follow) -> Contents:
    content, shape = follow.content("x"), follow.sizes("x")
    if content is None or shape is None:
        return ()
    places = sliced_places(follow.call, shape)
    if places is None:
        return ()
    return (tuple([content[position(index, shape)] for index in _cross(places)]),)


def _cross(places: list[range]) -> list[tuple[int, ...]]:
    sizes = tuple([len(place) for place in places])
    return [tuple([place[i] for place, i in zip(places, index, strict=True)]) for index in indices(sizes)]


def _range(follow: Follow) -> Contents:
    count = prod(follow.result)
    arithmetic = follow.arithmetic()
    start, delta = follow.content("start"), follow.content("delta")
    if start is None or delta is None or start[0] is None or delta[0] is None:
        return ()
    elements: list[Element | None] = []
    for i in range(count):
        factor: Element = const(i) if isinstance(delta[0], Dim) else Real(const(i))
        step = arithmetic.multiply(delta[0], factor)
        elements.append(None if step is None else arithmetic.add(start[0], step))
    return (tuple(elements),)


def _scattered(follow: Follow) -> Contents:
    """ScatterND and TensorScatterUpdate with indices known when compiling."""
    call = follow.call
    name = "data" if call.op.name == "ScatterND" else "x"
    content, shape, around = follow.content(name), follow.sizes(name), follow.sizes("indices")
    updates = follow.content("updates")
    if content is None or shape is None or not around or updates is None:
        return ()
    if call.op.name == "ScatterND" and call.text_attr("reduction") != "none":
        return ()
    places, depth = call.integers("indices"), around[-1]
    width = prod(shape[depth:])
    result = list(content)
    for row in range(prod(around[:-1])):
        picked = [place % size for place, size in zip(places[row * depth :][:depth], shape, strict=False)]
        start = position(picked, shape[:depth]) * width
        result[start : start + width] = updates[row * width :][:width]
    return (tuple(result),)


KERNELS: dict[str, Kernel] = {
    "Shape": _shape,
    "GatherShapes": _gather_shapes,
    "Size": _size,
    **dict.fromkeys(
        ("Reshape", "Squeeze", "SqueezeV3", "Unsqueeze", "UnsqueezeV3", "ExpandDims", "Flatten", "FlattenV2"), _same
    ),
    "Fill": _fill,
    "ZerosLike": _filled(const(0)),
    "OnesLike": _filled(const(1)),
    "Expand": _stretched,
    "BroadcastTo": _stretched,
    "Tile": _tiled,
    "TileD": _tiled,
    "Transpose": _transposed,
    "TransposeD": _transposed,
    **dict.fromkeys(("Concat", "ConcatD", "ConcatV2", "ConcatV2D"), _joined),
    "Pack": _packed,
    "Unpack": _unpacked,
    **dict.fromkeys(("Split", "SplitD", "SplitV", "SplitVD"), _split),
    "Gather": _gathered,
    "GatherV2": _gathered,
    "GatherElements": _gathered_elements,
    "GatherNd": _gathered_nd,
    **dict.fromkeys(("Slice", "SliceD", "StridedSlice", "StridedSliceD", "StridedSliceV2", "StridedSliceV3"), _sliced),
    "Range": _range,
    "ScatterND": _scattered,
    "TensorScatterUpdate": _scattered,
}
