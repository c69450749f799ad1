"""Rows of many pieces: what is written grows with their forms, not with what each computes, and each is right."""

from collections.abc import Callable
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import FileRole
from autofuse_reference.arrays import to_tensor_data

Array = np.ndarray[Any, Any]
MANY = 23


def joined(parts: int, dim: int, chain: Callable[[GraphBuilder, str, int], str], sizes: tuple[int, ...] = ()) -> Graph:
    """y = -concat(chain(x0), chain(x1), ...) along ``dim``; sizes along it are symbols where none are given."""
    b = GraphBuilder("joined")
    along: list[str | int] = [*(sizes or (f"m{k}" for k in range(parts)))]
    shapes = [("n", size) if dim else (size, "n") for size in along]
    pieces = [chain(b, b.input(f"x{k}", shape, dt.float32), k) for k, shape in enumerate(shapes)]
    return b.build(outputs={"y": b.op("Neg", b.op("ConcatV2D", *pieces, concat_dim=dim, N=parts))})


def alike(b: GraphBuilder, x: str, k: int) -> str:
    return b.op("Relu", x)


def scaled(b: GraphBuilder, x: str, k: int) -> str:
    """Of one form, each with a constant of its own."""
    return b.op("Mul", x, b.constant(to_tensor_data(np.array(k + 0.5, np.float32))))


def mixed(b: GraphBuilder, x: str, k: int) -> str:
    """Three forms in turn."""
    return (b.op("Relu", x), x, scaled(b, b.op("Abs", x), k))[k % 3]


def different(b: GraphBuilder, x: str, k: int) -> str:
    """A form of its own for each piece: chains of 0, 1, 2, ... operators."""
    for _ in range(k):
        x = b.op("Relu", b.op("Neg", x))
    return x


NUMPY: dict[Callable[..., str], Callable[[Array, int], Array]] = {
    alike: lambda x, k: np.maximum(x, 0),
    scaled: lambda x, k: x * np.float32(k + 0.5),
    mixed: lambda x, k: (np.maximum(x, 0), x, np.abs(x) * np.float32(k + 0.5))[k % 3],
    different: lambda x, k: x if k == 0 else np.maximum(-x, 0) * np.float32(k < 2),
}


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("chain", list(NUMPY), ids=lambda chain: chain.__name__)
def test_many_pieces_are_right_whatever_their_sizes(chain: Callable[..., str], dim: int) -> None:
    parts = 11 if chain is different else MANY
    fn = autofuse.compile(joined(parts, dim, chain))
    rng = np.random.default_rng(5)
    for rows, most in ((3, 1), (1, 2), (5, 40), (2, 200), (0, 9), (33, 9)):
        sizes = rng.integers(0, most, parts, endpoint=True)
        given = [rng.normal(size=(rows, m) if dim else (m, rows)).astype(np.float32) for m in sizes]
        wanted = -np.concatenate([NUMPY[chain](x, k) for k, x in enumerate(given)], dim)
        np.testing.assert_array_equal(fn(*given), wanted)


def test_pieces_of_fixed_sizes_are_right() -> None:
    sizes = tuple((7 * k) % 40 for k in range(MANY))
    fn = autofuse.compile(joined(MANY, 1, mixed, sizes))
    rng = np.random.default_rng(6)
    given = [rng.normal(size=(4, m)).astype(np.float32) for m in sizes]
    wanted = -np.concatenate([NUMPY[mixed](x, k) for k, x in enumerate(given)], 1)
    np.testing.assert_array_equal(fn(*given), wanted)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize(("chain", "forms"), [(alike, 1), (scaled, 1), (mixed, 3)])
def test_each_form_is_written_once(chain: Callable[..., str], forms: int, dim: int) -> None:
    """However many pieces there are, a body of strips stands once a form in each of the functions."""
    counts = {bodies(joined(parts, dim, chain)) for parts in (8, 40)}
    assert len(counts) == 1
    functions, strips = counts.pop()
    assert strips == functions * forms


def bodies(graph: Graph) -> tuple[int, int]:
    """How many functions the one kernel of ``graph`` has, and how many bodies of strips."""
    made = lower_graph(graph, chosen_target("cpu"), chosen_options(), None, lambda stage, artefact: None)
    (bundle,) = made.bundles
    (text,) = (file.text for file in bundle.files if file.role is FileRole.KERNEL)
    return text.count("af_i64 block) {"), text.count("AF_BODY")
