"""Positions of extremes."""

from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of

from autofuse_fusion.lower.call import Call, Decomposition, Lowering
from autofuse_fusion.lower.decompositions.reduce import input_shape, over
from autofuse_fusion.lower.space import Space, SpaceOf, axes_attr, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values


def _along(axis_name: str, keep_name: str) -> SpaceOf:
    def found(node: Node, values: Values) -> Space | None:
        axes = axes_attr(node, axis_name, len(input_shape(node, values)))
        return None if axes is None else over(node, values, axes, bool(attr_of(node, keep_name)), is_indexed=True)

    return found


def _along_kept(node: Node, values: Values) -> Space | None:
    axes = axes_attr(node, "axis", len(input_shape(node, values)))
    return None if axes is None else space(node, values, input_shape(node, values), axes, indexed=axes)


def position(call: Call, x: Tensor, extreme: Tensor, is_last: bool = False) -> Tensor:
    """Return the first or last position where ``x`` is ``extreme``, or NaN where that is NaN."""
    hit = call.apply("Eq", x, extreme)
    if x.dtype.is_float:
        # The extreme is NaN as soon as one element is; then no element equals it.
        hit = call.apply("LogicalOr", hit, call.apply("IsNan", x))
    ((dim, _),) = call.frame.indexed.items()
    index = call.index(dim)
    if is_last:
        return call.reduce("Max", call.select(hit, index, call.scalar(-1, index)))
    return call.reduce("Min", call.select(hit, index, call.size(call.frame.shape[dim], index.dtype)))


def _arg(op: str) -> Decomposition:
    def write(call: Call) -> Tensor:
        x = call.tensor("data")
        return position(call, x, call.reduce(op, x), call.flag("select_last_index"))

    return write


def _with_value(op: str) -> Decomposition:
    def write(call: Call) -> tuple[Tensor, ...]:
        x = call.tensor("x")
        extreme = call.reduce(op, x)
        return position(call, x, extreme), extreme

    return write


def _hard_max(call: Call) -> Tensor:
    x = call.tensor("x")
    first = position(call, x, call.reduce("Max", x))
    ((dim, _),) = call.frame.indexed.items()
    hit = call.apply("Eq", call.index(dim), first)
    return call.select(hit, call.scalar(1, x), call.scalar(0, x))


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("ArgMax", _arg("Max"), space=_along("axis", "keepdims")),
    Lowering("ArgMin", _arg("Min"), space=_along("axis", "keepdims")),
    Lowering("ArgMaxWithValue", _with_value("Max"), space=_along("dimension", "keep_dims")),
    Lowering("ArgMinWithValue", _with_value("Min"), space=_along("dimension", "keep_dims")),
    Lowering("HardMax", _hard_max, space=_along_kept),
)
