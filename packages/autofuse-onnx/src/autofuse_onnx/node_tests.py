"""The ONNX project's node tests as data, for conformance suites: one operator each, with inputs and results.

They come with the package onnx, which makes their random inputs when they are collected (some seconds).
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from attrs import field, frozen
from onnx import numpy_helper


@frozen
class NodeTest:
    """One test: a model and its values: arrays, lists for sequences, None for empty optional values."""

    name: str
    model: onnx.ModelProto = field(repr=False)
    inputs: tuple[Any, ...] = field(repr=False)
    outputs: tuple[Any, ...] = field(repr=False)
    rtol: float = 1e-3
    atol: float = 1e-7

    @property
    def expands(self) -> bool:
        """True for the variant in which a function operator is written out as its body."""
        return "_expanded" in self.name

    @property
    def op_types(self) -> tuple[str, ...]:
        """The operators of the model, in order."""
        return tuple(node.op_type for node in self.model.graph.node)


@cache
def node_tests() -> tuple[NodeTest, ...]:
    """Return all node tests, in the order of the package onnx."""
    state = np.random.get_state()
    try:
        np.random.seed(0)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415  takes seconds

            return tuple(_tests(collect_testcases(None)))
    finally:
        np.random.set_state(state)


def _tests(cases: Sequence[Any]) -> Iterator[NodeTest]:
    for case in cases:
        if case.model is None:
            continue
        for number, (inputs, outputs) in enumerate(case.data_sets):
            name = case.name if number == 0 else f"{case.name}_{number}"
            yield NodeTest(name, case.model, _values(inputs), _values(outputs), case.rtol, case.atol)


def _values(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_value(value) for value in values)


def _value(value: Any) -> Any:
    match value:
        case onnx.TensorProto():
            return numpy_helper.to_array(value)
        case onnx.SequenceProto():
            return numpy_helper.to_list(value)
        case onnx.OptionalProto():
            return numpy_helper.to_optional(value)
        case np.generic():
            return np.asarray(value)
        case _:
            return value


def symbolic(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with a name of its own for every dim of every tensor input, and no other shapes stated."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    constants = {tensor.name for tensor in result.graph.initializer}
    for number, value in enumerate(result.graph.input):
        if value.type.HasField("tensor_type") and value.name not in constants:
            for i, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"d{number}_{i}"
    for value in result.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    del result.graph.value_info[:]
    return result
