"""Repetitions of single elements: row i of the input as often as its count says."""

from autofuse_ir.dims import Dim, const
from autofuse_ir.fused_graph import Reason

from autofuse_fusion.index_map import at, given
from autofuse_fusion.lower.views.call import NotLoweredError, ViewCall, ViewLowering
from autofuse_fusion.lower.views.rearranged import reshaped

_COUNTS = {"Repeat": "repeat_times", "RepeatInterleave": "repeats"}

MOST_COUNTS = 32
"""Most different counts: every one is a comparison at each position."""


def _repeat(call: ViewCall) -> None:
    counts = call.elements(_COUNTS[call.node.op])
    axis = 0 if call.node.op == "Repeat" else call.integer("axis") % len(call.shape("x"))
    if counts and all(call.sizes.equal(count, counts[0]) for count in counts):
        _repeat_all(call, axis, counts[0])
        return
    if len(counts) > MOST_COUNTS:
        raise NotLoweredError(Reason.TOO_LARGE)
    index = _rows(call, axis, counts)
    places = [given(0) if dim == axis else at(dim) for dim in range(len(call.result_shape))]
    call.finish(call.builder.gather(call.value("x"), call.result_shape, tuple(places), [index], call.result))


def _repeat_all(call: ViewCall, axis: int, count: Dim) -> None:
    """Cut the dim into the input's own and one of repetitions inside of it, which the index does not depend on."""
    x = call.shape("x")
    shape = (*x[: axis + 1], count, *x[axis + 1 :])
    reshaped(call, shape, tuple([at(dim if dim <= axis else dim + 1) for dim in range(len(x))]))


def _rows(call: ViewCall, axis: int, counts: tuple[Dim, ...]) -> str:
    """Return, along ``axis`` of the result, the row of the input: how many rows end at or before the position."""
    builder, shape = call.builder, call.result_shape
    position = builder.index(shape, axis)
    own, dtype = call.shape_of(position), call.dtype_of(position)
    found, end = None, const(0)
    for count in counts[:-1]:
        end = end + count
        behind = builder.cast(builder.compare("GreaterEqual", position, end), dtype)
        found = behind if found is None else builder.emit("Add", (found, behind), own, dtype)
    return position if found is None else found


LOWERINGS: dict[str, ViewLowering] = dict.fromkeys(("Repeat", "RepeatInterleave"), _repeat)
