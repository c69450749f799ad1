"""Kernels evaluated point by point over their whole nest: index arithmetic that shares nothing with what wrote them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from autofuse_ir.asc_graph import AscGraph, AscNode, Bounds
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.reduction_tree import reduce_axes
from autofuse_reference.operators.scan import scan

Array = np.ndarray[Any, Any]


def run_asc_graph(graph: AscGraph, inputs: Sequence[Array], sizes: Mapping[str, int]) -> dict[int, Array]:
    """Return the outputs of a kernel, flat, by index. Each element has to be stored once."""
    run = _Run(graph, sizes)
    outputs: dict[int, Array] = {}
    for node in graph.nodes:
        assert node.name not in run.values, f"{node.name} is made twice"
        assert all(name in run.values for name in node.inputs), f"{node.name} reads what is not made yet"
        match node.op:
            case "Data":
                run.values[node.name] = np.ascontiguousarray(inputs[node.argument_index]).reshape(-1)
                assert run.values[node.name].dtype == numpy_dtype(node.dtype)
            case "Load":
                run.values[node.name] = run.loaded(node)
            case "Store":
                run.values[node.name] = run.stored(node)
            case "Output":
                outputs[node.argument_index] = run.values[node.name] = run.values[node.inputs[0]]
            case _:
                run.values[node.name] = run.computed(node)
    return outputs


class _Run:
    """One evaluation: ``values`` by node, each with one axis for each of the graph's; data and stores are flat."""

    def __init__(self, graph: AscGraph, sizes: Mapping[str, int]) -> None:
        self.graph = graph
        self.sizes = sizes
        self.extents = [evaluate(axis.size, sizes) for axis in graph.axes]
        self.place = {axis.name: k for k, axis in enumerate(graph.axes)}
        self.values: dict[str, Array] = {}

    def loaded(self, node: AscNode) -> Array:
        """What a Load finds, or fills in where there is nothing."""
        memory, (index, inside) = self.values[node.inputs[0]], self._flat_index(node)
        assert node.access is not None
        if node.access.bounds is not Bounds.FILL:
            return np.asarray(memory[index])
        found = np.full(index.shape, np.asarray(node.attr("fill")).astype(memory.dtype), memory.dtype)
        found[inside] = memory[index[inside]]
        return found

    def stored(self, node: AscNode) -> Array:
        """The memory that a Store writes, whole."""
        assert node.access is not None
        count = int(np.prod([evaluate(d, self.sizes) for d in node.access.memory], dtype=np.int64))
        index, _ = self._flat_index(node)
        assert index.size == count == np.unique(index).size, "a store writes each element once"
        flat = np.zeros(count, numpy_dtype(node.dtype))
        flat[index.reshape(-1)] = np.broadcast_to(self.values[node.inputs[0]], self._extent(node)).reshape(-1)
        return flat

    def computed(self, node: AscNode) -> Array:
        """The value of any other node."""
        match node.op:
            case "Scalar":
                return self._number(node.attr("value"), node)
            case "IndexExpr":
                expression = node.attr("expression")
                assert isinstance(expression, Dim)
                return self._number(evaluate(expression, self.sizes), node)
            case "Broadcast":
                return self.values[node.inputs[0]]
            case "AxisIndex":
                return self._position(str(node.attr("axis"))).astype(numpy_dtype(node.dtype))
            case op if op in REDUCTIONS:
                axes = tuple(self.place[axis] for axis in reduced_axes(node))
                return reduce_axes(op, self._along(node.inputs[0], axes), axes, tree_of(node))
            case "CumSum" | "CumProd":
                axis = self.place[str(node.attr("axis"))]
                flags = bool(node.attr("exclusive")), bool(node.attr("reverse"))
                return scan(node.op, self._along(node.inputs[0], (axis,)), axis, *flags)
            case _:
                attrs = {attr.name: attr.value for attr in node.attrs}
                return evaluate_asc(node.op, node.dtype, attrs, [self.values[name] for name in node.inputs])

    def _number(self, value: object, node: AscNode) -> Array:
        return np.asarray(value).astype(numpy_dtype(node.dtype)).reshape((1,) * len(self.extents))

    def _position(self, axis: str) -> Array:
        k = self.place[axis]
        return np.arange(self.extents[k]).reshape([-1 if k == other else 1 for other in range(len(self.extents))])

    def _extent(self, node: AscNode) -> list[int]:
        """The size of a node's value along each axis."""
        for repeat, axis in zip(node.repeats, self.graph.axes, strict=True):
            assert repeat in (axis.size, 1), (node, axis)
        return [evaluate(repeat, self.sizes) for repeat in node.repeats]

    def _along(self, name: str, axes: tuple[int, ...]) -> Array:
        """A value at every point of ``axes``."""
        shape = self.values[name].shape
        wide = [self.extents[k] if k in axes else size for k, size in enumerate(shape)]
        return np.broadcast_to(self.values[name], wide)

    def _flat_index(self, node: AscNode) -> tuple[Array, Array]:
        """The element at each point, and whether there is one."""
        assert node.access is not None
        extent = self._extent(node)
        index: Array = np.zeros((1,) * len(extent), np.int64)
        inside: Array = np.ones((1,) * len(extent), np.bool_)
        for size, dim in zip([evaluate(d, self.sizes) for d in node.access.memory], node.access.dims, strict=True):
            at: Any = evaluate(dim.offset, self.sizes)
            if dim.axis is not None:
                at = at + self._position(dim.axis) * evaluate(dim.step, self.sizes)
            if dim.operand is not None:
                operand = self.values[node.inputs[1 + dim.operand]].astype(np.int64)
                at = at + operand * evaluate(dim.step, self.sizes)
            whole = np.broadcast_to(at, np.broadcast_shapes(np.shape(at), extent))
            fits = (whole >= 0) & (whole < size)
            if node.access.bounds is Bounds.ERROR and not np.all(fits):
                raise IndexError(node.name)
            assert node.access.bounds is Bounds.FILL or np.all(fits), node
            index, inside = index * size + at, inside & fits
        return np.broadcast_to(index, extent), np.broadcast_to(inside, extent)
