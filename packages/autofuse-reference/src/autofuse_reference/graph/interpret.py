"""Evaluate a Graph operator by operator, in its declared dtypes or with unrounded vector operators in float64."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph, Node
from autofuse_ir.operators import Flag, has_operator, operator
from autofuse_ir.program import ProgramRegion
from autofuse_ir.walk import live

from autofuse_reference.arrays import Array, numpy_dtype, to_array
from autofuse_reference.errors import EvaluationError
from autofuse_reference.executor import HostBackend
from autofuse_reference.operators.evaluate import evaluate_operator
from autofuse_reference.operators.precision import Precision, cast
from autofuse_reference.operators.table import has_meaning

ONNX_BACKEND = "onnxruntime"


class GraphInterpreter:
    """Runs what the outputs of one graph depend on.

    ``dtypes`` are the declared dtypes of its values (``SymbolFacts.values`` has them). In precision "float64" vector
    operators compute in float64 and do not round; host operators get their inputs in the declared dtypes, as they do in
    a program.
    """

    def __init__(
        self,
        graph: Graph,
        dtypes: Mapping[str, DType],
        hosts: Mapping[str, HostBackend] | None = None,
        precision: Precision = "declared",
    ) -> None:
        self.graph = graph
        self._nodes = live(graph)
        self._dtypes = dtypes
        self._hosts = dict(hosts or {})
        self._precision = precision
        self._payloads = {p.name: p for p in graph.payloads}
        self._constants = {c.name: c.data for c in graph.constants}
        self._compiled: dict[str, Callable[[list[Any]], Sequence[Any]]] = {}

    def outputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the graph's outputs by the names the user sees, for inputs by name."""
        known: dict[str, Any] = {c.name: to_array(c.data) for c in self.graph.constants}
        for value in self.graph.inputs:
            if value.name not in values:
                raise EvaluationError(f"the input {value.name!r} is missing", where=f"graph {self.graph.name}")
            known[value.name] = values[value.name]
        last_use = self._last_uses()
        for position, node in enumerate(self._nodes):
            inputs = [None if name is None else known[name] for name in node.inputs]
            results = self._vector(node, inputs) if self._is_vector(node) else self._host(node, inputs)
            known.update((name, result) for name, result in zip(node.outputs, results, strict=True) if name)
            for name in last_use.get(position, ()):
                known.pop(name, None)
        return {output.name: known[output.value] for output in self.graph.outputs}

    def _is_vector(self, node: Node) -> bool:
        if not has_operator(node.op) or not has_meaning(node.op):
            return False
        is_vector = Flag.VECTOR in operator(node.op).flags
        return is_vector or node.payload is None or ONNX_BACKEND not in self._hosts

    def _vector(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        if self._precision == "declared":
            return evaluate_operator(node, None, inputs)
        declared = [None if name is None else self._dtypes.get(name) for name in node.inputs]
        return evaluate_operator(node, None, inputs, "float64", input_dtypes=declared)

    def _host(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        if node.name not in self._compiled:
            if node.payload is None or ONNX_BACKEND not in self._hosts:
                raise EvaluationError(
                    f"the operator {node.op} has no NumPy meaning and no host backend to run it",
                    where=node.source or f"node {node.name}",
                    fix="install autofuse-onnx[onnx]",
                )
            names = tuple(name for name in node.inputs if name is not None)
            region = ProgramRegion(node.name, ONNX_BACKEND, tuple(dict.fromkeys(names)), node.outputs, (node,))
            self._compiled[node.name] = self._hosts[ONNX_BACKEND].compile(region, self._payloads, self._constants)
        given = {name: self._rounded(name, value) for name, value in zip(node.inputs, inputs, strict=True) if name}
        return self._compiled[node.name](list(given.values()))

    def _rounded(self, name: str, value: Any) -> Any:
        dtype = self._dtypes.get(name)
        if dtype is None or dtype.is_opaque or not isinstance(value, np.ndarray):
            return value
        if value.dtype == numpy_dtype(dtype):
            return value
        array: Array = cast(value, dtype)
        return array

    def _last_uses(self) -> dict[int, list[str]]:
        kept = {o.value for o in self.graph.outputs}
        last: dict[str, int] = {}
        for position, node in enumerate(self._nodes):
            for name in node.inputs:
                if name is not None and name not in kept:
                    last[name] = position
        dying: dict[int, list[str]] = {}
        for name, position in last.items():
            dying.setdefault(position, []).append(name)
        return dying
