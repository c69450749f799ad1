"""What the tests of the ONNX front end share."""

from collections.abc import Callable, Mapping
from typing import Any

import onnx
import onnxruntime
import pytest
from autofuse_ir.graph import Graph
from autofuse_ir.program import ProgramRegion
from autofuse_onnx.frontend import import_model
from autofuse_onnx.host import OnnxRuntimeBackend
from autofuse_onnx.tensors import to_array
from onnx import parser

Run = Callable[..., list[Any]]


@pytest.fixture(scope="session")
def parse() -> Callable[[str, int], onnx.ModelProto]:
    """Return a function from the text of a graph and an operator set version to a model."""

    def make(text: str, opset: int) -> onnx.ModelProto:
        return parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "com.microsoft": 1]> {text}')

    return make


@pytest.fixture(scope="session")
def imported(parse: Callable[[str, int], onnx.ModelProto]) -> Callable[..., Graph]:
    """Return a function from the text of a graph and an operator set version to the imported graph."""
    return lambda text, opset, **options: import_model(parse(text, opset), **options)


@pytest.fixture(scope="session")
def run_whole() -> Run:
    """Return a function that runs a whole model in ONNX Runtime alone on named values."""

    def run(model: onnx.ModelProto, values: Mapping[str, Any]) -> list[Any]:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        results: list[Any] = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, dict(values))
        return results

    return run


@pytest.fixture(scope="session")
def run_on_host() -> Run:
    """Return a function that runs a whole graph as one host region on named values."""

    def run(graph: Graph, values: Mapping[str, Any], *, as_constants: bool = False) -> list[Any]:
        inputs = tuple(value.name for value in graph.inputs)
        constants = {constant.name: constant.data for constant in graph.constants}
        region = ProgramRegion(
            "r", "onnxruntime", (*inputs, *constants), tuple(o.value for o in graph.outputs), graph.nodes
        )
        payloads = {payload.name: payload for payload in graph.payloads}
        call = OnnxRuntimeBackend().compile(region, payloads, constants if as_constants else None)
        return call([values[name] for name in inputs] + [to_array(data) for data in constants.values()])

    return run
