"""Numerics: which roundings of 16-bit floats stay inside a kernel, and which are reported as removed."""

from typing import Any

import numpy as np
import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_ir.tensor_data import TensorData
from autofuse_symshape.stage import infer


def sums(dtype: DType, last: str) -> Graph:
    b = GraphBuilder("sums")
    x, y = b.input("x", ("n",), dtype), b.input("y", ("n",), dtype)
    total = b.op("Add", b.op("Mul", x, y, name="m"), y, name="a")
    return b.build(outputs={"z": b.op(last, total, name="last")})


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    return {k: rng.standard_normal(4000).astype(np.float16) for k in ("x", "y")}


def removed(fused: Any) -> list[str]:
    return [r.operator for r in fused.removed_roundings]


def test_strict_removes_nothing(kit) -> None:
    fused = kit.check(sums(dt.float16, "Neg"), arrays(), numerics="strict")
    assert removed(fused) == []


@pytest.mark.parametrize("numerics", ["fp32", "auto"])
def test_roundings_between_smooth_operators_go_and_are_reported(kit, numerics: str) -> None:
    graph = sums(dt.float16, "Neg")
    fused = kit.fuse(graph, numerics=numerics)
    assert removed(fused) == ["m", "a"]
    assert {r.dtype_name for r in fused.removed_roundings} == {"float16"}
    x, y = (arrays()[k].astype(np.float32) for k in ("x", "y"))
    assert kit.same(kit.run_fused(fused, arrays())["z"], (-(x * y + y)).astype(np.float16))
    (kernel,) = kit.kernels(fused)
    assert [node.op for node in kernel.graph.nodes].count("Cast") == 3


@pytest.mark.parametrize("last", ["Floor", "Sign", "IsNan"])
def test_auto_keeps_the_roundings_that_jumps_see(kit, last: str) -> None:
    graph = sums(dt.float16, last)
    assert removed(kit.check(graph, arrays(), numerics="auto")) == []
    assert removed(kit.fuse(graph, numerics="fp32")) == ["m", "a"]


def test_auto_keeps_only_the_slice(kit) -> None:
    b = GraphBuilder("slice")
    x, y = b.input("x", ("n",), dt.float16), b.input("y", ("n",), dt.float16)
    compared = b.op("Mul", x, y, name="compared")
    smooth = b.op("Add", b.op("Mul", x, x, name="square"), y, name="smooth")
    chosen = b.op("SelectV2", b.op("Greater", compared, y), smooth, x)
    fused = kit.fuse(b.build(outputs={"z": chosen}), numerics="auto")
    assert removed(fused) == ["square", "smooth"]


def test_casts_the_user_wrote_round_under_every_policy(kit) -> None:
    b = GraphBuilder("casts")
    x = b.input("x", ("n",), dt.float32)
    half = b.op("Cast", x, dst_type=dt.float16.ascend_code)
    graph = b.build(outputs={"y": b.op("Neg", b.op("Cast", half, dst_type=dt.float32.ascend_code))})
    values = {"x": np.linspace(-3, 3, 999, dtype=np.float32)}
    for numerics in ("strict", "fp32", "auto"):
        fused = kit.check(graph, values, numerics=numerics)
        assert removed(fused) == []


def test_inside_one_composite_operator_nothing_is_rounded(kit) -> None:
    b = GraphBuilder("gelu")
    graph = b.build(outputs={"y": b.op("GeluV2", b.input("x", ("n",), dt.bfloat16))})
    (kernel,) = kit.kernels(kit.fuse(graph, numerics="strict"))
    casts = [node.dtype for node in kernel.graph.nodes if node.op == "Cast"]
    assert casts == [dt.float32, dt.bfloat16]


def test_a_stored_value_is_rounded_where_it_is_stored(kit) -> None:
    b = GraphBuilder("both")
    x = b.input("x", ("n",), dt.float16)
    y = b.op("Mul", x, x, name="m")
    fused = kit.fuse(b.build(outputs={"y": y, "z": b.op("Neg", y)}), numerics="fp32")
    assert len(kit.kernels(fused)) == 1
    got = kit.run_fused(fused, {"x": arrays()["x"]})
    assert got["y"].dtype == np.float16
    assert removed(fused) == ["m"]


def reduced(last: str, between: bool) -> Graph:
    b = GraphBuilder("reduced")
    x = b.input("x", ("n", "m"), dt.float16)
    total = b.op("ReduceSum", b.op("Mul", x, x, name="square"), b.constant(axis()), name="sum")
    value = b.op("Mul", total, total, name="after") if between else total
    return b.build(outputs={"y": b.op(last, value, name="last")})


def axis() -> TensorData:
    return TensorData(dt.int64, (1,), np.int64(1).tobytes())


def test_a_reduction_rounds_once_at_its_end(kit) -> None:
    fused = kit.fuse(reduced("Neg", between=False), numerics="strict")
    (kernel,) = kit.kernels(fused)
    (total,) = [node for node in kernel.graph.nodes if node.op == "Sum"]
    assert total.dtype == dt.float32
    x = {"x": np.full((2, 3000), 1.001, np.float16)}
    want = -np.sum(np.square(x["x"]).astype(np.float32), axis=1).astype(np.float16)
    assert kit.same(kit.run_fused(fused, x)["y"], want)


def test_auto_cuts_the_slice_at_reductions(kit) -> None:
    assert removed(kit.fuse(reduced("Floor", between=True), numerics="auto")) == ["square"]


def test_auto_keeps_what_leads_to_a_reduction_that_is_itself_compared(kit) -> None:
    assert removed(kit.fuse(reduced("Floor", between=False), numerics="auto")) == []
    b = GraphBuilder("arg")
    x = b.input("x", ("n", "m"), dt.float16)
    graph = b.build(outputs={"y": b.op("ArgMax", b.op("Mul", x, x, name="square"), axis=1)})
    assert removed(kit.fuse(graph, numerics="auto")) == []
    assert removed(kit.fuse(graph, numerics="fp32")) == ["square"]


@pytest.mark.parametrize("op", ["Add", "Maximum", "SelectV2", "ConcatV2D"])
def test_what_was_not_rounded_meets_operands_of_its_width(kit, op: str) -> None:
    """A chip computes on halves; behind a function, which is computed in float32, the others are widened."""
    b = GraphBuilder("mixed")
    x, y = b.input("x", ("n",), dt.float16), b.input("y", ("n",), dt.float16)
    wide = b.op("Exp", x)
    match op:
        case "SelectV2":
            joined = b.op(op, b.op("Greater", x, y), wide, y)
        case "ConcatV2D":
            joined = b.op(op, wide, y, concat_dim=0)
        case _:
            joined = b.op(op, wide, y)
    inferred, facts = infer(b.build(outputs={"z": joined}))
    fused = fuse(inferred, facts, load_target("ascend-a2"), FusionOptions(numerics="fp32"))
    for kernel in kit.kernels(fused):
        types = {node.name: node.dtype for node in kernel.graph.nodes}
        for node in kernel.graph.nodes:
            floats = {types[name] for name in node.inputs if types[name].is_float}
            assert len(floats) <= 1, node
