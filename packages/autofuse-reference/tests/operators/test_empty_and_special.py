"""Reductions, norms and views of nothing, of NaN and of infinities, as NumPy, ONNX and PyTorch define them."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir.graph import AttrValue
from autofuse_reference.operators import evaluate_operator

NAN, INF = np.nan, np.inf


def f(*values: Any) -> Any:
    return np.asarray(values, np.float32)


NO_COLUMNS, NO_ROWS = np.zeros((2, 0), np.float32), np.zeros((0, 2), np.float32)
LAST = np.asarray([-1])

CASES: tuple[tuple[str, dict[str, AttrValue], list[Any], Any], ...] = (
    # Sums of nothing are 0, products 1, extremes the end of the dtype's range, means NaN.
    ("ReduceSum", {}, [NO_COLUMNS, LAST], f(0, 0)),
    ("ReduceProd", {}, [NO_COLUMNS, LAST], f(1, 1)),
    ("ReduceMax", {}, [NO_COLUMNS, LAST], f(-INF, -INF)),
    ("ReduceMin", {}, [NO_COLUMNS.astype(np.int8), LAST], np.full(2, 127, np.int8)),
    ("ReduceMean", {}, [NO_COLUMNS, LAST], f(NAN, NAN)),
    ("ReduceAll", {}, [NO_COLUMNS.astype(np.bool_), LAST], np.ones(2, np.bool_)),
    ("ReduceAny", {}, [NO_COLUMNS.astype(np.bool_), LAST], np.zeros(2, np.bool_)),
    ("ReduceLogSumExp", {}, [NO_COLUMNS, LAST], f(-INF, -INF)),
    ("ReduceSum", {}, [NO_ROWS, LAST], np.zeros(0, np.float32)),
    ("ReduceSum", {}, [f(1, 2), np.zeros(0, np.int64)], f(1, 2)),
    ("ReduceSum", {"noop_with_empty_axes": False}, [f(1, 2), np.zeros(0, np.int64)], np.float32(3)),
    ("ReduceSum", {"noop_with_empty_axes": False}, [np.float32(7), np.zeros(0, np.int64)], np.float32(7)),
    # NaN goes through every reduction of numbers.
    ("ReduceMax", {}, [f([1, NAN], [NAN, NAN]), LAST], f(NAN, NAN)),
    ("ReduceMin", {}, [f([NAN, 1], [1, -INF]), LAST], f(NAN, -INF)),
    ("ReduceSum", {}, [f([INF, -INF], [INF, 1]), LAST], f(NAN, INF)),
    ("ReduceLogSumExp", {}, [f([-INF, -INF], [INF, 1]), LAST], f(-INF, INF)),
    ("ReduceLogSumExp", {}, [f([NAN, 1], [1000, 1000]), LAST], f(NAN, 1000 + np.log(2))),
    # The first of equal extremes, or the last where asked; NaN is the extreme.
    ("ArgMax", {"axis": 1, "keepdims": False}, [f([1, 3, 3], [NAN, 5, NAN])], np.asarray([1, 0])),
    (
        "ArgMax",
        {"axis": 1, "keepdims": False, "select_last_index": True},
        [f([1, 3, 3], [NAN, 5, NAN])],
        np.asarray([2, 2]),
    ),
    ("ArgMin", {"axis": 0, "keepdims": False}, [f([-0.0, 0.0], [0.0, NAN])], np.asarray([0, 1])),
    # One element has no unbiased deviation.
    ("ReduceStdV2", {"dim": (0,), "unbiased": True, "keepdim": False}, [f(3)], (np.float32(NAN), np.float32(3))),
    ("ReduceStdV2", {"dim": (0,), "unbiased": False, "keepdim": False}, [f(3)], (np.float32(0), np.float32(3))),
    ("ReduceStdV2", {"dim": (0,), "unbiased": True, "keepdim": False}, [f()], (np.float32(NAN), np.float32(NAN))),
    ("Cumsum", {"exclusive": True}, [f(-0.0, 1, 2), np.asarray(0)], f(0, -0.0, 1)),
    ("Cumprod", {"reverse": True}, [f(2, NAN, 3), np.asarray(0)], f(NAN, NAN, 3)),
    ("Cumsum", {}, [f(), np.asarray(0)], f()),
    ("Cumsum", {}, [np.float32(2), np.asarray(-1)], np.float32(2)),
    ("Cumprod", {"exclusive": True}, [np.float32(2), np.asarray(0)], np.float32(1)),
    ("ReverseV2", {}, [np.float32(2), np.asarray([0])], np.float32(2)),
    # Norms and losses.
    ("SoftmaxV2", {}, [NO_COLUMNS], NO_COLUMNS),
    ("SoftmaxV2", {}, [f([-INF, 0], [INF, 0], [-INF, -INF])], f([0, 1], [NAN, NAN], [NAN, NAN])),
    ("LogSoftmaxV2", {}, [f([-INF, 0])], f([-INF, 0])),
    ("RmsNorm", {"epsilon": 0.0}, [f([0, 0]), f(1, 1)], (f([NAN, NAN]), f([INF]))),
    (
        "NegativeLogLikelihoodLoss",
        {"ignore_index": 1},
        [f([-1, -2], [-3, -4]), np.asarray([1, 1])],
        np.float32(NAN),
    ),
    # Quantised values saturate; NaN gives the zero point's neighbourhood of 0.
    (
        "QuantizeLinear",
        {},
        [f(NAN, INF, -INF, 1.5, 2.5), np.float32(1), np.uint8(0)],
        np.asarray([0, 255, 0, 2, 2], np.uint8),
    ),
    ("DynamicQuantizeLinear", {}, [f()], (np.zeros(0, np.uint8), np.float32(0), np.uint8(0))),
    # Views of nothing and of scalars.
    ("Reshape", {}, [f(5), np.zeros(0, np.int64)], np.float32(5)),
    ("Reshape", {"allowzero": True}, [NO_COLUMNS, np.asarray([0, 3])], np.zeros((0, 3), np.float32)),
    ("ConcatD", {"concat_dim": 1, "N": 2}, [NO_COLUMNS, f([1], [2])], f([1], [2])),
    ("Pad", {}, [NO_COLUMNS, np.asarray([[0, 0], [1, 1]])], np.zeros((2, 2), np.float32)),
    ("GatherNd", {}, [f(1, 2), np.zeros((2, 0), np.int64)], f([1, 2], [1, 2])),
    ("GatherV2", {}, [NO_COLUMNS, np.zeros(0, np.int64), np.asarray(1)], NO_COLUMNS),
    ("OneHot", {"axis": -1}, [np.asarray([0, 5, -1]), np.asarray(2), f(9)[0], f(1)[0]], f([9, 1], [1, 1], [1, 9])),
    ("RepeatInterleave", {"axis": 0}, [f(), np.zeros(0, np.int64)], f()),
    ("Roll", {"shifts": (1,), "dims": (1,)}, [NO_COLUMNS], NO_COLUMNS),
    ("Tile", {}, [f(1, 2), np.asarray([0])], f()),
    ("Trilu", {}, [np.zeros((0, 3), np.float32)], np.zeros((0, 3), np.float32)),
    ("Range", {}, [np.asarray(3), np.asarray(0), np.asarray(1)], np.zeros(0, np.int64)),
    ("Range", {}, [np.asarray(0.0), np.asarray(1.0), np.asarray(0.3)], np.arange(4) * 0.3),
    # Gradients.
    ("ReluGrad", {}, [f(1, 2, 3), f(-1, 0, 1)], f(0, 0, 3)),
    ("SoftmaxGrad", {}, [f([0.25, 0.75]), f([1, 1])], f([0, 0])),
    ("ApplyGradientDescent", {}, [f(1), np.float32(0.5), f(NAN)], f(NAN)),
)


@pytest.mark.parametrize(("name", "attrs", "inputs", "wanted"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_special_inputs_give_the_defined_results(
    name: str, attrs: dict[str, AttrValue], inputs: list[Any], wanted: Any
) -> None:
    results = evaluate_operator(name, attrs, [np.asarray(x) for x in inputs])
    for found, want in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=False):
        assert found.shape == np.shape(want)
        assert found.dtype == np.asarray(want).dtype
        np.testing.assert_allclose(found, want, rtol=2e-7, atol=0)
        if found.dtype.kind == "f":
            numbers = ~np.isnan(found)
            assert np.array_equal(np.signbit(found)[numbers], np.signbit(want)[numbers])
