"""Sizes: symbols of the inputs, and what the user says of them."""

from collections.abc import Callable

import numpy as np
import pytest
from autofuse_ir.graph import Graph, Symbol
from autofuse_onnx.errors import OnnxError

ADD = "g (float[N, M] x, float[N, ?] z, float[3, N] w) => (y) { y = Add(x, z) u = Neg(w) }"
Imported = Callable[..., Graph]


def test_named_dims_are_shared_and_nameless_ones_are_called_after_their_place(imported: Imported) -> None:
    graph = imported(ADD, 17)
    shapes = {value.name: [str(dim) for dim in value.shape or ()] for value in graph.inputs}
    assert shapes == {"x": ["N", "M"], "z": ["N", "z_1"], "w": ["3", "N"]}
    assert graph.symbols == (Symbol("M"), Symbol("N"), Symbol("z_1"))


def test_ranges_hints_and_sizes_reach_the_symbols(imported: Imported) -> None:
    graph = imported(ADD, 17, dims={"N": (0, 512), "M": 7}, hints={"N": 128})
    assert graph.symbols == (Symbol("N", 0, 512, 128), Symbol("z_1"))
    assert [str(dim) for dim in graph.inputs[0].shape or ()] == ["N", "7"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dims": {"Q": 3}}, "no input has a dim called 'Q'"),
        ({"hints": {"n": 3}}, "no input has a dim called 'n'"),
        ({"dims": {"N": -1}}, "dim 'N' cannot be -1"),
        ({"dims": {"N": (5, 2)}}, r"dim 'N' cannot be \(5, 2\)"),
        ({"dims": {"N": (1, 2, 3)}}, "cannot be"),
        ({"dims": {"N": 2.5}}, "cannot be 2.5"),
        ({"dims": {"N": (0, 4)}, "hints": {"N": 5}}, "hint 5 of dim 'N' lies outside its range 0..4"),
        ({"values": {"q": np.zeros(1)}}, "there is no such input"),
        ({"values": {"w": np.zeros((3, 1))}}, "it is float64, the input is float32"),
        ({"values": {"w": np.zeros((4, 1), np.float32)}}, r"its shape is \[4, 1\]"),
    ],
)
def test_sizes_and_values_that_do_not_fit_are_refused(imported: Imported, options: dict, message: str) -> None:
    with pytest.raises(OnnxError, match=message) as error:
        imported(ADD, 17, **options)
    assert error.value.fix
    assert error.value.exit_code == 2


def test_known_values_become_constants(imported: Imported) -> None:
    text = "g (float[N] x, int64[1] axes) => (y) { y = Unsqueeze(x, axes) }"
    graph = imported(text, 13, values={"axes": np.asarray([0])})
    assert [value.name for value in graph.inputs] == ["x"]
    assert [constant.name for constant in graph.constants] == ["axes"]


def test_inputs_with_an_initialiser_are_constants(imported: Imported) -> None:
    graph = imported("g (float[N] x, float[1] w) => (y) <float[1] w = {2}> { y = Mul(x, w) }", 17)
    assert [value.name for value in graph.inputs] == ["x"]


def test_inputs_that_are_no_tensors_are_opaque(imported: Imported) -> None:
    graph = imported("g (seq(float[N]) s, int64 i) => (y) { y = SequenceAt(s, i) }", 17)
    assert graph.inputs[0].dtype.is_opaque
    assert graph.inputs[0].shape is None
    assert [node.op for node in graph.nodes] == ["SequenceAt"]
