"""Shapes of reductions and scans."""

from autofuse_ir.dims import const, gt

from autofuse_symshape.call import Call, shown
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.model import Rule, Shapes, along

_ONE = const(1)


def reduced_axes(call: Call, rank: int) -> tuple[int, ...]:
    """The axes that a Reduce* node reduces, counted from the front."""
    if call.op.input("axes") is not None:
        axes = call.integers("axes") if call.has("axes") else ()
    else:
        axes = call.ints_attr("axis" if call.op.attr_spec("axis") else "axes")
    if not axes and call.op.attr_spec("noop_with_empty_axes") and not call.flag("noop_with_empty_axes"):
        axes = tuple(range(rank))
    return call.axes(axes, rank)


def without(shape: Shape, axes: tuple[int, ...], keep: bool) -> Shape:
    """``shape`` after a reduction over ``axes``."""
    if keep:
        return tuple([_ONE if axis in axes else dim for axis, dim in enumerate(shape)])
    return tuple([dim for axis, dim in enumerate(shape) if axis not in axes])


def _reduce(call: Call) -> Shapes:
    x = call.shape("x")
    return (without(x, reduced_axes(call, len(x)), call.flag("keep_dims")),)


def _listed(attr: str) -> Rule:
    """The rule of a reduction whose empty list of axes means all of them."""

    def rule(call: Call) -> Shapes:
        x = call.shape("x")
        axes = call.axes(call.ints_attr(attr) or range(len(x)), len(x), attr)
        return (without(x, axes, call.flag("keepdim")),) * call.output_count

    return rule


def _position(name: str, axis_attr: str, keep_attr: str) -> Rule:
    """The rule of an operator that finds the position of an extreme along one axis, which must not be empty."""

    def rule(call: Call) -> Shapes:
        x = call.shape(name)
        axis = call.axis(call.int_attr(axis_attr), len(x), axis_attr)
        call.require(gt(x[axis], 0), f"axis {axis} of {shown(x)} is empty: it has no extreme element")
        return (without(x, (axis,), call.flag(keep_attr)),) * call.output_count

    return rule


def _bias_add_grad(call: Call) -> Shapes:
    x = call.shape("x")
    if not x:
        call.fail("input 'x' needs a channel axis, but has rank 0")
    return ((x[1] if call.text_attr("data_format").startswith("NC") and len(x) > 1 else x[-1],),)


def scalar_result(call: Call) -> Shapes:
    """One element."""
    return ((),) * call.output_count


_REDUCTIONS: tuple[str, ...] = ("Sum", "Max", "Min", "Prod", "All", "Any", "Mean")


RULES: dict[str, Rule] = {
    **{f"Reduce{name}{form}": _reduce for name in _REDUCTIONS for form in ("", "D")},
    "ReduceLogSum": _reduce,
    "ReduceLogSumExp": _reduce,
    "SquareSumV1": _reduce,
    "LpNormV2": _listed("axes"),
    "ReduceStdV2": _listed("dim"),
    "L2Loss": scalar_result,
    "BiasAddGrad": _bias_add_grad,
    "ArgMaxWithValue": _position("x", "dimension", "keep_dims"),
    "ArgMinWithValue": _position("x", "dimension", "keep_dims"),
    "ArgMax": _position("data", "axis", "keepdims"),
    "ArgMin": _position("data", "axis", "keepdims"),
    "Cumsum": along("x", "axis"),
    "Cumprod": along("x", "axis"),
}
