"""Reductions over axes."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DTypeKind
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, operator

from autofuse_fusion.lower.call import Call, Decomposition, Lowering
from autofuse_fusion.lower.decompositions.functions import quotient
from autofuse_fusion.lower.space import Space, axes_attr, axes_input, kept, one_each
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values


def reduction_space(node: Node, values: Values) -> Space | None:
    """Return the space of a Reduce operator: its input; axes are input or attribute "axes" (or "axis")."""
    assert node.inputs[0] is not None
    op = operator(node.op)
    shape = values.shape(node.inputs[0])
    rank = len(shape)
    if op.input("axes") is not None:
        axes = axes_input(node, "axes", rank, values)
    else:
        axes = axes_attr(node, "axis" if op.attr_spec("axis") else "axes", rank)
    if axes == () and op.attr_spec("noop_with_empty_axes") and not attr_of(node, "noop_with_empty_axes"):
        axes = tuple(range(rank))
    return None if axes is None else over(node, shape, axes, bool(attr_of(node, "keep_dims")))


def over(node: Node, shape: tuple[Dim, ...], axes: tuple[int, ...], keep_dims: bool) -> Space:
    """Return the space of an operator that reduces its first input, of ``shape``, along ``axes``."""
    whole = one_each(range(len(shape)))
    operands = (whole, *(None for _ in node.inputs[1:]))
    results = tuple(kept(len(shape), axes, keep_dims) for _ in node.outputs)
    return Space(shape, operands, results, axes)


def _reduction(names: tuple[str, ...], write: Decomposition) -> tuple[Lowering, ...]:
    return tuple(Lowering(name, write, unread=("axes",), space=reduction_space) for name in names)


def _plain(op: str) -> Decomposition:
    return lambda call: call.reduce(op, call.tensor("x"))


def _logical(op: str) -> Decomposition:
    return lambda call: call.reduce(op, call.truth(call.tensor("x")))


def mean(call: Call, x: Tensor) -> Tensor:
    """Return the mean of floats ``x`` along the reduced axes: the sum over the count."""
    return quotient(call, call.reduce("Sum", x), call.count(x.dtype))


def _mean(call: Call) -> Tensor:
    x = call.tensor("x")
    if x.dtype.is_float:
        return mean(call, x)
    # Integers are summed in 64 bits, so that only a sum beyond those wraps.
    total = call.reduce("Sum", call.cast(x, dt.uint64 if x.dtype.kind is DTypeKind.UNSIGNED else dt.int64))
    return call.cast(quotient(call, total, call.count(total.dtype)), x.dtype)


LOWERINGS: tuple[Lowering, ...] = (
    *_reduction(("ReduceSum", "ReduceSumD"), _plain("Sum")),
    *_reduction(("ReduceMax", "ReduceMaxD"), _plain("Max")),
    *_reduction(("ReduceMin", "ReduceMinD"), _plain("Min")),
    *_reduction(("ReduceProd", "ReduceProdD"), _plain("Prod")),
    *_reduction(("ReduceAll", "ReduceAllD"), _logical("All")),
    *_reduction(("ReduceAny", "ReduceAnyD"), _logical("Any")),
    *_reduction(("ReduceMean", "ReduceMeanD"), _mean),
)
