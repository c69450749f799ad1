"""Transposes, flips, repetitions and blocks: the elements of one tensor in another order."""

from autofuse_ir.dims import Dim, const, floordiv

from autofuse_fusion.index_map import Place, at, renumbered, still, summed
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.nodes import Shape

_ONE = const(1)


def _transpose(call: ViewCall) -> None:
    rank = len(call.shape("x"))
    places = [still()] * rank
    for dim, source in enumerate(call.integers("perm")):
        places[source % rank] = at(dim)
    _finish(call, tuple(places))


def _reverse(call: ViewCall) -> None:
    x = call.shape("x")
    flipped = {axis % max(1, len(x)) for axis in call.integers("axis")}  # rank 0 is a vector of one element
    _finish(call, tuple([at(d, const(-1), size - 1) if d in flipped else at(d) for d, size in enumerate(x)]))


def _tile(call: ViewCall) -> None:
    """Cut each tiled dim into one of repetitions, which the index does not depend on, and one of the dim's own size."""
    x, multiples = call.shape("x"), call.elements("multiples")
    skipped = len(multiples) - len(x)
    shape: list[Dim] = []
    places: list[Place] = []
    for number, count in enumerate(multiples):
        size = x[number - skipped] if number >= skipped else _ONE
        if not call.sizes.is_one(count):
            shape.append(count)
        if number >= skipped:
            places.append(at(len(shape)))
            shape.append(size)
        elif call.sizes.is_one(count):
            shape.append(_ONE)
    reshaped(call, tuple(shape), tuple(places))


def _depth_to_space(call: ViewCall) -> None:
    x, block = call.shape("x"), const(call.integer("block_size"))
    n, c, h, w = _as_channels_first(call, x)
    depth = floordiv(c, block * block)
    inner, height, width, row, column, batch = at(1), at(2), at(4), at(3), at(5), at(0)
    # The result's dims, channels first: n, channel, h, row of the block, w, column of the block.
    if call.text("mode") == "CRD":
        channel = summed([(inner, block * block), (row, block), (column, _ONE)])
    else:
        channel = summed([(row, block * depth), (column, depth), (inner, _ONE)])
    _blocks(call, (n, depth, h, block, w, block), (batch, channel, height, width))


def _space_to_depth(call: ViewCall) -> None:
    x, block = call.shape("x"), const(call.integer("block_size"))
    n, c, h, w = _as_channels_first(call, x)
    rows, columns = floordiv(h, block), floordiv(w, block)
    # The result's dims, channels first: n, then c and the places in a block as the mode orders them, rows, columns.
    if call.text("mode") == "CRD":
        shape, channel, row, column = (n, c, block, block, rows, columns), at(1), at(2), at(3)
    else:
        shape, channel, row, column = (n, block, block, c, rows, columns), at(3), at(1), at(2)
    height = summed([(at(4), block), (row, _ONE)])
    width = summed([(at(5), block), (column, _ONE)])
    _blocks(call, shape, (at(0), channel, height, width))


def _as_channels_first(call: ViewCall, shape: Shape) -> Shape:
    if call.text("data_format") != "NHWC":
        return shape
    n, h, w, c = shape
    return n, c, h, w


def _blocks(call: ViewCall, shape: Shape, places: tuple[Place, ...]) -> None:
    """Finish with ``places`` into (n, c, h, w) over the dims ``shape``, channels first.

    Depth to space has 2 dims in front (n, c) and 4 of space behind them, space to depth 4 (n and 3 of depth) and 2.
    """
    if call.text("data_format") == "NHWC":
        front = 2 if call.node.op == "DepthToSpace" else 4
        order = (0, *range(front, 6), *range(1, front))
        at_new = {old: new for new, old in enumerate(order)}
        places = tuple([renumbered(place, at_new) for place in places])
        n, c, h, w = places
        places, shape = (n, h, w, c), tuple([shape[old] for old in order])
    reshaped(call, shape, places)


def _as_strided(call: ViewCall) -> None:
    strides = call.elements("stride")
    offset = call.elements("storage_offset")[0] if call.has("storage_offset") else const(0)
    flat = summed([(at(dim), stride) for dim, stride in enumerate(strides)])
    place = Place(flat.terms, offset)
    call.finish(call.builder.flat(call.value("x"), call.result_shape, place))


def _diag_part(call: ViewCall) -> None:
    rank = len(call.result_shape)
    _finish(call, tuple([at(dim % rank) for dim in range(2 * rank)]))


def _finish(call: ViewCall, places: tuple[Place, ...]) -> None:
    call.finish(call.builder.view(call.value("x"), call.result_shape, places, name=call.result))


def reshaped(call: ViewCall, shape: Shape, places: tuple[Place, ...]) -> None:
    """Finish with a view over the dims ``shape``, of which neighbours are one dim of the result."""
    builder = call.builder
    value = builder.view(call.value("x"), shape, places)
    if builder.is_scalar(value) or shape == call.result_shape:
        call.finish(value)
        return
    builder.reshape(builder.in_memory_form(value, shape), call.result)


LOWERINGS: dict[str, ViewLowering] = {
    **dict.fromkeys(("Transpose", "TransposeD"), _transpose),
    **dict.fromkeys(("Tile", "TileD"), _tile),
    "ReverseV2": _reverse,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "AsStrided": _as_strided,
    "DiagPartD": _diag_part,
}
