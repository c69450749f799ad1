"""The NumPy host backend: runs host regions whose operators have a NumPy meaning. Entry point ``reference``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autofuse_ir.graph import Node, Payload
from autofuse_ir.program import ProgramRegion
from autofuse_ir.tensor_data import TensorData

from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators.evaluate import evaluate_operator


class ReferenceBackend:
    """Evaluates the operators of a region one by one, each in its declared dtype."""

    def compile(
        self,
        region: ProgramRegion,
        payloads: Mapping[str, Payload],
        constants: Mapping[str, TensorData] | None = None,
    ) -> Callable[[list[Any]], Sequence[Any]]:
        """Return a callable from the values of ``region.inputs`` to those of ``region.outputs``."""
        del payloads, constants

        def run(values: list[Any]) -> list[Any]:
            known: dict[str, Any] = dict(zip(region.inputs, values, strict=True))
            for node in region.operators:
                known.update(zip(node.outputs, evaluate_node(node, known), strict=True))
            return [known[name] for name in region.outputs]

        return run


def evaluate_node(node: Node, known: Mapping[str, Any]) -> Sequence[Any]:
    """Return the results of ``node`` on the arrays ``known`` by value name."""
    missing = [name for name in node.inputs if name is not None and name not in known]
    if missing:
        raise EvaluationError(
            f"{node.op} reads {missing[0]!r}, which nothing made before it",
            where=f"node {node.name}",
            fix="list the operators in topological order",
        )
    inputs = [None if name is None else known[name] for name in node.inputs]
    return evaluate_operator(node, None, inputs)
