"""Gradient operators give the slope of their forward operators, by central differences in float64."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from autofuse_ir.graph import AttrValue
from autofuse_reference.arrays import Array
from autofuse_reference.operators import evaluate_operator

RANDOM = np.random.default_rng(7)
X = RANDOM.uniform(0.3, 2.0, (3, 4)) * RANDOM.choice([-1.0, 1.0], (3, 4))
DY = RANDOM.uniform(-1.0, 1.0, (3, 4))


def run(name: str, inputs: Sequence[Array | None], **attrs: AttrValue) -> list[Array]:
    return evaluate_operator(name, attrs, inputs, "float64")


def slope(forward: Callable[[Array], Array], x: Array, dy: Array) -> Array:
    """Return the gradient of sum(forward(x) * dy) by central differences."""
    step = 1e-5
    result = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[i] = step
        result[i] = np.sum((forward(x + moved) - forward(x - moved)) * dy) / (2 * step)
    return result


Gradient = Callable[[Array, Array, Array], Array]

CASES: dict[str, tuple[Callable[[Array], Array], Gradient]] = {
    "ReluGrad": (lambda x: run("Relu", [x])[0], lambda x, y, dy: run("ReluGrad", [dy, x])[0]),
    "LeakyReluGrad": (
        lambda x: run("LeakyRelu", [x], negative_slope=0.3)[0],
        lambda x, y, dy: run("LeakyReluGrad", [dy, x], negative_slope=0.3)[0],
    ),
    "EluGrad": (lambda x: run("Elu", [x])[0], lambda x, y, dy: run("EluGrad", [dy, y])[0]),
    "SigmoidGrad": (lambda x: run("Sigmoid", [x])[0], lambda x, y, dy: run("SigmoidGrad", [y, dy])[0]),
    "TanhGrad": (lambda x: run("Tanh", [x])[0], lambda x, y, dy: run("TanhGrad", [y, dy])[0]),
    "ReciprocalGrad": (lambda x: run("Reciprocal", [x])[0], lambda x, y, dy: run("ReciprocalGrad", [y, dy])[0]),
    "AbsGrad": (lambda x: run("Abs", [x])[0], lambda x, y, dy: run("AbsGrad", [x, dy])[0]),
    "GeluGrad": (lambda x: run("Gelu", [x])[0], lambda x, y, dy: run("GeluGrad", [dy, x, y])[0]),
    "GeluGradV2": (lambda x: run("GeluV2", [x])[0], lambda x, y, dy: run("GeluGradV2", [dy, x])[0]),
    "SiluGrad": (lambda x: run("Swish", [x])[0], lambda x, y, dy: run("SiluGrad", [dy, x])[0]),
    "SoftmaxGrad": (lambda x: run("SoftmaxV2", [x])[0], lambda x, y, dy: run("SoftmaxGrad", [y, dy])[0]),
    "SoftmaxGradExt": (
        lambda x: run("SoftmaxV2", [x])[0],
        lambda x, y, dy: run("SoftmaxGradExt", [dy, y, np.ones(())])[0],
    ),
    "LogSoftmaxGrad": (lambda x: run("LogSoftmaxV2", [x])[0], lambda x, y, dy: run("LogSoftmaxGrad", [dy, y])[0]),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_gradients_are_the_slope_of_the_forward_operator(name: str) -> None:
    forward, gradient = CASES[name]
    assert gradient(X, forward(X), DY) == pytest.approx(slope(forward, X, DY), abs=1e-7)


@pytest.mark.parametrize(("name", "forward"), [("SqrtGrad", "Sqrt"), ("RsqrtGrad", "Rsqrt")])
def test_gradients_of_roots_take_the_forward_result(name: str, forward: str) -> None:
    x = np.abs(X)
    (y,) = run(forward, [x])
    assert run(name, [y, DY])[0] == pytest.approx(slope(lambda v: run(forward, [v])[0], x, DY), abs=1e-8)


def test_confusion_softmax_grad_leaves_out_the_final_product() -> None:
    (y,) = run("SoftmaxV2", [X])
    (partial,) = run("ConfusionSoftmaxGrad", [DY, y])
    assert partial * y == pytest.approx(run("SoftmaxGrad", [y, DY])[0])


def test_layer_norm_gradients_are_the_slope_of_layer_norm() -> None:
    gamma, beta = RANDOM.uniform(0.5, 2, 4), RANDOM.uniform(-1, 1, 4)

    def forward(x: Array, g: Array, b: Array) -> list[Array]:
        return run("LayerNormV3", [x, g, b], begin_norm_axis=1, epsilon=1e-12)

    _, mean, rstd = forward(X, gamma, beta)
    variance = 1 / rstd**2 - 1e-12
    for name, statistic in (("LayerNormXBackpropV3", rstd), ("LayerNormXBackpropV2", variance)):
        dx, residual = run(name, [DY, X, statistic, mean, gamma])
        assert dx == pytest.approx(slope(lambda x: forward(x, gamma, beta)[0], X, DY), abs=1e-7)
        d_gamma, d_beta = run("LayerNormBetaGammaBackpropV2", [DY, residual], shape_gamma=(4,))
        assert d_gamma.shape == (4,)
        assert d_gamma == pytest.approx(slope(lambda g: forward(X, g, beta)[0], gamma, DY), abs=1e-7)
        assert d_beta == pytest.approx(DY.sum(0))


def test_batch_norm_gradients_are_the_slope_of_batch_norm() -> None:
    x, dy = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(2, 3, 4))
    scale, offset = RANDOM.uniform(0.5, 2, 3), RANDOM.uniform(-1, 1, 3)

    def forward(v: Array, s: Array) -> list[Array]:
        sums = run("BNTrainingReduce", [v])
        return run("BNTrainingUpdateV3", [v, *sums, s, offset], epsilon=1e-4)

    _, mean, _, _, biased = forward(x, scale)
    d_scale, d_offset = run("BNTrainingUpdateGrad", [dy, x, mean, biased], epsilon=1e-4)
    assert d_scale == pytest.approx(slope(lambda s: forward(x, s)[0], scale, dy), abs=1e-7)
    assert d_offset == pytest.approx(dy.sum((0, 2)))
    (dx,) = run("BNTrainingReduceGrad", [dy, x, d_scale, d_offset, scale, mean, biased], epsilon=1e-4)
    assert dx == pytest.approx(slope(lambda v: forward(v, scale)[0], x, dy), abs=1e-7)


def test_cross_entropy_returns_its_own_gradient() -> None:
    labels = np.asarray([1, 0, 3])
    one_hot = np.eye(4)[labels]
    loss, backprop = run("SparseSoftmaxCrossEntropyWithLogits", [X, labels])
    dense_loss, dense_backprop = run("SoftmaxCrossEntropyWithLogits", [X, one_hot])
    probabilities = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    assert loss == pytest.approx(-np.log(probabilities[np.arange(3), labels]))
    assert dense_loss == pytest.approx(loss)

    def losses(x: Array) -> Array:
        return run("SparseSoftmaxCrossEntropyWithLogits", [x, labels])[0]

    assert backprop == pytest.approx(slope(losses, X, np.ones(3)), abs=1e-8)
    assert dense_backprop == pytest.approx(backprop)
