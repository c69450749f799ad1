"""Fusion chooses nothing that the cost tables of an Ascend chip say is slower than an operator at a time.

The networks are those where it once did: parts of real models, at the sizes of those.
"""

from collections.abc import Callable, Mapping

import pytest
from autofuse.prediction import KernelPrediction, predict_kernels
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_ir.tensor_data import TensorData
from autofuse_symshape.stage import infer

AXIS = TensorData(dt.int64, (1,), bytes(8))


def quantised_scores() -> Graph:
    """Every query added to every key, quantised by the range of all sums: tiles would fetch both again and again."""
    b = GraphBuilder("quantised_scores")
    keys, queries = b.input("keys", (64, 1, 256, 512), dt.float32), b.input("queries", (64, 256, 1, 512), dt.float32)
    scores = b.op("Tanh", b.op("Add", keys, queries))
    found = b.op_outputs("DynamicQuantizeLinear", scores, outputs=3)
    return b.build({f"y{k}": each for k, each in enumerate(found)})


def bias_of_a_transposed_gather() -> Graph:
    """Rows of six are gathered for each pair of positions; its transpose would gather element by element."""
    b = GraphBuilder("bias_of_a_transposed_gather")
    table, far = b.input("table", (32, 6), dt.float32), b.input("far", (1024, 1024), dt.int64)
    near = b.op("Minimum", far, b.constant(TensorData(dt.int64, (), (31).to_bytes(8, "little"))))
    bias = b.op("GatherV2", table, near, b.constant(AXIS))
    return b.build({"y": b.op("Relu", b.op("TransposeD", bias, perm=(2, 0, 1)))})


def scores_with_a_transposed_bias() -> Graph:
    """A bias that lies the other way round in memory, for every row of a batch: read there, element by element."""
    b = GraphBuilder("scores_with_a_transposed_bias")
    bias, scores = b.input("bias", (512, 512, 6), dt.float32), b.input("scores", (64, 6, 512, 512), dt.float32)
    turned = b.op("Relu", b.op("TransposeD", bias, perm=(2, 0, 1)))
    return b.build({"y": b.op("Sigmoid", b.op("Add", scores, turned))})


def range_of_a_transpose() -> Graph:
    """The least and the largest of what lies the other way round in memory."""
    b = GraphBuilder("range_of_a_transpose")
    x = b.input("x", (1024, 309, 172), dt.float32)
    y = b.op("Log", b.op("TransposeD", x, perm=(0, 2, 1)))
    below = b.op("Sub", y, b.op("ReduceMinD", y, axes=(1, 2), keep_dims=True))
    return b.build({"y": b.op("ReduceMaxD", below, axes=(1, 2))})


def softmax_of_long_rows() -> Graph:
    """With a bias, local memory holds one row of each tensor where it held two."""
    b = GraphBuilder("softmax_of_long_rows")
    x, bias = b.input("x", (1024, 128, 6625), dt.float32), b.input("bias", (6625,), dt.float32)
    return b.build({"y": b.op("SoftmaxV2", b.op("Add", x, bias), axes=(-1,))})


def cross_entropy() -> Graph:
    """Mean loss of labels: picked elements, and a mean in the same launch."""
    b = GraphBuilder("cross_entropy")
    x, labels = b.input("x", (8192, 1024), dt.float32), b.input("labels", (8192, 1), dt.int64)
    picked = b.op("GatherElements", b.op("LogSoftmaxV2", x, axes=(-1,)), labels, dim=1)
    return b.build({"y": b.op("ReduceMeanD", picked, axes=(0, 1))})


GRAPHS: Mapping[str, Callable[[], Graph]] = {
    f.__name__: f
    for f in (
        quantised_scores,
        bias_of_a_transposed_gather,
        scores_with_a_transposed_bias,
        range_of_a_transpose,
        softmax_of_long_rows,
        cross_entropy,
    )
}


def operators_of(node: AscBackend | FusedAscBackend) -> set[str]:
    parts = node.parts if isinstance(node, FusedAscBackend) else (node,)
    return {name for part in parts for name in part.operators}


def predicted(graph: Graph, target: str, enable: bool) -> list[tuple[set[str], KernelPrediction]]:
    inferred, facts = infer(graph)
    spec = load_target(target)
    fused = fuse(inferred, facts, spec, FusionOptions(enable=enable))
    kernels, without = predict_kernels(fused, spec, {})
    assert without == ()
    made = {node.name: operators_of(node) for node in fused.nodes if isinstance(node, AscBackend | FusedAscBackend)}
    return [(made[kernel.kernel], kernel) for kernel in kernels]


@pytest.mark.parametrize("target", ["ascend-a2", "ascend-350"])
@pytest.mark.parametrize("name", GRAPHS)
def test_no_kernel_is_predicted_to_take_longer_than_its_operators(name: str, target: str) -> None:
    fused, alone = (predicted(GRAPHS[name](), target, enable) for enable in (True, False))
    assert len(fused) <= len(alone)
    for operators, kernel in fused:
        others = sum(other.microseconds for names, other in alone if names & operators)
        assert kernel.microseconds <= others, (kernel.kernel, others)
