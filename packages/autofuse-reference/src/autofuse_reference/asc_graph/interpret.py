"""Evaluate an AscGraph (HintGraph form) on whole NumPy arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define
from autofuse_ir.asc_graph import AscGraph, AscNode
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.asc_graph.access import element_view
from autofuse_reference.asc_graph.scalars import scalar_value
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators.asc import evaluate_asc
from autofuse_reference.operators.precision import Precision


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
                    array = data[node.inputs[0]]
                    view = element_view(node, array, self._shape(node), self.axes, self._size, self.graph.name)
                    self.values[node.name] = np.ascontiguousarray(view).reshape(view.shape)
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

    def _compute(self, node: AscNode) -> Array:
        if node.op in ("Scalar", "IndexExpr"):
            return scalar_value(node, self.sizes).reshape((1,) * len(self.axes))
        if node.op == "Broadcast":
            return self.values[node.inputs[0]]
        attrs: dict[str, Any] = {attr.name: attr.value for attr in node.attrs}
        operands = [self.values[name] for name in node.inputs]
        return evaluate_asc(node.op, node.dtype, attrs, operands, self.precision)

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
