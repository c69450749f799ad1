"""Normalisations, optimizer steps and quantisation, against their textbook formulas."""

import math

import numpy as np
import pytest
from autofuse_reference.operators import evaluate_operator

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(2, 6, 4)).astype(np.float32)


def test_the_four_layer_norms_agree_and_differ_in_their_third_result() -> None:
    gamma, beta = RANDOM.normal(size=(2, 4)).astype(np.float32)
    mean, variance = X.mean(-1, keepdims=True), X.var(-1, keepdims=True)
    want = (X - mean) / np.sqrt(variance + 1e-3) * gamma + beta
    results = {
        "LayerNorm": ([X, gamma, beta], {"begin_norm_axis": -1, "epsilon": 1e-3}),
        "LayerNormV3": ([X, gamma, beta], {"begin_norm_axis": 2, "epsilon": 1e-3}),
        "LayerNormV4": ([X, np.asarray([4]), gamma, beta], {"epsilon": 1e-3}),
    }
    for name, (inputs, attrs) in results.items():
        y, average, third = evaluate_operator(name, attrs, inputs)
        assert y == pytest.approx(want, abs=1e-5)
        assert average == pytest.approx(mean, abs=1e-6)
        assert third == pytest.approx(variance if name == "LayerNorm" else 1 / np.sqrt(variance + 1e-3), rel=1e-5)
    y, _, _, x = evaluate_operator("AddLayerNorm", {"epsilon": 1e-3}, [X / 2, X / 2, gamma, beta])
    assert y == pytest.approx(want, abs=1e-5)
    assert np.array_equal(x, X)


def test_layer_norm_of_halves_is_computed_in_float32() -> None:
    x = np.full((1, 4096), 20.0, np.float16)
    x[0, ::2] = 22.0
    y, mean, variance = evaluate_operator("LayerNorm", {"begin_norm_axis": 1}, [x, x[0] * 0 + 1, x[0] * 0])
    assert (mean.item(), variance.item()) == (21.0, 1.0)
    assert np.unique(np.abs(y)).tolist() == [1.0]


def test_rms_norm_is_the_root_mean_square_of_gammas_axes() -> None:
    gamma = RANDOM.normal(size=(6, 4)).astype(np.float32)
    root = np.sqrt((X**2).mean((1, 2), keepdims=True) + 1e-6)
    y, rstd = evaluate_operator("RmsNorm", {}, [X, gamma])
    assert y == pytest.approx(X / root * gamma, rel=1e-5)
    assert rstd == pytest.approx(1 / root, rel=1e-5)
    assert rstd.shape == (2, 1, 1)
    y2, _, x = evaluate_operator("AddRmsNorm", {}, [X, X, gamma])
    assert np.array_equal(x, 2 * X)
    assert y2 == pytest.approx(y, rel=1e-3)


def test_group_norm_takes_gamma_per_channel_or_per_group() -> None:
    groups = np.asarray([2.0, 3.0], np.float32)
    grouped = X.reshape(2, 2, 12)
    normal = (grouped - grouped.mean(-1, keepdims=True)) / np.sqrt(grouped.var(-1, keepdims=True) + 1e-5)
    want = (normal * groups[None, :, None]).reshape(X.shape)
    for gamma in (groups, np.repeat(groups, 3)):
        y, mean, _ = evaluate_operator("GroupNorm", {"num_groups": 2}, [X, gamma, gamma * 0])
        assert y == pytest.approx(want, abs=1e-5)
        assert mean == pytest.approx(grouped.mean(-1), abs=1e-6)
    last = evaluate_operator(
        "GroupNorm", {"num_groups": 2, "data_format": "NHWC"}, [np.moveaxis(X, 1, -1), groups, groups * 0]
    )
    assert np.moveaxis(last[0], -1, 1) == pytest.approx(want, abs=1e-5)


def test_batch_norm_inference_forms_agree() -> None:
    scale, offset, mean, variance = RANDOM.uniform(0.5, 2, (4, 6)).astype(np.float32)
    (folded,) = evaluate_operator("BNInferenceD", {}, [X, -mean, 1 / np.sqrt(variance + 1e-3), scale, offset])
    (plain,) = evaluate_operator("BNInfer", {"epsilon": 1e-3}, [X, scale, offset, mean, variance])
    column = np.s_[None, :, None]
    want = (X - mean[column]) / np.sqrt(variance[column] + 1e-3) * scale[column] + offset[column]
    assert folded == pytest.approx(want, abs=1e-5)
    assert plain == pytest.approx(want, abs=1e-5)


def test_batch_norm_training_mixes_running_statistics_with_the_unbiased_variance() -> None:
    ones, zeros = np.ones(6, np.float32), np.zeros(6, np.float32)
    sums = evaluate_operator("BNTrainingReduce", {}, [X])
    assert sums[1] == pytest.approx((X**2).sum((0, 2)), rel=1e-5)
    attrs = {"factor": 0.25, "epsilon": 1e-3}
    results = evaluate_operator("BNTrainingUpdate", attrs, [X, *sums, ones, zeros, ones, zeros])
    y, running_mean, running_variance, batch_mean, batch_variance = results
    assert batch_mean == pytest.approx(X.mean((0, 2)), abs=1e-6)
    assert batch_variance == pytest.approx(X.var((0, 2)), rel=1e-4)
    assert running_mean == pytest.approx(0.75 + 0.25 * X.mean((0, 2)), abs=1e-6)
    assert running_variance == pytest.approx(0.25 * X.var((0, 2), ddof=1), rel=1e-4)
    assert y.mean((0, 2)) == pytest.approx(0.0, abs=1e-6)


def test_rotary_position_embedding_turns_pairs() -> None:
    angle = np.asarray([0.1, 0.2, 0.1, 0.2])
    x = np.asarray([1.0, 2.0, 3.0, 4.0])
    (halves,) = evaluate_operator("RotaryPositionEmbedding", {}, [x, np.cos(angle), np.sin(angle)])
    turned = (x[:2] + 1j * x[2:]) * np.exp(1j * angle[:2])
    assert halves == pytest.approx(np.concatenate([turned.real, turned.imag]))
    angle = np.asarray([0.1, 0.1, 0.2, 0.2])
    (pairs,) = evaluate_operator("RotaryPositionEmbedding", {"mode": 1}, [x, np.cos(angle), np.sin(angle)])
    turned = (x[::2] + 1j * x[1::2]) * np.exp(1j * angle[::2])
    assert pairs == pytest.approx(np.stack([turned.real, turned.imag], -1).reshape(4))


def test_adam_is_the_algorithm_of_the_paper() -> None:
    theta, m, v = 1.0, 0.0, 0.0
    var, first, second = (np.asarray(value) for value in (theta, m, v))
    for t in range(1, 6):
        g = math.cos(t)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        theta -= 0.1 * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.99**t)) + 0.0)
        constants = (0.9**t, 0.99**t, 0.1, 0.9, 0.99, 0.0, g)
        var, first, second = evaluate_operator(
            "ApplyAdamD", {}, [var, first, second, *(np.asarray(c) for c in constants)]
        )
    assert var == pytest.approx(theta)


def test_adagrad_and_gradient_descent_and_assignments() -> None:
    var, accum, grad = np.asarray([1.0, 2.0]), np.asarray([0.5, 0.0]), np.asarray([2.0, -3.0])
    new, sums = evaluate_operator("ApplyAdagradD", {}, [var, accum, np.asarray(0.1), grad])
    assert sums.tolist() == [4.5, 9.0]
    assert new == pytest.approx([1 - 0.2 / math.sqrt(4.5), 2.1])
    (same,) = evaluate_operator("ApplyAdagradD", {"update_slots": False}, [var, accum + 1, np.asarray(0.1), grad])[1:]
    assert same.tolist() == [1.5, 1.0]
    assert evaluate_operator("ApplyGradientDescent", {}, [var, np.asarray(0.5), grad])[0].tolist() == [0.0, 3.5]
    assert evaluate_operator("AssignAdd", {}, [var, grad])[0].tolist() == [3.0, -1.0]
    assert evaluate_operator("Assign", {}, [var, grad])[0].tolist() == [2.0, -3.0]


def test_ascend_quantisation_rounds_half_to_even_and_saturates() -> None:
    x = np.asarray([0.25, 0.75, 100.0, -100.0, np.nan], np.float32)
    (y,) = evaluate_operator("AscendQuant", {"scale": 2.0, "offset": 0.0}, [x])
    assert y.tolist() == [0, 2, 127, -128, 0]
    assert y.dtype == np.int8
    (floor,) = evaluate_operator("AscendQuant", {"scale": 2.0, "offset": 1.0, "round_mode": "Floor"}, [x[:2]])
    assert floor.tolist() == [1, 2]


def test_empty_batches_have_empty_results() -> None:
    gamma = np.ones(6, np.float32)
    y, mean, _ = evaluate_operator("GroupNorm", {"num_groups": 2}, [X[:0], gamma, gamma])
    assert (y.shape, mean.shape[0]) == ((0, 6, 4), 0)
    rows, index = np.ones((0, 3, 2), np.float32), np.zeros((0, 4), np.int64)
    assert evaluate_operator("Gather", {"batch_dims": 1}, [rows, index])[0].shape == (0, 4, 2)
    found = evaluate_operator("SearchSorted", {}, [np.ones((0, 3)), np.ones((0, 2))])[0]
    assert found.shape == (0, 2)
