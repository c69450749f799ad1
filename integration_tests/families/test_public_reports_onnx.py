"""Faults that users of other compilers reported, as small ONNX models.

Every model runs unfused, and fused under strict and auto numerics by the interpreter and by the compiler, compiled once
for all sizes. The wanted values are NumPy's, or written out. Each test cites where the fault was reported.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from autofuse.front_end import import_graph
from autofuse_testkit.every_path import EveryPath, every_path
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
Shape = Sequence[int | str]

F = np.float32
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, int],
    constants: Mapping[str, Array] | None = None,
) -> EveryPath:
    """Every path through a model of float inputs (name -> shape) and outputs (name -> dtype)."""
    graph = helper.make_graph(
        nodes,
        "report",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    return every_path(import_graph(proto))


@pytest.mark.parametrize("fused", [False, True], ids=["pad-pool", "pool-pads"])
def test_padding_counts_in_the_mean_of_a_pool(fused: bool) -> None:
    """https://github.com/microsoft/onnxruntime/issues/26708 (another divisor once the pad is part of the pool)."""
    pad = helper.make_node("Pad", ["x", "pads"], ["p"])
    pool = helper.make_node("AveragePool", ["p"], ["y"], kernel_shape=[2, 2], strides=[1, 1])
    inner = helper.make_node(
        "AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[1, 1], pads=[0, 0, 1, 1], count_include_pad=1
    )
    pads = {"pads": np.array([0, 0, 0, 0, 0, 0, 1, 1])}
    every = model([inner] if fused else [pad, pool], {"x": (1, 1, "h", "w")}, {"y": FLOAT}, {} if fused else pads)
    every.check((np.ones((1, 1, 2, 2), F),), np.array([[[[1, 0.5], [0.5, 0.25]]]], F))
    wide = np.pad(np.arange(12, dtype=F).reshape(3, 4), ((0, 1), (0, 1)))
    wanted = (wide[:-1, :-1] + wide[1:, :-1] + wide[:-1, 1:] + wide[1:, 1:]) / 4
    every.check((np.arange(12, dtype=F).reshape(1, 1, 3, 4),), wanted.reshape(1, 1, 3, 4), tolerance=1e-6)


def test_a_pad_in_front_of_a_pool_that_excludes_its_own_padding_stays() -> None:
    """https://github.com/microsoft/onnxruntime/issues/22177 (one pad for both counts too many elements)."""
    pad = helper.make_node("Pad", ["x", "pads"], ["p"])
    pool = helper.make_node(
        "AveragePool", ["p"], ["y"], kernel_shape=[2, 2], strides=[1, 1], pads=[0, 0, 1, 1], count_include_pad=0
    )
    every = model([pad, pool], {"x": (1, 1, "h", "w")}, {"y": FLOAT}, {"pads": np.array([0, 0, 0, 0, 0, 0, 1, 1])})
    # the zeros of Pad count, the ones around the pool do not
    every.check((np.ones((1, 1, 2, 2), F),), np.array([[[[1, 0.5, 0], [0.5, 0.25, 0], [0, 0, 0]]]], F))
    every.check((np.ones((1, 1, 1, 1), F),), np.array([[[[0.25, 0], [0, 0]]]], F))
    assert every.host_operators[-1] == "AveragePool"


def test_a_value_inside_a_chain_may_also_be_an_output() -> None:
    """https://github.com/microsoft/onnxruntime/issues/4110 (the output is lost when the chain is fused)."""
    names = ("x", "a", "b", "c", "y")
    operators = ("Abs", "Sqrt", "Neg", "Exp")
    nodes = [helper.make_node(op, [names[k]], [names[k + 1]]) for k, op in enumerate(operators)]
    every = model(nodes, {"x": ("n", 3)}, {"y": FLOAT, "b": FLOAT})
    for rows in (1, 5, 0, 100):
        x = np.random.default_rng(0).standard_normal((rows, 3)).astype(F)
        b = np.sqrt(np.abs(x))
        every.check((x,), np.exp(-b.astype(np.float64)).astype(F), b, tolerance=1e-6)
    assert every.kernels == (1, 1)


def test_folding_constants_broadcasts() -> None:
    """https://github.com/apache/tvm/issues/20117 (Min of constants of two shapes)."""
    constants = {"a": np.arange(1, 7, dtype=F).reshape(3, 2), "b": np.array(0, F)}
    least = helper.make_node("Min", ["a", "b"], ["y"])
    model([least], {}, {"y": FLOAT}, constants).check((), np.zeros((3, 2), F))
    also = helper.make_node("Add", ["x", "y"], ["z"])
    x = np.ones((3, 2), F)
    model([least, also], {"x": ("n", 2)}, {"z": FLOAT}, constants).check((x,), x)


@pytest.mark.parametrize("shape", [(4, 1, 1), (1,), (4, 4)])
@pytest.mark.parametrize("given", ["constant", "run-time"])
def test_slopes_broadcast_to_their_input(shape: tuple[int, ...], given: str) -> None:
    """https://github.com/apache/tvm/issues/18598 (PRelu expects a slope for each channel)."""
    slope = np.linspace(0, 1, int(np.prod(shape)), dtype=F).reshape(shape)
    inputs: dict[str, Shape] = {"x": ("n", 4, "h", 4)}
    constants = {"slope": slope} if given == "constant" else {}
    every = model(
        [helper.make_node("PRelu", ["x", "slope"], ["y"])],
        inputs if constants else inputs | {"slope": shape},
        {"y": FLOAT},
        constants,
    )
    x = np.random.default_rng(0).standard_normal((1, 4, 4, 4)).astype(F)
    x[0, 0, 0, 0] = x[0, 1, 1, 1] = -np.inf
    for values in (x, x[:0]):
        with np.errstate(invalid="ignore"):
            wanted = np.where(values < 0, slope * values, values)
        assert np.isnan(wanted[:, 0, 0, 0]).all()  # -inf by the slope 0
        every.check((values,) if constants else (values, slope), wanted)


def test_a_concat_keeps_the_size_of_the_batch() -> None:
    """https://github.com/onnx/onnx/issues/7445 (Reshape to (0, -1) behind it cannot be inferred)."""
    nodes = [
        helper.make_node("Concat", ["x", "y"], ["c"], axis=1),
        helper.make_node("Reshape", ["c", "shape"], ["z"]),
    ]
    every = model(nodes, {"x": ("s0", 3, 4), "y": ("s0", 5, 4)}, {"z": FLOAT}, {"shape": np.array([0, -1])})
    for rows in (1, 2, 9):
        x, y = np.full((rows, 3, 4), 1, F), np.full((rows, 5, 4), 2, F)
        every.check((x, y), np.concatenate([x, y], 1).reshape(rows, -1))


def test_reshaping_to_the_own_shape_is_nothing() -> None:
    """https://github.com/apache/tvm/issues/20260 (Shape as the shape of Reshape does not compile)."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Mul", ["shape", "one"], ["same"]),
        helper.make_node("Reshape", ["x", "same"], ["y"]),
        helper.make_node("Reshape", ["x", "shape"], ["z"]),
    ]
    every = model(nodes, {"x": ("s0", 8)}, {"y": FLOAT, "z": FLOAT}, {"one": np.array([1, 1])})
    for rows in (1, 2, 64, 0):
        x = np.arange(8 * rows, dtype=F).reshape(rows, 8)
        every.check((x,), x, x)


def test_arg_max_takes_the_first_nan() -> None:
    """https://github.com/tensorflow/tensorflow/issues/120232; ONNX leaves it open, here it is NumPy's rule."""
    every = model([helper.make_node("ArgMax", ["x"], ["y"], axis=-1, keepdims=0)], {"x": ("n", "m")}, {"y": INT64})
    for values in ([[4, 5.5, np.nan]], [[np.nan, 100]], [[1, 2, 2, 0], [np.nan, 9, np.nan, -np.inf]]):
        x = np.array(values, F)
        every.check((x,), np.argmax(x, -1))


@pytest.mark.parametrize("given", ["constant", "run-time"])
def test_a_chain_on_a_constant_is_what_it_is_at_run_time(given: str) -> None:
    """https://github.com/microsoft/onnxruntime/issues/31163 (inf times zero is folded to zero)."""
    zeros = np.zeros((13, 16, 16), F)
    nodes = [
        helper.make_node("Sqrt", ["x"], ["s"]),
        helper.make_node("Reciprocal", ["s"], ["r"]),
        helper.make_node("ReduceMin", ["r", "axes"], ["m"], keepdims=0),
        helper.make_node("Mul", ["m", "zero"], ["y"]),
    ]
    constants = {"axes": np.array([-1]), "zero": np.array(0, F)} | ({"x": zeros} if given == "constant" else {})
    every = model(nodes, {"x": ("a", "b", "c")} if given == "run-time" else {}, {"y": FLOAT}, constants)
    every.check((zeros,) if given == "run-time" else (), np.full((13, 16), np.nan, F))


def test_scans_of_one_element_keep_it() -> None:
    """https://github.com/pytorch/pytorch/issues/184089: ONNX knows no scan of rank 0, so one of size 1."""
    every = model(
        [helper.make_node("CumSum", ["x", "axis"], ["y"])], {"x": ("n",)}, {"y": FLOAT}, {"axis": np.array(-1)}
    )
    for values in ([2.5], [1, 2, 3], []):
        x = np.array(values, F)
        every.check((x,), np.cumsum(x, dtype=F))
