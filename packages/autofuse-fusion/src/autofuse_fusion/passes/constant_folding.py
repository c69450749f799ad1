"""Compute what is known when compiling.

before   c = Const [1, 2]; d = Mul(c, c); y = Add(x, d)
after    d = Const [1, 4]; y = Add(x, d)
"""

from math import prod

from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import Constant, Graph, Node
from autofuse_ir.operators import Flag, operator
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import Array, to_array, to_tensor_data
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.operators.evaluate import evaluate_operator
from autofuse_reference.operators.table import has_meaning

from autofuse_fusion.lower.table import VIEWS


@frozen
class FoldConstants:
    """Vector operators on constants become constants.

    ``most_elements`` caps a result, unless it is no larger than what it is made of: a small constant that ``Expand`` or
    ``Tile`` would blow up stays small. An evaluation that fails (an integer division by zero) is left to the run.
    """

    most_elements: int = 1024

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` with constant expressions evaluated by the reference, in their declared dtypes."""
        known = {constant.name: constant for constant in graph.constants}
        arrays: dict[str, Array] = {}
        added: list[Constant] = []
        kept: list[Node] = []
        for node in graph.nodes:
            results = self._evaluated(node, known, arrays)
            if results is None:
                kept.append(node)
                continue
            for name, array in zip(node.outputs, results, strict=False):
                if name:
                    known[name] = Constant(name, to_tensor_data(array))
                    added.append(known[name])
        if not added:
            return graph
        return evolve(graph, nodes=tuple(kept), constants=(*graph.constants, *added))

    def _evaluated(self, node: Node, known: dict[str, Constant], arrays: dict[str, Array]) -> list[Array] | None:
        op = operator(node.op)
        foldable = op.has(Flag.VECTOR) and not op.has(Flag.RANDOM) and has_meaning(node.op)
        if not foldable or not node.inputs or not all(name in known for name in node.inputs if name):
            return None
        read = sum(prod(known[name].data.shape) for name in node.inputs if name)
        if any(known[name].data.dtype.is_opaque for name in node.inputs if name):
            return None
        if node.op not in VIEWS and read > 64 * self.most_elements:
            return None  # large weights are not worth the compile time
        inputs = [None if name is None else _array(known[name], arrays) for name in node.inputs]
        if node.op in ("Expand", "BroadcastTo", "Fill", "Tile") and _grown(node, inputs) > self.most_elements:
            return None
        try:
            results = evaluate_operator(node, None, inputs)
        except (EvaluationError, StatusError):
            return None
        if any(array.size > max(self.most_elements, read) for array in results):
            return None
        return results


def _array(constant: Constant, arrays: dict[str, Array]) -> Array:
    if constant.name not in arrays:
        arrays[constant.name] = to_array(constant.data)
    return arrays[constant.name]


def _grown(node: Node, inputs: list[Array | None]) -> int:
    """Return about how many elements an operator that repeats its input makes, before it is run."""
    data, shape = (inputs[1], inputs[0]) if node.op == "Fill" else (inputs[0], inputs[1])
    assert data is not None
    assert shape is not None
    target = prod(int(size) for size in shape.reshape(-1))
    return data.size * target if node.op == "Tile" else max(data.size, target)


def scalar_constant(data: TensorData) -> bool | int | float | None:
    """Return the value of a constant whose elements are all equal, bit by bit; None otherwise."""
    if data.dtype.is_opaque or data.element_count == 0:
        return None
    size = data.dtype.itemsize
    first = data.raw[:size]
    if data.raw != first * data.element_count:
        return None
    item = to_array(TensorData(data.dtype, (), first)).reshape(())
    if data.dtype == dt.bool_:
        return bool(item)
    return float(item) if data.dtype.is_float else int(item)
