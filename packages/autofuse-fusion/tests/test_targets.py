"""What a target cannot hold or compute stays on the host."""

import numpy as np
from attrs import evolve
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.fused_graph import AscBackend, HostRegion, Reason
from autofuse_ir.target import Limits, OperatorSupport, load_target
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_tensor_data
from autofuse_symshape.stage import infer

CPU = load_target("cpu")
SMALL = evolve(
    CPU,
    support=(
        OperatorSupport("Load", (dt.float16, dt.float32, dt.int32, dt.bool_), 0, 0),
        OperatorSupport("Erf", (dt.float32,), 0, 0),
        OperatorSupport("Mul", (dt.float32, dt.float16), 0, 0),
    ),
    compute_dtypes=(),
)


def graph(op: str, dtype: dt.DType):  # type: ignore[no-untyped-def]
    b = GraphBuilder("one")
    x = b.input("x", ("n", 4), dtype)
    return infer(b.build(outputs={"y": b.op(op, x)}))


def test_dtypes_that_kernels_cannot_load_stay_on_the_host() -> None:
    (region,) = fuse(*graph("Abs", dt.float64), SMALL).nodes
    assert isinstance(region, HostRegion)
    assert region.reasons[0].reason is Reason.DTYPE_NOT_SUPPORTED


def test_a_composite_operator_needs_all_its_primitives() -> None:
    (region,) = fuse(*graph("Square", dt.int32), SMALL).nodes
    assert isinstance(region, HostRegion)
    assert region.reasons[0].reason is Reason.DTYPE_NOT_SUPPORTED
    (kernel,) = fuse(*graph("GeluV2", dt.float16), SMALL).nodes
    assert isinstance(kernel, AscBackend)


def test_targets_that_compute_on_half_precision_get_no_casts() -> None:
    (kernel,) = fuse(*graph("Square", dt.float16), SMALL).nodes
    assert isinstance(kernel, AscBackend)
    assert "Cast" not in [node.op for node in kernel.graph.nodes]


def test_the_limits_of_the_target_hold() -> None:
    limits = Limits(inputs=2, outputs=1, arguments=3, queues=0, segment_nodes=8, segment_values=8, tiling_bytes=1024)
    b = GraphBuilder("sum")
    total = b.input("x0", ("n",), dt.float32)
    for number in range(1, 4):
        total = b.op("Add", total, b.input(f"x{number}", ("n",), dt.float32))
    fused = fuse(*infer(b.build(outputs={"y": total})), evolve(CPU, limits=limits))
    assert [len(node.inputs) for node in fused.nodes if isinstance(node, AscBackend)] == [2, 2, 2]
    assert {refusal.reason for refusal in fused.refusals} == {Reason.TOO_MANY_INPUTS}


def test_an_operator_with_more_tensors_than_a_launch_passes_stays_on_the_host() -> None:
    a2 = load_target("ascend-a2")
    for count, kind in ((62, AscBackend), (63, HostRegion)):
        b = GraphBuilder("sum")
        given = [b.input(f"x{number}", ("n",), dt.float32) for number in range(count)]
        (node,) = fuse(*infer(b.build(outputs={"y": b.op("AddN", *given, N=count)})), a2).nodes
        assert isinstance(node, kind)
    assert isinstance(node, HostRegion)
    assert node.reasons[0].reason is Reason.TOO_MANY_INPUTS


def test_inputs_and_outputs_together_keep_to_what_a_launch_passes() -> None:
    """Options allow more than the chip: each of two operators alone fits, both together do not."""
    b = GraphBuilder("two")
    given = [b.input(f"x{number}", ("n",), dt.float32) for number in range(66)]
    first = b.op("AddN", *given[:33], N=33)
    both = b.op("AddN", first, *given[33:], N=34)
    fused = fuse(*infer(b.build(outputs={"y": both})), load_target("ascend-a2"), FusionOptions(max_inputs=100))
    assert [type(node) for node in fused.nodes] == [AscBackend, AscBackend]
    assert Reason.TOO_MANY_INPUTS in {refusal.reason for refusal in fused.refusals}


def biased(batch: str | int):  # type: ignore[no-untyped-def]
    """Rows of a table, gathered for each pair of positions, as a bias that all of a batch share."""
    b = GraphBuilder("biased")
    table = b.input("table", (32, 6), dt.float32)
    buckets = b.input("buckets", ("n", "n"), dt.int32)
    scores = b.input("scores", (batch, "n", "n", 6), dt.float32)
    return infer(b.build(outputs={"y": b.op("Add", scores, b.op("GatherV2", table, buckets, b.constant(axis_0())))}))


def axis_0() -> TensorData:
    return to_tensor_data(np.zeros((), np.int64))


def test_gathers_are_repeated_only_where_reading_a_row_is_cheap() -> None:
    """A chip begins a copy for each row: one that waits for as many rows again costs more than keeping the result."""
    chip = load_target("ascend-a2")
    assert len(fuse(*biased(1), chip).nodes) == 1
    assert len(fuse(*biased("batch"), CPU).nodes) == 1
    fused = fuse(*biased("batch"), chip, FusionOptions(max_parts=1))
    assert len(fused.nodes) == 2
    assert {refusal.reason for refusal in fused.refusals} == {Reason.NO_BENEFIT}


def test_a_gather_that_others_ask_for_its_sizes_alone_goes_with_its_only_reader() -> None:
    """On a chip that waits for each row: the rows would be gathered twice if the second reader needed them."""
    b = GraphBuilder("sizes")
    table, index = b.input("table", (302, 64), dt.int8), b.input("index", ("n", "m"), dt.int64)
    rows = b.op("GatherV2", table, index, b.constant(to_tensor_data(np.asarray([0]))))
    size = b.op("Shape", b.op("Cast", rows, dst_type=0), dtype=9)
    turned = b.op("Cast", b.op("TransposeD", rows, perm=(1, 0, 2)), dst_type=0)
    inferred, facts = infer(b.build({"y": turned, "size": size}))
    fused = fuse(inferred, facts, load_target("ascend-a2"))
    (kernel,) = (node for node in fused.nodes if isinstance(node, AscBackend))
    assert set(kernel.inputs) == {"table", "index"}
