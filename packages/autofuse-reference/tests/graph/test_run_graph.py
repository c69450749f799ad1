"""Graphs by name or position, in their declared dtypes and in float64, with host operators."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph, Node, Payload, Value
from autofuse_ir.program import ProgramRegion
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_tensor_data
from autofuse_reference.errors import EvaluationError
from autofuse_reference.graph.run import dtypes_of
from autofuse_reference.run import run

X = np.linspace(-2, 2, 12).reshape(3, 4).astype(np.float16)
B = np.array([0.1, 0.2, 0.3, 0.4], np.float16)


def graph() -> Graph:
    b = GraphBuilder("g")
    x, bias = b.input("x", ("n", "m"), dt.float16), b.input("b", ("m",), dt.float16)
    b.symbol("n", 1, 8)
    return b.build(outputs={"y": b.op("Exp", b.op("Add", x, bias))})


def test_by_position_and_by_name_in_the_declared_dtype() -> None:
    wanted = np.exp((X + B).astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(run(graph(), [X, B])[0], wanted)
    np.testing.assert_array_equal(run(graph(), {"b": B, "x": X})[0], wanted)


def test_float64_rounds_nothing() -> None:
    exact = np.exp(X.astype(np.float64) + B.astype(np.float64))
    np.testing.assert_array_equal(run(graph(), [X, B], precision="float64")[0], exact)


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ([X, B[:3]], "dim 0 of input 'b' is 3, but m = 4 is expected"),
        ([X[:0], B], r"size n is 0, outside its range 1..8"),
        ([X.astype(np.float32), B], "input 'x' has dtype float32, but float16 is expected"),
        ([X[0], B], "input 'x' has 1 dims, but 2 dims"),
        ([X], "1 inputs were given, but there are 2"),
        ({"x": X, "c": B}, "there is no input 'c'"),
    ],
)
def test_arguments_that_do_not_fit_are_one_clear_error(arrays: Any, told: str) -> None:
    with pytest.raises(EvaluationError, match=told):
        run(graph(), arrays)


def test_nodes_that_do_not_fit_their_operators_are_one_clear_error() -> None:
    for op, other, told in (("Add", 1, "must have one dtype"), ("Neg", 1.0, "2 inputs do not fit")):
        b = GraphBuilder("unfit")
        x, y = b.input("x", ("n",), dt.float32), b.constant(to_tensor_data(np.asarray(other)))
        with pytest.raises(EvaluationError, match=told):
            run(b.build(outputs={"z": b.op(op, x, y)}), [np.ones(2, np.float32)])


class Host:
    """Adds one to each input, in the dtype it comes in."""

    def __init__(self) -> None:
        self.dtypes: list[Any] = []

    def compile(
        self, region: ProgramRegion, payloads: Mapping[str, Payload], constants: object = None
    ) -> Callable[[list[Any]], Sequence[Any]]:
        assert [o.op for o in region.operators] == ["Secret"]
        assert payloads["blob"].format == "onnx.NodeProto"

        def call(values: list[Any]) -> Sequence[Any]:
            self.dtypes += [v.dtype for v in values]
            return [v + v.dtype.type(1) for v in values]

        return call


def with_host() -> Graph:
    """y = exp(secret(x + b)), where only a host backend knows Secret."""
    made = graph()
    add, exp = made.nodes
    secret = Node("secret", "Secret", (add.outputs[0],), ("s",), (), "model.onnx, node /secret", "blob")
    blob = Payload("blob", "onnx.NodeProto", TensorData(dt.uint8, (0,), b""))
    return evolve(
        made,
        nodes=(add, secret, evolve(exp, inputs=("s",))),
        declared=(Value("s", dt.float16, None),),
        payloads=(blob,),
    )


def test_host_operators_get_the_declared_dtype_in_either_precision() -> None:
    host = Host()
    declared = run(with_host(), [X, B], hosts={"onnxruntime": host})[0]
    np.testing.assert_array_equal(declared, np.exp((X + B + np.float16(1)).astype(np.float32)).astype(np.float16))
    wide = run(with_host(), [X, B], precision="float64", hosts={"onnxruntime": host})[0]
    assert host.dtypes == [np.float16, np.float16]
    summed = (X.astype(np.float64) + B.astype(np.float64)).astype(np.float16) + np.float16(1)
    np.testing.assert_array_equal(wide, np.exp(summed.astype(np.float64)))


def test_a_host_operator_without_a_backend_names_itself() -> None:
    with pytest.raises(EvaluationError, match=r"model\.onnx, node /secret: the operator Secret has no NumPy meaning"):
        run(with_host(), [X, B])


def test_dtypes_follow_the_rules_of_the_operators() -> None:
    b = GraphBuilder("g")
    x = b.input("x", ("n",), dt.float16)
    made = b.build(outputs={"y": b.op("Less", b.op("Neg", x), x)})
    assert dtypes_of(made)[made.outputs[0].value] == dt.bool_
    assert dtypes_of(made)[made.nodes[0].outputs[0]] == dt.float16
