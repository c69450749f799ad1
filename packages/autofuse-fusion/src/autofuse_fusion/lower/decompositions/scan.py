"""Scans: each element joined with those before it."""

from autofuse_ir.graph import Node

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.reduce import input_shape
from autofuse_fusion.lower.space import Space, axes_input, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values


def _space(node: Node, values: Values) -> Space | None:
    shape = input_shape(node, values)
    axes = axes_input(node, "axis", len(shape), values)
    return None if axes is None else space(node, values, shape, scanned=axes)


def _scan(name: str, op: str) -> Lowering:
    def write(call: Call) -> Tensor:
        return call.scan(op, call.tensor("x"), call.flag("exclusive"), call.flag("reverse"))

    return Lowering(name, write, unread=("axis",), space=_space)


LOWERINGS: tuple[Lowering, ...] = (_scan("Cumsum", "CumSum"), _scan("Cumprod", "CumProd"))
