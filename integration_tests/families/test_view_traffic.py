"""What views cost on a unified buffer: bytes that plans move, and whether the vector unit keeps up with them.

Concat, split, slice, pad and roll are index maps on Loads (and Selects between them): each byte of the data is fetched
once, each byte of the result written once, as if every part were stored at its offset.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype
from autofuse_testkit.networks import Network, one
from autofuse_testkit.one_kernel import Planned, plan

Array = np.ndarray[Any, Any]


def concat(parts: int, dim: int, dtype: DType = dt.float32) -> Graph:
    def build(b: Network) -> str:
        shapes = [("n", f"m{k}") if dim else (f"m{k}", "n") for k in range(parts)]
        return b.op("ConcatV2D", *(b.input(f"x{k}", s, dtype) for k, s in enumerate(shapes)), concat_dim=dim, N=parts)

    return one("concat", build)


def arrays(graph: Graph, sizes: dict[str, int]) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    shapes = {v.name: tuple(evaluate(d, sizes) for d in v.shape or ()) for v in graph.inputs}
    return {v.name: (rng.normal(size=shapes[v.name]) * 9).astype(numpy_dtype(v.dtype)) for v in graph.inputs}


def cycles(planned: Planned, sizes: dict[str, int]) -> dict[str, float]:
    """Predicted cycles of each pipe of what the tiling function picks."""
    found, _ = planned.choice(sizes)
    known = {**sizes, **found.sizes}
    return {
        pipe.pipe: sum(t.coefficient * evaluate(t.count, known) / evaluate(t.divisor, known) for t in pipe.terms)
        for pipe in planned.model.cases[found.key].costs
    }


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("parts", [2, 3, 8])
def test_a_concat_fetches_and_writes_each_byte_once(parts: int, dim: int) -> None:
    planned = plan(concat(parts, dim), "ascend-a2")
    sizes = {"n": 5} | {f"m{k}": 3 * k + 1 for k in range(parts)}
    values = arrays(planned.graph, sizes)
    traffic = planned.traffic(values)
    moved = sum(value.nbytes for value in values.values())
    assert sum(traffic.read.values()) == sum(traffic.written.values()) == moved
    planned.check(values, tolerance=0.0)


@pytest.mark.parametrize("dtype", [dt.float32, dt.float16], ids=str)
@pytest.mark.parametrize("parts", [2, 3, 8])
def test_the_selects_of_a_concat_along_rows_hide_behind_its_copies(parts: int, dtype: DType) -> None:
    """Eight parts are the most that a kernel of this chip takes. Which part an element is of is known once a block."""
    planned = plan(concat(parts, 1, dtype), "ascend-a2")
    for columns in (64, 256, 5000):
        sizes = {"n": 4096} | {f"m{k}": columns for k in range(parts)}
        found = cycles(planned, sizes)
        assert found["VEC"] <= max(found["MTE2"], found["MTE3"]), (columns, found)


def sliced(b: Network) -> str:
    return b.op("Exp", b.op("SliceD", b.input("x", ("n", 64), dt.float32), offsets=(0, 3), size=(-1, 40)))


def padded(b: Network) -> str:
    return b.op("Exp", b.op("PadD", b.input("x", ("n", "m"), dt.float32), paddings=((1, 2), (3, 0))))


def every_second(b: Network) -> str:
    x = b.input("x", ("n", 64), dt.float32)
    return b.op("Exp", b.op("StridedSliceD", x, begin=(0, 1), end=(2**31, 64), strides=(1, 2)))


def transposed(b: Network) -> str:
    return b.op("Add", b.op("TransposeD", b.input("x", ("m", "n"), dt.float32), perm=(1, 0)),
                b.input("y", ("n", "m"), dt.float32))  # fmt: skip


@pytest.mark.parametrize(
    ("build", "read", "written"),
    [
        (sliced, 9 * 40, 9 * 40),
        (padded, 9 * 64, 12 * 67),
        (every_second, 9 * 32, 9 * 32),
        (transposed, 2 * 9 * 64, 9 * 64),
    ],
    ids=lambda each: each.__name__ if callable(each) else str(each),
)
def test_a_view_fetches_what_it_shows_and_nothing_else(
    build: Callable[[Network], str], read: int, written: int
) -> None:
    planned = plan(one("view", build), "ascend-a2")
    values = arrays(planned.graph, {"n": 9, "m": 64})
    traffic = planned.traffic(values)
    assert (sum(traffic.read.values()), sum(traffic.written.values())) == (4 * read, 4 * written)
    planned.check(values)


def test_both_halves_of_a_split_fetch_their_own() -> None:
    b = Network("split")
    first, second = b.op_outputs("SplitD", b.input("x", ("n", 64), dt.float32), outputs=2, split_dim=1, num_split=2)
    planned = plan(b.build({"p": b.op("Exp", first), "q": b.op("Mul", first, second)}), "ascend-a2")
    values = arrays(planned.graph, {"n": 9})
    assert sum(planned.traffic(values).read.values()) == values["x"].nbytes
    planned.check(values)
