"""Rotary position embeddings: pairs of elements turned by angles that depend on the position.

The pairs are an axis of their own: (pair, 2) where neighbours are turned, (2, pair) where the two halves are. Along it
``y[0] = x[0] * cos - x[1] * sin`` and ``y[1] = x[1] * cos + x[0] * sin``.
"""

from autofuse_ir.dims import Dim, const, floordiv
from autofuse_ir.fused_graph import Reason

from autofuse_fusion.index_map import at, given, still
from autofuse_fusion.lower.views.call import NotLoweredError, ViewCall, ViewLowering
from autofuse_fusion.lower.views.joins import joined
from autofuse_fusion.lower.views.nodes import Shape
from autofuse_fusion.lower.views.steps import Steps


def _position_embedding(call: ViewCall) -> None:
    steps, shape = Steps(call), call.result_shape
    is_interleaved = call.integer("mode") == 1
    pairs = _paired(call, shape[-1], is_interleaved)
    whole = (*shape[:-1], *pairs)
    cos, sin = (_split(steps, call.value(name), pairs) for name in ("cos", "sin"))
    x = steps.reshaped(call.value("x"), whole)
    straight = steps.apply("Mul", steps.wide(x), cos, shape=whole)
    turned = steps.apply("Mul", _turned(steps, x, whole, is_interleaved), sin, shape=whole)
    steps.finish(call.result, steps.reshaped(steps.apply("Add", straight, turned), shape))


def _split(steps: Steps, value: str, pairs: tuple[Dim, Dim]) -> str:
    """Return ``value`` with its last dim cut into pairs; one that is 1 wide broadcasts as it is."""
    own = steps.shape(value)
    if steps.call.sizes.is_one(own[-1]):
        return steps.wide(steps.reshaped(value, (*own, const(1))))
    return steps.wide(steps.reshaped(value, (*own[:-1], *pairs)))


def _paired(call: ViewCall, size: Dim, is_interleaved: bool) -> tuple[Dim, Dim]:
    half = floordiv(size, 2)
    if not call.sizes.equal(half * const(2), size):
        raise NotLoweredError(Reason.AXES_DO_NOT_MAP)
    return (half, const(2)) if is_interleaved else (const(2), half)


def _turned(steps: Steps, x: str, shape: Shape, is_interleaved: bool) -> str:
    """Return (-x[1], x[0]) along the axis of the two, widened."""
    builder, axis = steps.call.builder, len(shape) - (1 if is_interleaved else 2)

    def part(place: int) -> str:
        places = tuple([still(const(place)) if dim == axis else at(dim) for dim in range(len(shape))])
        return steps.wide(builder.view(x, shape, places))

    first = builder.compare("Less", builder.index(shape, axis), const(1))
    return steps.choose(first, steps.apply("Neg", part(1)), part(0), shape)


def _embedding(call: ViewCall) -> None:
    steps, shape = Steps(call), call.result_shape
    whole, heads = _with_heads(call, shape)
    is_interleaved, count = bool(call.integer("interleaved")), call.integer("rotary_embedding_dim")
    size = const(count) if count else whole[-1]
    pairs = _paired(call, size, is_interleaved)
    x = steps.reshaped(call.value("X"), whole)
    if call.sizes.equal(size, whole[-1]):
        turned = _embedded(steps, x, (*whole[:-1], *pairs), heads, is_interleaved)
        steps.finish(call.result, steps.reshaped(turned, shape))
        return
    left = whole[-1] - size
    tail = steps.wide(_part(steps, x, (*whole[:-1], left), size))
    if is_interleaved:
        head = _part(steps, x, (*whole[:-1], size), const(0))
        head = steps.reshaped(head, (*whole[:-1], *pairs))
        turned = _embedded(steps, head, (*whole[:-1], *pairs), heads, is_interleaved)
        pieces = [(steps.reshaped(turned, (*whole[:-1], size)), size)]
    else:
        half = pairs[1]
        each = (*whole[:-1], half)
        first, second = (steps.wide(_part(steps, x, each, offset)) for offset in (const(0), half))
        cos, sin = (_angles(steps, name, each, heads, len(each) - 1) for name in ("cos_cache", "sin_cache"))
        pieces = []
        for op, a, b in (("Sub", first, second), ("Add", second, first)):
            straight, turned = steps.apply("Mul", a, cos, shape=each), steps.apply("Mul", b, sin, shape=each)
            pieces.append((steps.apply(op, straight, turned), half))
    result = joined(call, whole, len(whole) - 1, [*pieces, (tail, left)], None)
    steps.finish(call.result, steps.reshaped(result, shape))


def _part(steps: Steps, x: str, shape: Shape, offset: Dim) -> str:
    """Return ``x`` from ``offset`` on along its last dim, over ``shape``."""
    last = len(shape) - 1
    places = tuple([at(dim) if dim < last else at(dim, const(1), offset) for dim in range(len(shape))])
    return steps.call.builder.view(x, shape, places)


def _embedded(steps: Steps, x: str, shape: Shape, heads: int, is_interleaved: bool) -> str:
    """Return ``x`` turned, the pairs and their two elements axes of ``shape``."""
    pair = len(shape) - (2 if is_interleaved else 1)
    x = steps.reshaped(x, shape)
    cos, sin = (_angles(steps, name, shape, heads, pair) for name in ("cos_cache", "sin_cache"))
    straight = steps.apply("Mul", steps.wide(x), cos, shape=shape)
    return steps.apply("Add", straight, steps.apply("Mul", _turned(steps, x, shape, is_interleaved), sin, shape=shape))


def _with_heads(call: ViewCall, shape: Shape) -> tuple[Shape, int]:
    """Return the shape with heads as an axis, and which: [batch, heads, sequence, size], or [batch, sequence, ...]."""
    if len(shape) != 3:
        return shape, 1
    count = call.integer("num_heads")
    size = floordiv(shape[2], max(count, 1))
    if not call.sizes.equal(size * const(count), shape[2]):
        raise NotLoweredError(Reason.AXES_DO_NOT_MAP)
    return (shape[0], shape[1], const(count), size), 2


def _angles(steps: Steps, name: str, shape: Shape, heads: int, pair: int) -> str:
    """Return a cache of cosines or sines over batch, sequence and dim ``pair`` of ``shape``, 1 wide along others."""
    call, cache = steps.call, steps.call.value(name)
    sequence = 2 if heads == 1 else 1
    wanted = tuple([size if dim in (0, sequence, pair) else const(1) for dim, size in enumerate(shape)])
    if not call.has("position_ids"):
        return steps.wide(call.builder.view(cache, wanted, (at(0), at(sequence), at(pair))))
    ids = call.builder.view(call.value("position_ids"), wanted, (at(0), at(sequence)))
    return steps.wide(call.builder.gather(cache, wanted, (given(0), at(pair)), [ids]))


LOWERINGS: dict[str, ViewLowering] = {"RotaryPositionEmbedding": _position_embedding, "RotaryEmbedding": _embedding}
