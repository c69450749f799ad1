"""Reductions share kernels with what feeds them and with what reads them, however the network was written."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import Graph
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

SIZES = ((1, 1), (0, 3), (3, 0), (2, 7), (5, 131), (3, 4099))


def ints(*values: int) -> TensorData:
    return to_tensor_data(np.asarray(values, np.int64))


def structure(kernel: AscBackend) -> list[tuple[Any, ...]]:
    """The nodes of a kernel without the names they came from."""
    return [(n.name, n.op, n.inputs, n.dtype, n.repeats, n.attrs, n.access) for n in kernel.graph.nodes]


def softmax(b: GraphBuilder, x: str, keep: bool = True) -> str:
    """Softmax over the last axis from primitives."""
    axis = b.constant(ints(-1))

    def widened(value: str) -> str:
        return value if keep else b.op("UnsqueezeV3", value, axis)

    e = b.op("Exp", b.op("Sub", x, widened(b.op("ReduceMax", x, axis, keep_dims=keep))))
    return b.op("RealDiv", e, widened(b.op("ReduceSum", e, axis, keep_dims=keep)))


def one(build: Any, dtype: DType = dt.float32, shape: tuple[Any, ...] = ("n", "m")) -> Graph:
    b = GraphBuilder("one")
    return b.build(outputs={"y": build(b, b.input("x", shape, dtype))})


def arrays(dtype: DType, *shape: int) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(sum(shape))
    return {"x": (rng.standard_normal(shape) * 3).astype(numpy_dtype(dtype))}


@pytest.mark.parametrize("keep", [True, False])
def test_softmax_from_primitives_is_the_kernel_of_the_composite(kit, keep: bool) -> None:
    (composite,) = kit.kernels(kit.fuse(one(lambda b, x: b.op("SoftmaxV2", x))))
    (primitives,) = kit.kernels(kit.fuse(one(lambda b, x: softmax(b, x, keep))))
    assert structure(primitives) == structure(composite)
    ops = [node.op for node in composite.graph.nodes]
    assert ops == [*("Data", "Load", "Max", "Broadcast", "Sub", "Exp", "Sum", "Broadcast", "Div", "Store", "Output")]


@pytest.mark.parametrize("sizes", SIZES)
def test_softmax_is_the_reference_for_every_size(kit, sizes: tuple[int, int]) -> None:
    for dtype in (dt.float16, dt.bfloat16, dt.float32, dt.float64):
        kit.check(one(lambda b, x: b.op("SoftmaxV2", x), dtype), arrays(dtype, *sizes), ulps=2)
        kit.check(one(softmax, dtype), arrays(dtype, *sizes), ulps=4)
    kit.check(one(lambda b, x: b.op("LogSoftmaxV2", x)), arrays(dt.float32, *sizes), ulps=4)
