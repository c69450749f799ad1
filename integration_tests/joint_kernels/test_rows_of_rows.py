"""What rows come to goes on in the launch that made it: cross entropy with its mean, norms of norms, pieces of a split.

Each graph is one launch, and has the bits of a kernel for each of its operators.
"""

from collections.abc import Callable, Iterator, Mapping

import autofuse
import numpy as np
import pytest
from autofuse.compiler import load_lowered
from autofuse.pipeline import Lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.status import StatusError
from autofuse_ir.target import load_target
from autofuse_testkit.joint import Array, bits, lowered

STRICT = FusionOptions(numerics="strict")
ALONE = FusionOptions(numerics="strict", enable=False)
SIZES = ((1, 1), (2, 3), (5, 64), (64, 900), (3, 20_000), (9000, 7))


def _inputs(b: GraphBuilder) -> tuple[str, str]:
    return b.input("x", ("n", "m"), dt.float32), b.input("labels", ("n", 1), dt.int64)


def cross_entropy() -> Graph:
    """One operator for the logarithm of the softmax, one for its gather."""
    b = GraphBuilder("cross_entropy")
    x, labels = _inputs(b)
    picked = b.op("GatherElements", b.op("LogSoftmaxV2", x, axes=(-1,)), labels, dim=1)
    return b.build({"y": b.op("Neg", b.op("ReduceMeanD", picked, axes=(0, 1)))})


def cross_entropy_of_primitives() -> Graph:
    """The same, written out."""
    b = GraphBuilder("primitives")
    x, labels = _inputs(b)
    below = b.op("Sub", x, b.op("ReduceMaxD", x, axes=(1,), keep_dims=True))
    total = b.op("ReduceSumD", b.op("Exp", below), axes=(1,), keep_dims=True)
    picked = b.op("GatherElements", b.op("Sub", below, b.op("Log", total)), labels, dim=1)
    return b.build({"y": b.op("Neg", b.op("ReduceMeanD", picked, axes=(0, 1)))})


def loss() -> Graph:
    """The logarithm of the softmax, and the loss of class numbers."""
    b = GraphBuilder("loss")
    x, labels = b.input("x", ("n", "m"), dt.float32), b.input("labels", ("n",), dt.int64)
    rows = b.op("LogSoftmaxV2", x, axes=(1,))
    return b.build({"y": b.op("NegativeLogLikelihoodLoss", rows, labels, reduction="mean")})


def mean_of_largest() -> Graph:
    """The largest of each row, and their mean."""
    b = GraphBuilder("mean_of_largest")
    x = b.input("x", ("n", "m"), dt.float32)
    return b.build({"y": b.op("ReduceMeanD", b.op("ReduceMaxD", x, axes=(1,)), axes=(0,))})


def norm_of_norms() -> Graph:
    """Norms along one axis after the other, three launches' worth of reductions."""
    b = GraphBuilder("norm_of_norms")
    x = b.input("x", ("n", "m", 3), dt.float32)

    def norm(value: str, axis: int) -> str:
        return b.op("Sqrt", b.op("ReduceSumD", b.op("Mul", value, value), axes=(axis,)))

    return b.build({"y": b.op("ReduceMeanD", norm(norm(x, 2), 1), axes=(0,))})


def pieces() -> Graph:
    """A split whose pieces are all results."""
    b = GraphBuilder("pieces")
    x = b.input("x", ("n", "m", 6), dt.float32)
    found = b.op_outputs("SplitVD", x, outputs=3, size_splits=(1, 3, 2), split_dim=2, num_split=3)
    return b.build({f"y{k}": piece for k, piece in enumerate(found)})


GRAPHS: Mapping[str, Callable[[], Graph]] = {
    f.__name__: f for f in (cross_entropy, cross_entropy_of_primitives, loss, mean_of_largest, norm_of_norms, pieces)
}


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    autofuse.set_num_threads(1)


def arrays_for(graph: Graph, n: int, m: int) -> list[Array]:
    """Scores of both signs, and class numbers."""
    rng = np.random.default_rng(n + m)
    made: list[Array] = []
    for value in graph.inputs:
        shape = [{"n": n, "m": m}.get(str(dim), dim.constant_value) for dim in value.shape or ()]
        is_label = value.dtype == dt.int64
        made.append(rng.integers(0, m, shape) if is_label else rng.normal(size=shape).astype(np.float32))
    return made


def both(name: str, target: str) -> tuple[Lowered, Lowered]:
    graph = GRAPHS[name]()
    return lowered(graph, False, target, STRICT), lowered(graph, False, target, ALONE)


@pytest.mark.parametrize("name", GRAPHS)
def test_one_launch_has_the_bits_of_an_operator_at_a_time(name: str) -> None:
    made, alone = both(name, "cpu")
    assert len(made.bundles) == 1
    assert len(alone.bundles) > 1
    together, apart = (load_lowered(each, load_target("cpu")) for each in (made, alone))
    for n, m in SIZES:
        given = arrays_for(made.source, n, m)
        autofuse.set_num_threads(1)
        wanted = bits(listed(apart(*given)))
        for count in (1, 2, 5):
            autofuse.set_num_threads(count)
            assert bits(listed(together(*given))) == wanted, (n, m, count)


@pytest.mark.parametrize("name", GRAPHS)
def test_results_are_those_of_numpy(name: str) -> None:
    made = lowered(GRAPHS[name](), False, "cpu", STRICT)
    run = load_lowered(made, load_target("cpu"), "interpreter")
    for n, m in ((1, 1), (6, 17)):
        given = arrays_for(made.source, n, m)
        found = listed(run(*given))
        for got, want in zip(found, REFERENCE[name](*(each.astype(np.float64) for each in given)), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, ("ascend-a2", "ascend-350")[number % 2]) for number, name in enumerate(GRAPHS)],
)
def test_chips_have_one_launch_too(name: str, target: str) -> None:
    made = lowered(GRAPHS[name](), False, target, STRICT)
    assert len(made.bundles) == 1
    run = load_lowered(made, load_target(target))
    for n, m in ((1, 1), (5, 64), (70, 900)):
        given = arrays_for(made.source, n, m)
        for got, want in zip(
            listed(run(*given)), REFERENCE[name](*(each.astype(np.float64) for each in given)), strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6)


def test_a_class_that_is_none_is_an_error() -> None:
    made = lowered(cross_entropy(), False, "cpu", STRICT)
    run = load_lowered(made, load_target("cpu"))
    x = np.zeros((4, 3), np.float32)
    for bad in (3, -1, 1 << 40):
        with pytest.raises(StatusError, match="out of range"):
            run(x, np.full((4, 1), bad))


def listed(results: object) -> list[Array]:
    return [np.asarray(each) for each in (results if isinstance(results, (tuple, list)) else [results])]


def _loss(x: Array, labels: Array) -> list[Array]:
    below = x - x.max(1, keepdims=True)
    rows = below - np.log(np.exp(below).sum(1, keepdims=True))
    return [-np.take_along_axis(rows, labels.reshape(-1, 1).astype(np.int64), 1).mean()]


REFERENCE: Mapping[str, Callable[..., list[Array]]] = {
    "cross_entropy": _loss,
    "cross_entropy_of_primitives": _loss,
    "loss": _loss,
    "mean_of_largest": lambda x: [x.max(1).mean()],
    "norm_of_norms": lambda x: [np.sqrt((x * x).sum((1, 2))).mean()],
    "pieces": lambda x: [x[..., :1], x[..., 1:4], x[..., 4:]],
}
"""The same in NumPy, in float64."""
