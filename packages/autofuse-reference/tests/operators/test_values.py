"""Operators that the ONNX node tests do not reach, against NumPy, the mathematics library and the literature."""

import math
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import AttrValue
from autofuse_reference.operators import evaluate_operator

F = np.asarray([-2.5, -0.75, 0.0, 0.5, 1.5, 3.25])
M = np.arange(12.0).reshape(3, 4)

CASES: tuple[tuple[str, dict[str, AttrValue], list[Any], list[Any]], ...] = (
    ("Rsqrt", {}, [F[3:]], [1 / np.sqrt(F[3:])]),
    ("Square", {}, [np.asarray([16], np.int8)], [np.asarray([0], np.int8)]),
    ("Expm1", {}, [F], [np.expm1(F)]),
    ("Log1p", {}, [F[2:]], [np.log1p(F[2:])]),
    ("Erfc", {}, [F], [np.asarray([math.erfc(v) for v in F])]),
    ("Exp", {"base": 3.0, "scale": 2.0, "shift": 1.0}, [F], [3.0 ** (2 * F + 1)]),
    ("Exp", {"base": 2.0}, [F], [2.0**F]),
    ("Log", {"base": 3.0, "scale": 2.0, "shift": 1.0}, [F[2:]], [np.log(2 * F[2:] + 1) / np.log(3)]),
    ("Log", {"base": 2.0}, [np.asarray([1, 8])], [np.asarray([0, 3], np.float32)]),
    ("Round", {"decimals": 1}, [np.asarray([0.25, 0.35001, -1.05001])], [np.asarray([0.2, 0.4, -1.1])]),
    ("Round", {}, [np.asarray([3])], [np.asarray([3])]),
    ("Rint", {}, [np.asarray([0.5, 1.5, -2.5])], [np.asarray([0.0, 2.0, -2.0])]),
    ("Trunc", {}, [F], [np.trunc(F)]),
    ("ZerosLike", {}, [F], [F * 0]),
    ("OnesLike", {}, [np.asarray([True, False])], [np.asarray([True, True])]),
    ("Fills", {"value": 7.0}, [np.asarray([1, 2])], [np.asarray([7, 7])]),
    ("Bitcast", {"type": dt.int32}, [np.asarray([1.0], np.float32)], [np.asarray([0x3F800000], np.int32)]),
    ("Lgamma", {}, [np.asarray([5.0, 0.5])], [np.asarray([math.log(24), math.log(math.pi) / 2])]),
    ("Digamma", {}, [np.asarray([1.0, 0.5])], [np.asarray([-np.euler_gamma, -np.euler_gamma - 2 * math.log(2)])]),
    ("Relu6", {}, [np.asarray([-1, 3, 9])], [np.asarray([0, 3, 6])]),
    ("Selu", {}, [np.asarray([1.0])], [np.asarray([1.0507009873554805])]),
    ("LogSigmoid", {}, [np.asarray([-800.0, 0.0])], [np.asarray([-800.0, -math.log(2)])]),
    ("HardShrink", {}, [F], [np.where(np.abs(F) <= 0.5, 0, F)]),
    ("SoftShrink", {}, [F], [np.sign(F) * np.maximum(np.abs(F) - 0.5, 0)]),
    ("ThresholdV2", {}, [F, np.asarray(0.4), np.asarray(9.0)], [np.where(F > 0.4, F, 9.0)]),
    ("Gelu", {}, [F], [F / (1 + np.exp(-1.5957691216057308 * (F + 0.044715 * F**3)))]),
    ("GLU", {"dim": 0}, [F], [F[:3] / (1 + np.exp(-F[3:]))]),
    ("SwiGlu", {}, [F], [F[:3] / (1 + np.exp(-F[:3])) * F[3:]]),
    ("SoftmaxV2", {"axes": (0, 1)}, [M], [np.exp(M) / np.exp(M).sum()]),
    (
        "Pow",
        {},
        [np.asarray([2, 3], np.int32), np.asarray([0.5], np.float32)],
        [np.sqrt(np.asarray([2, 3], np.float32))],
    ),
    ("Mul", {}, [np.asarray([3], np.uint8), np.asarray([-2], np.int8)], [np.asarray([-6], np.int16)]),
    ("Atan2", {}, [F, F[::-1]], [np.arctan2(F, F[::-1])]),
    ("Hypot", {}, [np.asarray([3e200]), np.asarray([4e200])], [np.asarray([5e200])]),
    ("LogAddExp", {}, [np.asarray([800.0]), np.asarray([800.0])], [np.asarray([800 + math.log(2)])]),
    ("SquaredDifference", {}, [F, F[::-1]], [(F - F[::-1]) ** 2]),
    ("DivNoNan", {}, [np.asarray([1, 7]), np.asarray([0, -2])], [np.asarray([0, -3])]),
    ("FloorDiv", {}, [F, np.asarray(0.1)], [np.floor_divide(F, 0.1)]),
    ("TruncateDiv", {}, [F, np.asarray(2.0)], [np.trunc(F / 2)]),
    ("TruncateMod", {}, [F, np.asarray(2.0)], [np.fmod(F, 2)]),
    ("Axpy", {"alpha": 3.0}, [F, F], [F + 3.0 * F]),
    ("AddV2", {}, [F, F], [F + F]),
    ("FusedMulAddN", {}, [F, F[::-1], np.asarray([2.0])], [F * 2 + F[::-1]]),
    ("Addcmul", {}, [F, F, F, np.asarray(0.5)], [F + 0.5 * F * F]),
    ("Addcdiv", {}, [F, F, F + 9, np.asarray(0.5)], [F + 0.5 * F / (F + 9)]),
    ("Lerp", {}, [F, F[::-1], np.asarray(0.25)], [F + 0.25 * (F[::-1] - F)]),
    ("BiasAdd", {}, [M, np.arange(4.0)], [M + np.arange(4.0)]),
    ("BiasAdd", {"data_format": "NCHW"}, [M[:, :, None], np.arange(4.0)], [M[:, :, None] + np.arange(4.0)[:, None]]),
    ("BiasAdd", {"data_format": "NCHW"}, [F, F], [F + F]),
    ("Select", {}, [F > 0, F, -F], [np.abs(F)]),
    ("Select", {}, [np.asarray(False), F, -F], [-F]),
    ("Select", {}, [np.asarray([True, False, True]), M, -M], [np.asarray([M[0], -M[1], M[2]])]),
    ("MaskedFill", {}, [F, F > 0, np.asarray(9.0)], [np.where(F > 0, 9.0, F)]),
    ("NotEqual", {}, [F, np.asarray(0.5)], [F != 0.5]),
    ("IsFinite", {}, [np.asarray([1.0, np.inf, np.nan])], [np.asarray([True, False, False])]),
    ("IsFinite", {}, [np.asarray([1])], [np.asarray([True])]),
    ("L2Loss", {}, [F], [np.asarray((F * F).sum() / 2)]),
    ("BiasAddGrad", {"data_format": "NCHW"}, [np.ones((2, 3, 4))], [np.full(3, 8.0)]),
    ("LpNormV2", {"p": 3.0, "axes": (0,)}, [F], [np.asarray((np.abs(F) ** 3).sum() ** (1 / 3))]),
    ("LpNormV2", {"p": math.inf}, [F], [np.asarray(3.25)]),
    ("ReduceStdV2", {"dim": (0,)}, [M], [M.std(0, ddof=1), M.mean(0)]),
    ("ArgMaxWithValue", {"dimension": 1}, [M % 3], [np.asarray([2, 1, 0], np.int32), np.full(3, 2.0)]),
    ("ArgMinWithValue", {"dimension": 0, "keep_dims": True}, [M], [np.zeros((1, 4), np.int32), M[:1]]),
    ("GatherShapes", {"axes": ((1, 0), (0, 1))}, [M, F], [np.asarray([6, 4], np.int32)]),
    ("Reshape", {"axis": 1, "num_axes": 1}, [M, np.asarray([2, -1])], [M.reshape(3, 2, 2)]),
    ("ExpandDims", {}, [F, np.asarray(-1)], [F[:, None]]),
    ("Unsqueeze", {"axes": (0, 2)}, [F], [F[None, :, None]]),
    ("Squeeze", {"axis": (0,)}, [F[None, :, None]], [F[:, None]]),
    ("FlattenV2", {"axis": 0}, [M], [M.reshape(-1)]),
    ("BroadcastTo", {}, [F, np.asarray([2, 6])], [np.broadcast_to(F, (2, 6))]),
    ("Fill", {}, [np.asarray([2, 2]), np.asarray(3, np.int8)], [np.full((2, 2), 3, np.int8)]),
    ("TileD", {"multiples": (2, 1)}, [M], [np.tile(M, (2, 1))]),
    ("Tril", {"diagonal": -1}, [M], [np.tril(M, -1)]),
    ("Triu", {"diagonal": 1}, [M], [np.triu(M, 1)]),
    (
        "Eye",
        {"num_rows": 2, "num_columns": 3, "batch_shape": (2,)},
        [],
        [np.stack([np.eye(2, 3, dtype=np.float32)] * 2)],
    ),
    ("ReverseV2", {}, [M, np.asarray([0])], [M[::-1]]),
    ("Roll", {"shifts": (1,), "dims": (1,)}, [M], [np.roll(M, 1, 1)]),
    ("Roll", {"shifts": (5,)}, [M], [np.roll(M, 5)]),
    ("AsStrided", {}, [M, np.asarray([2, 2]), np.asarray([1, 4]), np.asarray([2])], [np.asarray([[2.0, 6], [3, 7]])]),
    ("Range", {"is_closed": True}, [np.asarray(v) for v in (5, 1, -2)], [np.asarray([5, 3, 1])]),
    ("LinSpace", {}, [np.asarray(0.0), np.asarray(1.0), np.asarray(5)], [np.linspace(0, 1, 5)]),
    ("Repeat", {}, [M, np.asarray([2, 0, 1])], [M[[0, 0, 2]]]),
    ("RepeatInterleave", {"axis": 1}, [M, np.asarray(2)], [np.repeat(M, 2, 1)]),
    ("FlattenV2", {}, [np.asarray(3.0)], [np.asarray([3.0])]),
    ("Reshape", {"axis": -1, "num_axes": 0}, [F, np.asarray([1])], [F[:, None]]),
    ("LpNormV2", {"p": 0.0}, [F], [np.asarray(5.0)]),
    ("LpNormV2", {"p": -math.inf}, [F], [np.asarray(0.0)]),
    ("SearchSorted", {}, [M, np.asarray([[1.5], [4.0], [99.0]])], [np.asarray([[2], [0], [4]])]),
    ("ConcatD", {"concat_dim": 0}, [M, M], [np.concatenate([M, M])]),
    ("StopGradient", {}, [F], [F]),
    ("TensorMove", {}, [F], [F]),
    ("RealDiv", {}, [F, F + 9], [F / (F + 9)]),
    ("ReduceLogSum", {}, [M, np.asarray([1])], [np.log(M.sum(1))]),
    ("StridedSliceV2", {}, [M, *(np.asarray([v]) for v in (-1, -9, 1, -2))], [M[:, ::-2]]),
    ("StridedSliceV2", {"shrink_axis_mask": 1}, [M, np.asarray([2, 1]), np.asarray([3, 9])], [M[2, 1:]]),
    ("StridedSliceV3", {}, [M, np.asarray([1]), np.asarray([99])], [M[1:]]),
    ("TensorScatterUpdate", {}, [F, np.asarray([[2]]), np.asarray([7.0])], [np.where(F == 0, 7.0, F)]),
    ("ScatterNdMax", {}, [F, np.asarray([[2], [5]]), np.asarray([7.0, 0.0])], [np.where(F == 0, 7.0, F)]),
    ("BatchMatMulV2", {}, [np.stack([M, M]), M.T], [np.stack([M @ M.T] * 2)]),
    ("BatchMatMulV3", {"adj_x2": True}, [M, M, None], [M @ M.T]),
    ("MatMulV3", {"transpose_x1": True}, [M, M, np.arange(4.0)], [M.T @ M + np.arange(4.0)]),
    ("Concat", {"N": 2}, [np.asarray(1), M, M], [np.concatenate([M, M], 1)]),
    ("ConcatV2", {"N": 2}, [M, M, np.asarray(-1)], [np.concatenate([M, M], 1)]),
    ("Pack", {"axis": -1, "N": 2}, [F, F], [np.stack([F, F], -1)]),
    ("Unpack", {"num": 3}, [M], [M[0], M[1], M[2]]),
    ("Split", {"num_split": 2}, [np.asarray(1), M], [M[:, :2], M[:, 2:]]),
    ("SplitD", {"split_dim": 0, "num_split": 3}, [M], [M[:1], M[1:2], M[2:]]),
    (
        "MultisliceConcat",
        {
            "concat_size": (2, 1),
            "slice_begin": (0, 3, 1),
            "silce_size": (1, 1, 2),
            "concat_num": 2,
            "max_concat_size": 2,
        },
        [M],
        [M[:, [0, 3]], M[:, 1:3]],
    ),
    ("Pad", {}, [F, np.asarray([[1, 2]])], [np.pad(F, (1, 2))]),
    ("IndexFill", {"dim": 1}, [M, np.asarray([0, -1]), np.asarray(9.0)], [np.where([1, 0, 0, 1], 9.0, M)]),
    ("MatMul", {"transpose_x2": True}, [M, M, np.arange(3.0)], [M @ M.T + np.arange(3.0)]),
    ("BatchMatMul", {"adj_x1": True}, [np.stack([M, M]), M], [np.stack([M.T @ M] * 2)]),
    ("MatMulV2", {}, [M, np.arange(4.0)], [M @ np.arange(4.0)]),
)


@pytest.mark.parametrize(("name", "attrs", "inputs", "want"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_values_are_those_of_numpy(name: str, attrs: dict[str, AttrValue], inputs: list[Any], want: list[Any]) -> None:
    results = evaluate_operator(name, attrs, inputs)
    assert len(results) == len(want)
    for got, expected in zip(results, want, strict=True):
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        if got.dtype.kind == "f":
            assert got == pytest.approx(expected, rel=1e-14, abs=1e-15)
        else:
            assert np.array_equal(got, expected)


def test_erfinv_inverts_erf_and_ends_at_one() -> None:
    (y,) = evaluate_operator("Erfinv", {}, [np.asarray([-1, -0.5, 0.0, 0.9, 0.9999999, 1, 2])])
    assert [math.erf(v) for v in y[1:5]] == pytest.approx([-0.5, 0.0, 0.9, 0.9999999], rel=1e-15)
    assert y[[0, 5]].tolist() == [-math.inf, math.inf]
    assert math.isnan(y[6])
