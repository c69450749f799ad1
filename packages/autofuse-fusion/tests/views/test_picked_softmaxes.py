"""Elements that are picked from a softmax along its axes: no row of it is made, and the bits are those of the row."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import FusedGraph
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

ROWS, CLASSES = 5, 9


def stored(kit: Any, fused: FusedGraph) -> int:
    """The elements that all kernels store."""
    shapes = {fact.name: fact.shape for fact in fused.facts.values}
    sizes = {"n": ROWS, "m": CLASSES, "k": 1}
    names = [name for kernel in kit.kernels(fused) for name in kernel.outputs]
    return sum(int(np.prod([evaluate(dim, sizes) for dim in shapes[name] or ()])) for name in names)


def primitives(b: GraphBuilder, x: str) -> str:
    """A softmax's logarithm as the user may write it: what is below the largest has two readers."""
    below = b.op("Sub", x, b.op("ReduceMaxD", x, axes=(1,), keep_dims=True))
    return b.op("Sub", below, b.op("Log", b.op("ReduceSumD", b.op("Exp", below), axes=(1,), keep_dims=True)))


def picked(op: str, take: str, dtype: DType = dt.float32) -> Graph:
    b = GraphBuilder("picked")
    x = b.input("x", ("n", "m"), dtype)
    rows = primitives(b, x) if op == "primitives" else b.op(op, x, axes=(-1,))
    match take:
        case "elements":
            y = b.op("GatherElements", rows, b.input("i", ("n", 1), dt.int64), dim=1, negative_index_support=True)
        case "columns":
            axis = b.constant(to_tensor_data(np.asarray([1], np.int64)))
            y = b.op("GatherV2", rows, b.input("i", (2,), dt.int64), axis, negative_index_support=True)
        case _:
            y = b.op("NegativeLogLikelihoodLoss", rows, b.input("i", ("n",), dt.int64), reduction="none")
    return b.build({"y": y})


def arrays(take: str, dtype: DType = dt.float32) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    shape = {"elements": (ROWS, 1), "columns": (2,), "classes": (ROWS,)}[take]
    low = 0 if take == "classes" else -CLASSES
    x = rng.normal(size=(ROWS, CLASSES)).astype(numpy_dtype(dtype))
    return {"x": x, "i": rng.integers(low, CLASSES, shape)}


@pytest.mark.parametrize("take", ["elements", "columns", "classes"])
@pytest.mark.parametrize("op", ["LogSoftmaxV2", "SoftmaxV2", "primitives"])
def test_no_row_is_made(kit: Any, op: str, take: str) -> None:
    fused = kit.check(picked(op, take), arrays(take), ulps=8)
    # Columns lie along an axis of their own: the largest and the sum of each row pass to a second loop nest.
    assert stored(kit, fused) == ROWS * (4 if take == "columns" else 1)
    assert len(fused.nodes) == 1


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float64], ids=str)
@pytest.mark.parametrize("op", ["LogSoftmaxV2", "SoftmaxV2"])
def test_elements_are_rounded_as_rows_are(kit: Any, op: str, dtype: DType) -> None:
    given = arrays("elements", dtype)
    picked_so = kit.run_fused(kit.fuse(picked(op, "elements", dtype), numerics="strict"), given)
    apart = kit.run_fused(kit.fuse(picked(op, "elements", dtype), enable=False), given)
    assert picked_so["y"].tobytes() == apart["y"].tobytes()


def test_an_index_out_of_range_is_an_error(kit: Any) -> None:
    given = arrays("elements") | {"i": np.full((ROWS, 1), CLASSES)}
    with pytest.raises(IndexError):
        kit.run_fused(kit.fuse(picked("LogSoftmaxV2", "elements")), given)


@pytest.mark.parametrize("reason", ["a result", "rows of it", "as many"])
def test_rows_that_are_needed_stay(kit: Any, reason: str) -> None:
    b = GraphBuilder("kept")
    x = b.input("x", ("n", "m"), dt.float32)
    rows = b.op("SoftmaxV2", x, axes=(-1,), name="rows")
    columns = "m" if reason == "as many" else 1
    index = b.input("i", ("n", columns), dt.int64)
    outputs = {"y": b.op("GatherElements", rows, index, dim=0 if reason == "rows of it" else 1)}
    fused = kit.fuse(b.build(outputs | ({"rows": rows} if reason == "a result" else {})))
    assert any("rows" in kernel.outputs for kernel in kit.kernels(fused))
