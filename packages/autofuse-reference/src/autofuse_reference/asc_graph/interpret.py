"""Evaluate an AscGraph (HintGraph form) on whole NumPy arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define
from autofuse_ir.asc_graph import AscGraph, AscNode, Bounds
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.reduction import reduced_axes, tree_of

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.asc_graph.access import element_view, memory_shape
from autofuse_reference.asc_graph.gather import places
from autofuse_reference.asc_graph.scalars import scalar_value
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.precision import Precision, cast, widen
from autofuse_reference.operators.reduction_tree import reduce_axes
from autofuse_reference.operators.scan import SCANS, scan


def interpret(
    graph: AscGraph, inputs: Sequence[Array], sizes: Mapping[str, int], precision: Precision = "declared"
) -> list[Array]:
    """Return the outputs of ``graph``, by output index, for ``inputs`` by data index.

    ``sizes`` binds the size symbols. Inputs and results have the memory shapes that the access maps of Loads and Stores
    name. In precision "float64" float results are float64 and not rounded on the way. Raises ``EvaluationError`` for
    arrays of another dtype or size, an access outside of its data, an output that is not written in full, and for what
    operators refuse.
    """
    return _Run(graph, sizes, precision).outputs(inputs)


@define(eq=False)
class _Output:
    """What was stored so far: ``written`` counts the points of all Stores."""

    content: Array
    written: int = 0


class _Run:
    """One evaluation: values by node name, each broadcastable to the axes' sizes."""

    def __init__(self, graph: AscGraph, sizes: Mapping[str, int], precision: Precision) -> None:
        self.graph = graph
        self.sizes = sizes
        self.precision: Precision = precision
        self.axes = tuple(axis.name for axis in graph.axes)
        self.values: dict[str, Array] = {}
        self._known: dict[Dim, int] = {}
        self.extent = tuple(self._size(axis.size) for axis in graph.axes)

    def outputs(self, inputs: Sequence[Array]) -> list[Array]:
        """Evaluate every node in order and return what was stored."""
        data: dict[str, Array] = {}
        memory: dict[int, _Output] = {}
        stores = {n.inputs[0]: n.argument_index for n in self.graph.nodes if n.op == "Output"}
        last_use = {name: n.name for n in self.graph.nodes for name in n.inputs}
        for node in self.graph.nodes:
            match node.op:
                case "Data":
                    data[node.name] = self._data(node, inputs)
                case "Load":
                    self.values[node.name] = self._load(node, data[node.inputs[0]])
                case "Store":
                    self._store(node, memory, stores[node.name])
                case "Output":
                    continue
                case _:
                    self.values[node.name] = self._compute(node)
            for name in node.inputs:
                if last_use[name] == node.name:
                    self.values.pop(name, None)
        for number, output in memory.items():
            if output.written < output.content.size:
                raise EvaluationError(
                    f"output {number} has {output.content.size} elements, but {output.written} are written",
                    where=f"kernel {self.graph.name}",
                    fix="report this: the stores of the kernel do not cover its output",
                )
        return [memory[i].content for i in sorted(memory)]

    def _data(self, node: AscNode, inputs: Sequence[Array]) -> Array:
        number = node.argument_index
        where = f"kernel {self.graph.name}, input {number}"
        if number >= len(inputs):
            raise EvaluationError(f"no array is given, there are {len(inputs)}", where=where)
        array = np.asarray(inputs[number])
        wanted = numpy_dtype(node.dtype)
        is_wide = self.precision == "float64" and node.dtype.is_float and array.dtype == np.float64
        if array.dtype != wanted and not is_wide:
            raise EvaluationError(
                f"the array has dtype {array.dtype}, but {node.dtype.name} is expected",
                where=where,
                fix=f"convert it with .astype({node.dtype.name!r})",
            )
        return array if array.flags.c_contiguous else np.array(array, order="C")

    def _load(self, node: AscNode, memory: Array) -> Array:
        assert node.access is not None
        shape, name = self._shape(node), self.graph.name
        if node.access.bounds is not Bounds.FILL and len(node.inputs) == 1:
            view = element_view(node, memory, shape, self.axes, self._size, name)
            return np.ascontiguousarray(view).reshape(view.shape)
        memory_shape(node, memory, self._size, name)
        if 0 in shape:
            return np.empty(shape, memory.dtype)
        operands = [self.values[index] for index in node.inputs[1:]]
        positions = {axis: self._position(axis) for axis in self.axes}
        return places(node, positions, operands, self._size, np.asarray(True), name).read(node, memory.reshape(-1))

    def _position(self, axis: str) -> Array:
        place = self.axes.index(axis)
        return np.arange(self.extent[place]).reshape([-1 if i == place else 1 for i in range(len(self.axes))])

    def _along(self, value: Array, axes: tuple[str, ...]) -> Array:
        """``value`` at each point of ``axes``, along which it may not vary."""
        sizes = zip(self.axes, self.extent, value.shape, strict=True)
        return np.broadcast_to(value, [extent if axis in axes else own for axis, extent, own in sizes])

    def _compute(self, node: AscNode) -> Array:
        if node.op in ("Scalar", "IndexExpr"):
            return scalar_value(node, self.sizes).reshape((1,) * len(self.axes))
        if node.op == "Broadcast":
            return self.values[node.inputs[0]]
        if node.op == "AxisIndex":
            return cast(self._position(str(node.attr("axis"))), node.dtype)
        if node.op in REDUCTIONS:
            axes = reduced_axes(node)
            value = widen(self._along(self.values[node.inputs[0]], axes), self.precision)
            numbers = tuple(self.axes.index(axis) for axis in axes)
            return self._rounded(reduce_axes(node.op, value, numbers, tree_of(node), self.precision), node)
        if node.op in SCANS:
            axis = str(node.attr("axis"))
            value = widen(self._along(self.values[node.inputs[0]], (axis,)), self.precision)
            flags = bool(node.attr("exclusive")), bool(node.attr("reverse"))
            return self._rounded(scan(node.op, value, self.axes.index(axis), *flags), node)
        attrs: dict[str, Any] = {attr.name: attr.value for attr in node.attrs}
        operands = [self.values[name] for name in node.inputs]
        return evaluate_asc(node.op, node.dtype, attrs, operands, self.precision)

    def _rounded(self, value: Array, node: AscNode) -> Array:
        return value if self.precision == "float64" and node.dtype.is_float else cast(value, node.dtype)

    def _store(self, node: AscNode, memory: dict[int, _Output], number: int) -> None:
        assert node.access is not None
        value = self.values[node.inputs[0]]
        if number not in memory:
            shape = tuple(self._size(d) for d in node.access.memory)
            is_wide = self.precision == "float64" and node.dtype.is_float
            memory[number] = _Output(np.empty(shape, np.float64 if is_wide else numpy_dtype(node.dtype)))
        output = memory[number]
        repeats = self._shape(node)
        view = element_view(node, output.content, repeats, self.axes, self._size, self.graph.name)
        view[...] = value
        output.written += view.size

    def _shape(self, node: AscNode) -> tuple[int, ...]:
        return tuple(self._size(repeat) for repeat in node.repeats)

    def _size(self, dim: Dim) -> int:
        if dim not in self._known:
            self._known[dim] = evaluate(dim, self.sizes)
        return self._known[dim]
