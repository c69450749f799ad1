"""Evaluating an operator: precisions, results, errors."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr, Node
from autofuse_reference.arrays import dtype_of
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.operators import evaluate_operator


def test_a_node_brings_its_own_attributes() -> None:
    node = Node("n", "LeakyRelu", ("x",), ("y",), (Attr("negative_slope", 0.5),))
    assert evaluate_operator(node, None, [np.asarray([-2.0])])[0].tolist() == [-1.0]
    assert evaluate_operator("LeakyRelu", {}, [np.asarray([-2.0])])[0].tolist() == [0.0]


def test_a_node_gets_as_many_results_as_it_has_outputs() -> None:
    x, shape = np.ones((2, 3)), np.asarray([3])
    assert len(evaluate_operator("LayerNormV4", {}, [x, shape])) == 3
    assert len(evaluate_operator(Node("n", "LayerNormV4", ("x", "s"), ("y",)), None, [x, shape])) == 1
    pool = Node("n", "MaxPool", ("x",), ("y", "indices"), (Attr("kernel_shape", (1,)),))
    with pytest.raises(EvaluationError, match="makes 1 of its 2 outputs"):
        evaluate_operator(pool, None, [np.ones((1, 1, 3))])


def test_one_value_may_be_read_twice() -> None:
    node = Node("n", "Mul", ("x", "x"), ("y",))
    x = np.asarray([3], np.int16)
    assert evaluate_operator(node, None, [x, x])[0].tolist() == [9]


def test_missing_optional_inputs_are_none() -> None:
    x = np.asarray([-1.0, 5.0])
    assert evaluate_operator("Clip", {}, [x, None, np.asarray(2.0)])[0].tolist() == [-1.0, 2.0]
    assert evaluate_operator("Clip", {}, [x, np.asarray(0.0)])[0].tolist() == [0.0, 5.0]
    assert evaluate_operator("Clip", {}, [x])[0].tolist() == [-1.0, 5.0]


def test_the_upper_bound_of_clip_wins_and_that_of_clip_by_value_does_not() -> None:
    inputs = [np.asarray([0.0]), np.asarray(2.0), np.asarray(1.0)]
    assert evaluate_operator("Clip", {}, inputs)[0].tolist() == [1.0]
    assert evaluate_operator("ClipByValue", {}, inputs)[0].tolist() == [2.0]
    assert np.isnan(evaluate_operator("Clip", {}, [np.asarray([np.nan]), *inputs[1:]])[0])


def test_float64_precision_never_rounds_and_keeps_declared_integers() -> None:
    x = np.asarray([1, 1 + 2**-10], np.float16)
    (square,) = evaluate_operator("Square", {}, [x], "float64")
    assert square.tolist() == [1, (1 + 2**-10) ** 2]
    (half,) = evaluate_operator("Cast", {"dst_type": 1}, [square], "float64")
    assert np.array_equal(half, square)
    (whole,) = evaluate_operator("Cast", {"dst_type": 3}, [square * 3], "float64")
    assert dtype_of(whole) == dt.int32


def test_declared_dtypes_may_be_given_beside_wider_arrays() -> None:
    x = np.asarray([1.0])
    (bits,) = evaluate_operator("Bitcast", {"type": dt.int16}, [x], "float64", input_dtypes=[dt.float16])
    assert bits.tolist() == [0x3C00]


def test_scalars_of_attributes_are_rounded_to_the_declared_dtype_first() -> None:
    third = 1 / 3
    (declared,) = evaluate_operator("Muls", {"value": third}, [np.asarray([3], np.float16)])
    assert declared.tolist() == [np.float16(np.float32(np.float16(third)) * 3)]
    (exact,) = evaluate_operator("Muls", {"value": third}, [np.asarray([3], np.float16)], "float64")
    assert exact.tolist() == [third * 3]
    (truncated,) = evaluate_operator("Adds", {"value": 1.9}, [np.asarray([3], np.int32)])
    assert truncated.tolist() == [4]


def test_composites_of_halves_do_not_overflow_inside() -> None:
    x = np.full(16, 300.0, np.float16)
    assert evaluate_operator("ReduceMeanD", {"axes": (0,)}, [x])[0] == 300.0
    assert evaluate_operator("LpNormV2", {}, [x])[0] == 1200.0
    brain = np.full(4, 3.0e38, ml_dtypes.bfloat16)
    (sum_,) = evaluate_operator("ReduceSumD", {"axes": (0,)}, [brain], "float64")
    assert sum_ == 4 * float(brain[0])


@pytest.mark.parametrize("axis", [0, 1])
def test_float32_sums_of_a_million_elements_stay_within_a_few_ulp(axis: int) -> None:
    x = np.full((2**20, 2), 0.1, np.float32)
    x = x if axis == 0 else x.T
    (sums,) = evaluate_operator("ReduceSumD", {"axes": (axis,)}, [x])
    assert sums == pytest.approx(2**20 * float(np.float32(0.1)), rel=1e-6)


def test_integers_wrap_in_sums_and_means_truncate() -> None:
    x = np.asarray([100, 100], np.int8)
    assert evaluate_operator("ReduceSumD", {"axes": (0,)}, [x])[0] == -56
    assert evaluate_operator("ReduceMeanD", {"axes": (0,)}, [x])[0] == 100
    assert evaluate_operator("ReduceMeanD", {"axes": (0,)}, [np.asarray([-1, -2])])[0] == -1


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("ReduceSum", 0),
        ("ReduceProd", 1),
        ("ReduceMax", -np.inf),
        ("ReduceMin", np.inf),
        ("ReduceAll", True),
        ("ReduceAny", False),
        ("ReduceMean", np.nan),
        ("ReduceLogSumExp", -np.inf),
    ],
)
def test_reductions_of_nothing_give_the_identity(name: str, want: float) -> None:
    (y,) = evaluate_operator(name, {}, [np.zeros((2, 0), np.float32), np.asarray([1])])
    assert np.array_equal(y, np.full(2, want, y.dtype), equal_nan=True)


def test_empty_axes_reduce_nothing_or_everything() -> None:
    x = np.ones((2, 3), np.float32)
    none = np.zeros(0, np.int64)
    assert evaluate_operator("ReduceSum", {}, [x, none])[0].shape == (2, 3)
    assert evaluate_operator("ReduceSum", {}, [x])[0].shape == (2, 3)
    assert evaluate_operator("ReduceSum", {"noop_with_empty_axes": False}, [x, none])[0] == 6
    assert evaluate_operator("SquareSumV1", {"axis": ()}, [x])[0] == 6
    assert evaluate_operator("ReduceSumD", {"axes": (), "keep_dims": True}, [x])[0].shape == (2, 3)


def test_errors_name_the_operator_and_its_source() -> None:
    node = Node("n", "FloorMod", ("a", "b"), ("y",), source="model.onnx, node /mod")
    zeros = np.zeros(2, np.int32)
    with pytest.raises(
        StatusError, match=r"operator FloorMod \(model.onnx, node /mod\): an integer was divided by zero"
    ):
        evaluate_operator(node, None, [zeros, zeros])


def test_shapes_that_do_not_fit_are_an_error_with_the_shapes() -> None:
    with pytest.raises(EvaluationError, match=r"operator Add: .*float32\[2\], float32\[3\]"):
        evaluate_operator("Add", {}, [np.zeros(2, np.float32), np.zeros(3, np.float32)])
    with pytest.raises(EvaluationError, match=r"no size in place of -1"):
        evaluate_operator("Reshape", {}, [np.zeros(4), np.asarray([-1, 3])])
    with pytest.raises(EvaluationError, match=r"axes \[2\] do not fit rank 1"):
        evaluate_operator("ReduceSumD", {"axes": (2,)}, [np.zeros(2)])
    with pytest.raises(IrError, match="do not fit the signature"):
        evaluate_operator("Add", {}, [np.zeros(2)])


def test_host_operators_are_refused_with_the_way_out() -> None:
    with pytest.raises(EvaluationError, match="host backend"):
        evaluate_operator("HostCall", {}, [np.zeros(1)])


def test_random_tensors_repeat_for_a_seed_and_stay_in_range() -> None:
    shape = np.asarray([1000])
    (a,) = evaluate_operator("RandomUniform", {"dtype": dt.float32, "seed": 5}, [shape])
    (b,) = evaluate_operator("RandomUniform", {"dtype": dt.float32, "seed": 5}, [shape])
    (c,) = evaluate_operator("RandomUniform", {"dtype": dt.float32, "seed": 6}, [shape])
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    assert a.dtype == np.float32
    assert 0 <= a.min() < 0.1
    assert 0.9 < a.max() < 1
    (normal,) = evaluate_operator("TruncatedNormal", {"seed": 1}, [shape])
    assert np.abs(normal).max() <= 2
    assert abs(normal.mean()) < 0.1
    limits = [np.asarray(v) for v in (-3, 4)]
    (whole,) = evaluate_operator("RandomUniformInt", {"seed": 1}, [shape, *limits])
    assert set(np.unique(whole).tolist()) == set(range(-3, 4))
    y, offset = evaluate_operator("RandomUniformV2", {"dtype": 0, "seed": 1}, [shape, np.asarray(8)])
    assert (y.shape, offset.tolist()) == ((1000,), 1008)


@pytest.mark.parametrize(
    "name", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceAll", "ReduceAny"]
)
@pytest.mark.parametrize("keep", [False, True])
def test_both_forms_of_a_reduction_agree_with_numpy(name: str, keep: bool) -> None:
    x = np.random.default_rng(2).integers(0, 3, (2, 3, 4)).astype(np.float32)
    by_name: dict[str, Any] = {"ReduceAll": np.all, "ReduceAny": np.any, "ReduceMean": np.mean, "ReduceSum": np.sum}
    function = by_name.get(name) or getattr(np, name.removeprefix("Reduce").lower())
    want = function(x, axis=(0, 2), keepdims=keep)
    (by_input,) = evaluate_operator(name, {"keep_dims": keep}, [x, np.asarray([0, -1], np.int32)])
    (by_attr,) = evaluate_operator(f"{name}D", {"axes": (-1, 0), "keep_dims": keep}, [x])
    assert by_input.shape == by_attr.shape == want.shape
    assert by_input == pytest.approx(want)
    assert np.array_equal(by_attr, by_input)


def test_standard_normals_have_mean_zero_and_deviation_one() -> None:
    (y,) = evaluate_operator("RandomStandardNormal", {"dtype": dt.float64, "seed": 3}, [np.asarray([100, 100])])
    assert abs(y.mean()) < 0.05
    assert abs(y.std() - 1) < 0.05
