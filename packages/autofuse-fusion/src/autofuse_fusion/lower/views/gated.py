"""Gated activations: one half of the input decides how much of the other passes."""

from autofuse_ir.dims import const

from autofuse_fusion.index_map import at
from autofuse_fusion.lower.views.call import ViewCall, ViewLowering
from autofuse_fusion.lower.views.steps import Steps


def _halves(call: ViewCall) -> tuple[Steps, str, str]:
    """Return both halves along ``dim``, widened."""
    steps, x, shape = Steps(call), call.value("x"), call.result_shape
    axis = call.axis("dim", len(shape))
    first = tuple([at(dim) for dim in range(len(shape))])
    second = tuple([at(dim, const(1), shape[axis]) if dim == axis else at(dim) for dim in range(len(shape))])
    left, right = (steps.wide(call.builder.view(x, shape, places)) for places in (first, second))
    return steps, left, right


def _glu(call: ViewCall) -> None:
    steps, first, second = _halves(call)
    steps.finish(call.result, steps.apply("Mul", first, steps.apply("Sigmoid", second)))


def _swiglu(call: ViewCall) -> None:
    steps, first, second = _halves(call)
    passed = steps.apply("Mul", first, steps.apply("Sigmoid", first))
    steps.finish(call.result, steps.apply("Mul", passed, second))


LOWERINGS: dict[str, ViewLowering] = {"GLU": _glu, "SwiGlu": _swiglu}
