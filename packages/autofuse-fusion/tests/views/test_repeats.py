"""Elements that stand several times: counts that are one, several, or only known at run time."""

from typing import Any

import numpy as np
import pytest
from autofuse_fusion.lower.views.repeats import MOST_COUNTS
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import HostRegion, Reason
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

X = np.arange(24).reshape(2, 3, 4)


def counts(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def host_reasons(fused: Any) -> list[Reason]:
    return [each.reason for node in fused.nodes if isinstance(node, HostRegion) for each in node.reasons]


@pytest.mark.parametrize(
    "dtype", [dt.bool_, dt.int8, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64], ids=str
)
@pytest.mark.parametrize("times", [(2,), (0,), (1,), (2, 0, 1), (0, 0, 0), (3, 3, 3), (1, 1, 1), (0, 5, 0)], ids=str)
def test_known_counts_are_an_index_in_one_kernel(kit: Any, times: tuple[int, ...], dtype: DType) -> None:
    b = GraphBuilder("repeat")
    x = X.astype(numpy_dtype(dtype))
    y = b.op("RepeatInterleave", b.input("x", x.shape, dtype), counts(b, *times), axis=1)
    fused = kit.check(b.build({"y": b.op("Identity", y) if dtype == dt.bool_ else b.op("Abs", y)}), {"x": x})
    assert host_reasons(fused) == []


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 1, 1), (0, 3, 4), (2, 0, 4), (2, 3, 0), (2, 1, 4)], ids=str)
def test_one_count_repeats_along_any_axis_and_size(kit: Any, axis: int, sizes: tuple[int, ...]) -> None:
    b = GraphBuilder("repeat")
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    y = b.op("RepeatInterleave", b.op("Exp", b.input("x", ("a", "b", "c"), dt.float32)), counts(b, 3), axis=axis)
    fused = kit.check(b.build({"y": b.op("Neg", y)}), {"x": x})
    assert host_reasons(fused) == []


@pytest.mark.parametrize("times", [(2, 0, 1), (1, 1, 1), (0, 0, 0), (0, 7, 2)], ids=str)
def test_counts_of_the_run_take_one_kernel(kit: Any, times: tuple[int, ...]) -> None:
    b = GraphBuilder("repeat")
    x = X.reshape(3, 8).astype(np.float32)
    y = b.op("Repeat", b.input("x", (3, "m"), dt.float32), b.input("times", (3,), dt.int64))
    fused = kit.check(b.build({"y": b.op("Neg", y)}), {"x": x, "times": np.asarray(times, np.int64)})
    assert host_reasons(fused) == []
    assert len(kit.kernels(fused)) == 1


def test_no_rows_with_no_counts_is_nothing(kit: Any) -> None:
    b = GraphBuilder("repeat")
    y = b.op("Repeat", b.input("x", ("n", 4), dt.float32), counts(b))
    assert host_reasons(kit.check(b.build({"y": b.op("Neg", y)}), {"x": np.zeros((0, 4), np.float32)})) == []


def test_many_different_counts_are_left_to_the_host(kit: Any) -> None:
    for many, want in ((MOST_COUNTS, []), (MOST_COUNTS + 1, [Reason.TOO_LARGE])):
        b = GraphBuilder("repeat")
        x = np.arange(many, dtype=np.float32)
        y = b.op("Repeat", b.input("x", (many,), dt.float32), counts(b, *(k % 3 for k in range(many))))
        assert host_reasons(kit.check(b.build({"y": b.op("Neg", y)}), {"x": x})) == want


def test_counts_of_unknown_number_are_left_to_the_host(kit: Any) -> None:
    b = GraphBuilder("repeat")
    y = b.op("Repeat", b.input("x", ("n", 2), dt.float32), b.input("times", ("n",), dt.int64))
    arrays = {"x": np.ones((3, 2), np.float32), "times": np.asarray([1, 0, 2])}
    assert host_reasons(kit.check(b.build({"y": b.op("Neg", y)}), arrays))[:1] == [Reason.STRUCTURAL_OPERAND_UNKNOWN]
