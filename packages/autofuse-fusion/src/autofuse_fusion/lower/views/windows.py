"""Sums over a few neighbours along an axis: as many shifted readings."""

import math

from autofuse_ir.dims import const
from autofuse_ir.fused_graph import Reason

from autofuse_fusion.index_map import at
from autofuse_fusion.lower.views.call import NotLoweredError, ViewCall, ViewLowering
from autofuse_fusion.lower.views.steps import Steps

MOST_NEIGHBOURS = 32
"""Wider windows cost more than the tensors they read."""


def _local_response(call: ViewCall) -> None:
    """x / (bias + alpha / size * sum of the squares of ``size`` neighbouring channels) ** beta."""
    steps, shape, size = Steps(call), call.result_shape, call.integer("size")
    if not 0 < size <= MOST_NEIGHBOURS:
        raise NotLoweredError(Reason.TOO_LARGE)
    before, after = math.floor((size - 1) / 2), math.ceil((size - 1) / 2)
    total: str | None = None
    for shift in range(-before, after + 1):
        square = _square(steps, shift)
        total = square if total is None else steps.apply("Add", total, square)
    assert total is not None
    scaled = steps.apply("Mul", total, steps.number(_number(call, "alpha") / size, total))
    base = steps.apply("Add", scaled, steps.number(_number(call, "bias"), total))
    power = steps.apply("Pow", base, steps.number(_number(call, "beta"), total))
    steps.finish(call.result, steps.apply("RealDiv", steps.input("X"), power, shape=shape))


def _square(steps: Steps, shift: int) -> str:
    """Return the square of the channel ``shift`` further on, 0 beyond the ends."""
    call, builder, shape = steps.call, steps.call.builder, steps.call.result_shape
    x = call.value("X")
    places = tuple([at(dim, const(1), const(shift)) if dim == 1 else at(dim) for dim in range(len(shape))])
    if shift == 0:
        value = steps.wide(builder.view(x, shape, places))
        return steps.apply("Mul", value, value)
    filled = builder.filled(x, shape, places, 0.0)
    if filled is not None:
        value = steps.wide(filled)
        return steps.apply("Mul", value, value)
    value = steps.wide(builder.view(x, shape, places, partial=True))
    index = builder.index(shape, 1)
    inside = (
        builder.compare("GreaterEqual", index, const(-shift))
        if shift < 0
        else builder.compare("Less", index, shape[1] - const(shift))
    )
    return steps.choose(inside, steps.apply("Mul", value, value), steps.number(0.0, value), shape)


def _number(call: ViewCall, name: str) -> float:
    value = call.attr(name)
    assert isinstance(value, int | float), name
    return float(value)


LOWERINGS: dict[str, ViewLowering] = {"LRN": _local_response}
