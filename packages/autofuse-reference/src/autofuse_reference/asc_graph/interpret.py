"""Evaluate an AscGraph (HintGraph form) on whole NumPy arrays."""

from collections.abc import Mapping, Sequence

import numpy as np
from autofuse_ir.asc_graph import AccessMap, AscGraph, AscNode
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators.asc import evaluate_asc


def interpret(graph: AscGraph, inputs: Sequence[Array], sizes: Mapping[str, int]) -> list[Array]:
    """Return the outputs of ``graph``, by output index, for ``inputs`` by data index.

    ``sizes`` binds the size symbols. Inputs hold as many elements as the memory that the Loads' access maps name,
    results have the memory shapes of the Stores. Raises ``EvaluationError`` for an access outside of its data and for
    what operators refuse.
    """
    return _Run(graph, sizes).outputs(inputs)


class _Run:
    """One evaluation: values by node name, each broadcastable to the axes' sizes."""

    def __init__(self, graph: AscGraph, sizes: Mapping[str, int]) -> None:
        self.graph = graph
        self.sizes = sizes
        self.extent = {axis.name: self._size(axis.size) for axis in graph.axes}
        self.values: dict[str, Array] = {}

    def outputs(self, inputs: Sequence[Array]) -> list[Array]:
        """Evaluate every node in order and return what was stored."""
        data: dict[str, Array] = {}
        memory: dict[int, Array] = {}
        stores = {n.inputs[0]: int(n.attr("index", 0)) for n in self.graph.nodes if n.op == "Output"}  # type: ignore[arg-type]
        for node in self.graph.nodes:
            match node.op:
                case "Data":
                    data[node.name] = np.asarray(inputs[int(node.attr("index", 0))])  # type: ignore[arg-type]
                case "Load":
                    self.values[node.name] = self._load(node, data[node.inputs[0]])
                case "Store":
                    self._store(node, memory, stores)
                case "Output":
                    continue
                case _:
                    self.values[node.name] = self._compute(node)
        return [memory[i] for i in sorted(memory)]

    def _compute(self, node: AscNode) -> Array:
        ones = (1,) * len(self.graph.axes)
        if node.op == "Scalar":
            return np.asarray(node.attr("value")).astype(numpy_dtype(node.dtype)).reshape(ones)
        if node.op == "IndexExpr":
            expression = node.attr("expression")
            assert isinstance(expression, Dim)
            return np.asarray(self._size(expression)).astype(numpy_dtype(node.dtype)).reshape(ones)
        if node.op == "Broadcast":
            return self.values[node.inputs[0]]
        attrs = {attr.name: attr.value for attr in node.attrs}
        return evaluate_asc(node.op, node.dtype, attrs, [self.values[name] for name in node.inputs])

    def _load(self, node: AscNode, array: Array) -> Array:
        assert node.access is not None
        # The map may name the memory by other dims than the tensor has: the same elements in row-major order.
        array = array.reshape([self._size(d) for d in node.access.memory])
        index = self._index(node, node.access, array.shape)
        if array.ndim == 0:
            return array.reshape((1,) * len(self.graph.axes))
        return np.asarray(array[index])

    def _store(self, node: AscNode, memory: dict[int, Array], stores: Mapping[str, int]) -> None:
        assert node.access is not None
        shape = tuple(self._size(d) for d in node.access.memory)
        number = stores[node.name]
        if number not in memory:
            memory[number] = np.empty(shape, numpy_dtype(node.dtype))
        value = np.broadcast_to(self.values[node.inputs[0]], self._shape(node))
        if shape == ():
            memory[number][()] = value.reshape(-1)[0]
        else:
            memory[number][self._index(node, node.access, shape)] = value

    def _shape(self, node: AscNode) -> tuple[int, ...]:
        return tuple(self._size(repeat) for repeat in node.repeats)

    def _index(self, node: AscNode, access: AccessMap, shape: tuple[int, ...]) -> tuple[Array, ...]:
        """One index array per data dim, broadcastable over the axes along which the node varies."""
        rank = len(self.graph.axes)
        positions = {axis.name: i for i, axis in enumerate(self.graph.axes)}
        repeats = self._shape(node)
        found = []
        for number, dim in enumerate(access.dims):
            offset = self._size(dim.offset)
            steps = np.zeros((1,) * rank, np.int64)
            if dim.axis is not None:
                place = positions[dim.axis]
                walk = np.arange(repeats[place], dtype=np.int64) * self._size(dim.step)
                steps = walk.reshape(tuple(-1 if i == place else 1 for i in range(rank)))
            where = steps + offset
            if where.size and all(repeats) and (where.min() < 0 or where.max() >= shape[number]):
                raise EvaluationError(
                    f"{node.op} reaches element {int(where.max())} of a dim of {shape[number]}",
                    where=f"kernel {self.graph.name}, node {node.name}",
                    fix="its access map is wrong for these sizes",
                )
            found.append(where)
        spread = np.broadcast_arrays(*found, np.zeros(self._varying(access, repeats), np.int64))[:-1]
        return tuple(spread)

    def _varying(self, access: AccessMap, repeats: tuple[int, ...]) -> tuple[int, ...]:
        used = {d.axis for d in access.dims}
        return tuple(n if axis.name in used else 1 for n, axis in zip(repeats, self.graph.axes, strict=True))

    def _size(self, dim: Dim) -> int:
        return evaluate(dim, self.sizes)
