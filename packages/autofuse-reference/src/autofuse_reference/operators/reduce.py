"""The meaning of reductions and scans.

In precision "declared" sums and products of 16-bit floats are accumulated in float32, all others in their own dtype.
Elements are joined by the tree that kernels use.
"""

import math
from collections.abc import Callable

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.axes import by_tree, keep_dims, mean, normalised, total
from autofuse_reference.operators.binary import channel_axis
from autofuse_reference.operators.call import Call, Function, Meaning
from autofuse_reference.operators.integer_math import truncate_divide
from autofuse_reference.operators.scan import scan


def _max(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return by_tree("Max", x, axes, keep)


def _min(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return by_tree("Min", x, axes, keep)


def _prod(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return by_tree("Prod", x, axes, keep)


def _all(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.asarray(np.all(x, axis=axes, keepdims=keep))


def _any(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.asarray(np.any(x, axis=axes, keepdims=keep))


def _mean(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    if x.dtype.kind == "f":
        return mean(x, axes, keep)
    wide = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    count = math.prod(x.shape[axis] for axis in axes)
    return truncate_divide(total(wide, axes, keep), np.asarray(count, wide.dtype))


def _log_sum(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.asarray(np.log(total(x, axes, keep)))


def _log_sum_exp(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    peak = _max(x, axes, True)
    # An infinite peak must not be subtracted from itself.
    peak = np.where(np.isfinite(peak), peak, x.dtype.type(0))
    return np.asarray(np.log(total(np.exp(x - peak), axes, keep)) + peak.reshape(keep_dims(x.shape, axes, keep)))


def _square_sum(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return total(x * x, axes, keep)


Reduction = Callable[[Array, tuple[int, ...], bool], Array]


def _axes_input(reduction: Reduction) -> Function:
    """Axes are an input; when empty or missing, ``noop_with_empty_axes`` chooses between none and all of them."""

    def apply(call: Call) -> Array:
        x = call.array("x")
        axes = () if call.optional("axes") is None else call.operand("axes")
        if not axes and not call.flag("noop_with_empty_axes"):
            axes = tuple(range(x.ndim))
        return reduction(x, normalised(call, axes, x.ndim), call.flag("keep_dims"))

    return apply


def _axes_attr(reduction: Reduction, name: str = "axes", empty_means_all: bool | None = None) -> Function:
    """Axes are attribute ``name``; ``empty_means_all`` None asks ``noop_with_empty_axes``."""

    def apply(call: Call) -> Array:
        x, axes = call.array("x"), call.integers(name)
        if not axes and (not call.flag("noop_with_empty_axes") if empty_means_all is None else empty_means_all):
            axes = tuple(range(x.ndim))
        return reduction(x, normalised(call, axes, x.ndim), call.flag("keep_dims"))

    return apply


def _lp_norm(call: Call) -> Array:
    x, p, keep = call.array("x"), call.number("p"), call.flag("keepdim")
    axes = normalised(call, call.integers("axes") or tuple(range(x.ndim)), x.ndim)
    size = np.abs(x)
    if math.isinf(p):
        return _max(size, axes, keep) if p > 0 else _min(size, axes, keep)
    if p == 0:
        return total((x != 0).astype(x.dtype), axes, keep)
    if p == 1:
        return total(size, axes, keep)
    if p == 2:
        squares = total(x * x, axes, keep)
        return np.asarray(np.sqrt(squares if x.dtype.kind == "f" else squares.astype(np.float64)))
    wide = size if x.dtype.kind == "f" else size.astype(np.float64)
    return np.asarray(total(wide ** wide.dtype.type(p), axes, keep) ** wide.dtype.type(1 / p))


def _l2_loss(call: Call) -> Array:
    x = call.array("x")
    return np.asarray(total(x * x, tuple(range(x.ndim))) / 2)


def _bias_add_grad(call: Call) -> Array:
    x = call.array("x")
    channel = channel_axis(call, x.ndim)
    return total(x, tuple(axis for axis in range(x.ndim) if axis != channel))


def _std(call: Call) -> tuple[Array, Array]:
    x, keep = call.array("x"), call.flag("keepdim")
    axes = normalised(call, call.integers("dim") or tuple(range(x.ndim)), x.ndim)
    average = mean(x, axes, keep=True)
    count = max(0, math.prod(x.shape[axis] for axis in axes) - call.flag("unbiased"))
    deviation = np.sqrt(total(np.square(x - average), axes, keep) / x.dtype.type(count))
    return np.asarray(deviation), average.reshape(keep_dims(x.shape, axes, keep))


def _position(call: Call, x: Array, axis: int, largest: bool, last: bool = False) -> Array:
    """Return the index of the first (or last) extreme along ``axis``, which is kept with size 1."""
    (axis,) = normalised(call, (axis,), x.ndim)
    if x.shape[axis] == 0:
        call.fail(f"axis {axis} is empty, so it has no {'largest' if largest else 'smallest'} element")
    search = np.argmax if largest else np.argmin
    found = search(np.flip(x, axis) if last else x, axis=axis, keepdims=True)
    return np.asarray(x.shape[axis] - 1 - found if last else found)


def _with_value(largest: bool) -> Function:
    def apply(call: Call) -> tuple[Array, Array]:
        x, (axis,) = call.array("x"), normalised(call, (call.integer("dimension"),), call.array("x").ndim)
        index = _position(call, x, axis, largest)
        values = np.take_along_axis(x, index, axis)
        if not call.flag("keep_dims"):
            index, values = np.squeeze(index, axis), np.squeeze(values, axis)
        return index, values

    return apply


def _arg(largest: bool) -> Function:
    def apply(call: Call) -> Array:
        x, (axis,) = call.array("data"), normalised(call, (call.integer("axis"),), call.array("data").ndim)
        index = _position(call, x, axis, largest, call.flag("select_last_index"))
        return index if call.flag("keepdims") else np.squeeze(index, axis)

    return apply


def _scan(op: str) -> Function:
    def apply(call: Call) -> Array:
        x = call.array("x")
        (axis,) = normalised(call, call.operand("axis"), max(1, x.ndim))
        line = x if x.ndim else x.reshape(1)  # rank 0 is a vector of one element
        return scan(op, line, axis, call.flag("exclusive"), call.flag("reverse")).reshape(x.shape)

    return apply


MEANINGS: tuple[Meaning, ...] = (
    Meaning("ReduceSum", _axes_input(total)),
    Meaning("ReduceMax", _axes_input(_max)),
    Meaning("ReduceMin", _axes_input(_min)),
    Meaning("ReduceProd", _axes_input(_prod)),
    Meaning("ReduceAll", _axes_input(_all)),
    Meaning("ReduceAny", _axes_input(_any)),
    Meaning("ReduceSumD", _axes_attr(total, empty_means_all=False)),
    Meaning("ReduceMaxD", _axes_attr(_max, empty_means_all=False)),
    Meaning("ReduceMinD", _axes_attr(_min, empty_means_all=False)),
    Meaning("ReduceProdD", _axes_attr(_prod, empty_means_all=False)),
    Meaning("ReduceAllD", _axes_attr(_all, empty_means_all=False)),
    Meaning("ReduceAnyD", _axes_attr(_any, empty_means_all=False)),
    Meaning("ReduceMean", _axes_input(_mean)),
    Meaning("ReduceMeanD", _axes_attr(_mean)),
    Meaning("ReduceLogSum", _axes_input(_log_sum)),
    Meaning("ReduceLogSumExp", _axes_input(_log_sum_exp)),
    Meaning("SquareSumV1", _axes_attr(_square_sum, "axis")),
    Meaning("LpNormV2", _lp_norm),
    Meaning("L2Loss", _l2_loss),
    Meaning("BiasAddGrad", _bias_add_grad),
    Meaning("ReduceStdV2", _std),
    Meaning("ArgMaxWithValue", _with_value(True)),
    Meaning("ArgMinWithValue", _with_value(False)),
    Meaning("ArgMax", _arg(True)),
    Meaning("ArgMin", _arg(False)),
    Meaning("Cumsum", _scan("CumSum")),
    Meaning("Cumprod", _scan("CumProd")),
)
