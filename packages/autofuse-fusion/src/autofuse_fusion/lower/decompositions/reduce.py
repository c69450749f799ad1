"""Reductions over axes."""

import math

from autofuse_ir import dtypes as dt
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DTypeKind
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, operator

from autofuse_fusion.lower.call import Call, Decomposition, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul, quotient, sub, times
from autofuse_fusion.lower.space import Space, SpaceOf, axes_attr, axes_input, kept, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values


def reduction_space(node: Node, values: Values) -> Space | None:
    """Return the space of a Reduce operator: its input; axes are input or attribute "axes" (or attribute "axis")."""
    op, shape = operator(node.op), input_shape(node, values)
    rank = len(shape)
    if op.input("axes") is not None:
        axes = axes_input(node, "axes", rank, values)
    else:
        axes = axes_attr(node, "axis" if op.attr_spec("axis") else "axes", rank)
    if axes == () and op.attr_spec("noop_with_empty_axes") and not attr_of(node, "noop_with_empty_axes"):
        axes = tuple(range(rank))
    return None if axes is None else over(node, values, axes, bool(attr_of(node, "keep_dims")))


def input_shape(node: Node, values: Values) -> tuple[Dim, ...]:
    """Return the shape of the first input."""
    assert node.inputs[0] is not None
    return values.shape(node.inputs[0])


def over(node: Node, values: Values, axes: tuple[int, ...], keep_dims: bool, is_indexed: bool = False) -> Space:
    """Return the space of an operator whose results are its first input, reduced along ``axes``."""
    shape = input_shape(node, values)
    lies = {f"-> {result.name}": kept(len(shape), axes, keep_dims) for result in operator(node.op).outputs}
    return space(node, values, shape, axes, lies, indexed=axes if is_indexed else ())


def _over_attr(axes_name: str, keep_name: str) -> SpaceOf:
    """Return the space of a reduction along the axes of an attribute, along all where it names none."""

    def found(node: Node, values: Values) -> Space | None:
        rank = len(input_shape(node, values))
        axes = axes_attr(node, axes_name, rank)
        return None if axes is None else over(node, values, axes or tuple(range(rank)), bool(attr_of(node, keep_name)))

    return found


def _over_all(node: Node, values: Values) -> Space:
    return over(node, values, tuple(range(len(input_shape(node, values)))), False)


def _over_all_but_channels(node: Node, values: Values) -> Space:
    rank = len(input_shape(node, values))
    is_last = str(attr_of(node, "data_format")).endswith("C") or rank == 1
    channel = rank - 1 if is_last else 1
    return over(node, values, tuple(k for k in range(rank) if k != channel), False)


def _reduction(names: tuple[str, ...], write: Decomposition) -> tuple[Lowering, ...]:
    return tuple(Lowering(name, write, unread=("axes",), space=reduction_space) for name in names)


def _plain(op: str) -> Decomposition:
    return lambda call: call.reduce(op, call.tensor("x"))


def _logical(op: str) -> Decomposition:
    return lambda call: call.reduce(op, call.truth(call.tensor("x")))


def mean(call: Call, x: Tensor) -> Tensor:
    """Return the mean of floats ``x`` along the reduced axes: the sum over the count."""
    return call.apply("Div", call.reduce("Sum", x), call.count(x.dtype))


def square_sum(call: Call, x: Tensor) -> Tensor:
    """Return the sum of the squares of ``x`` along the reduced axes."""
    return call.reduce("Sum", mul(call, x, x))


def _mean(call: Call) -> Tensor:
    x = call.tensor("x")
    if x.dtype.is_float:
        return mean(call, x)
    # Integers are summed in 64 bits, so that only a sum beyond those wraps.
    total = call.reduce("Sum", call.cast(x, dt.uint64 if x.dtype.kind is DTypeKind.UNSIGNED else dt.int64))
    return call.cast(quotient(call, total, call.count(total.dtype)), x.dtype)


def _log_sum_exp(call: Call) -> Tensor:
    x = call.tensor("x")
    peak = call.reduce("Max", x)
    # An infinite peak must not be subtracted from itself.
    peak = call.select(call.apply("IsFinite", peak), peak, call.scalar(0, x))
    return add(call, call.apply("Ln", call.reduce("Sum", call.apply("Exp", sub(call, x, peak)))), peak)


def _lp_norm(call: Call) -> Tensor:
    x, p = call.tensor("x"), call.number("p")
    if p == 0:
        return call.reduce("Sum", call.cast(call.truth(x), x.dtype))
    if p == 2:
        squares = square_sum(call, x)
        return call.apply("Sqrt", squares if x.dtype.is_float else call.cast(squares, dt.float64))
    size = call.apply("Abs", x)
    if math.isinf(p):
        return call.reduce("Max" if p > 0 else "Min", size)
    if p == 1:
        return call.reduce("Sum", size)
    wide = size if x.dtype.is_float else call.cast(size, dt.float64)
    powers = call.reduce("Sum", call.apply("Pow", wide, call.scalar(p, wide)))
    return call.apply("Pow", powers, call.scalar(1 / p, wide))


def _std(call: Call) -> tuple[Tensor, ...]:
    """Return the standard deviation by two passes, and the mean."""
    x = call.tensor("x")
    average = mean(call, x)
    squares = square_sum(call, sub(call, x, average))
    count = call.count(dt.int64)
    if call.flag("unbiased"):
        count = call.apply("Maximum", sub(call, count, call.scalar(1, count)), call.scalar(0, count))
    return call.apply("Sqrt", call.apply("Div", squares, call.cast(count, x.dtype))), average


LOWERINGS: tuple[Lowering, ...] = (
    *_reduction(("ReduceSum", "ReduceSumD"), _plain("Sum")),
    *_reduction(("ReduceMax", "ReduceMaxD"), _plain("Max")),
    *_reduction(("ReduceMin", "ReduceMinD"), _plain("Min")),
    *_reduction(("ReduceProd", "ReduceProdD"), _plain("Prod")),
    *_reduction(("ReduceAll", "ReduceAllD"), _logical("All")),
    *_reduction(("ReduceAny", "ReduceAnyD"), _logical("Any")),
    *_reduction(("ReduceMean", "ReduceMeanD"), _mean),
    *_reduction(("ReduceLogSum",), lambda call: call.apply("Ln", call.reduce("Sum", call.tensor("x")))),
    *_reduction(("ReduceLogSumExp",), _log_sum_exp),
    *_reduction(("SquareSumV1",), lambda call: square_sum(call, call.tensor("x"))),
    Lowering("LpNormV2", _lp_norm, space=_over_attr("axes", "keepdim")),
    Lowering("ReduceStdV2", _std, space=_over_attr("dim", "keepdim")),
    Lowering("L2Loss", lambda call: times(call, square_sum(call, call.tensor("x")), 0.5), space=_over_all),
    Lowering("BiasAddGrad", _plain("Sum"), space=_over_all_but_channels),
)
