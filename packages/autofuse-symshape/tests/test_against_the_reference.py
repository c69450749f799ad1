"""Shapes of operators that no ONNX case covers are those of what the NumPy reference makes."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir.dtypes import int32
from autofuse_ir.operators import all_operators
from autofuse_reference.operators import evaluate_operator
from autofuse_symshape.rules import DECLARED, RULES

F, INDEX = np.float32, np.int64


def _f(*shape: int) -> Any:
    return np.full(shape, 0.5, F)


def _i(*values: int) -> Any:
    return np.asarray(values, INDEX)


_ADAM = [_f(2, 3), _f(2, 3), _f(2, 3), *[_f()] * 6, _f(2, 3)]
_PER_CHANNEL = [_f(3)] * 6

CASES: dict[str, tuple[dict[str, Any], list[Any], tuple[int, ...]]] = {
    "GLU": ({"dim": -1}, [_f(2, 6)], ()),
    "SwiGlu": ({"dim": 0}, [_f(4, 3)], ()),
    "SoftmaxGrad": ({}, [_f(2, 3), _f(2, 3)], ()),
    "SoftmaxGradExt": ({}, [_f(2, 3), _f(2, 3), _f()], ()),
    "ConfusionSoftmaxGrad": ({}, [_f(2, 3), _f(2, 3)], ()),
    "LogSoftmaxGrad": ({}, [_f(2, 3), _f(2, 3)], ()),
    "Select": ({}, [np.ones(2, np.bool_), _f(2, 3), _f(2, 3)], ()),
    "BiasAdd": ({"data_format": "NCHW"}, [_f(2, 3, 4, 5), _f(3)], ()),
    "FusedMulAddN": ({}, [_f(2, 3), _f(3), _f(1)], ()),
    "MaskedFill": ({}, [_f(2, 3), np.ones(3, np.bool_), _f()], ()),
    "ClipByValue": ({}, [_f(2, 3), _f(), _f()], ()),
    "Addcmul": ({}, [_f(2, 3), _f(3), _f(2, 1), _f()], ()),
    "ReduceSumD": ({"axes": (1,)}, [_f(2, 3)], ()),
    "ReduceMeanD": ({"axes": (), "keep_dims": True}, [_f(2, 3)], ()),
    "ReduceAll": ({}, [np.ones((2, 3), np.bool_), _i(0)], (1,)),
    "ReduceAnyD": ({"axes": (-1,), "keep_dims": True}, [np.ones((2, 3), np.bool_)], ()),
    "SquareSumV1": ({"axis": (0,)}, [_f(2, 3)], ()),
    "LpNormV2": ({"axes": (), "keepdim": True}, [_f(2, 3)], ()),
    "L2Loss": ({}, [_f(2, 3)], ()),
    "BiasAddGrad": ({"data_format": "NCHW"}, [_f(2, 3, 4, 5)], ()),
    "ReduceStdV2": ({"dim": (1,)}, [_f(2, 3)], ()),
    "ArgMaxWithValue": ({"dimension": 1}, [_f(2, 3)], ()),
    "ArgMinWithValue": ({"dimension": 0, "keep_dims": True}, [_f(2, 3)], ()),
    "Cumprod": ({}, [_f(2, 3), _i(1)], (1,)),
    "FlattenV2": ({"axis": 1, "end_axis": 2}, [_f(2, 3, 4, 5)], ()),
    "GatherShapes": ({"axes": ((0, 1), (1, 0))}, [_f(2, 3), _f(4)], ()),
    "BroadcastTo": ({}, [_f(1, 3), _i(4, 2, 3)], (1,)),
    "TileD": ({"multiples": (2, 2, 1)}, [_f(2, 3)], ()),
    "Transpose": ({}, [_f(2, 3, 4), _i(2, 0, 1)], (1,)),
    "DepthToSpace": ({"block_size": 2}, [_f(1, 2, 3, 8)], ()),
    "SpaceToDepth": ({"block_size": 2}, [_f(1, 4, 6, 2)], ()),
    "Tril": ({}, [_f(2, 3, 4)], ()),
    "Eye": ({"num_rows": 3, "batch_shape": (2,)}, [], ()),
    "ReverseV2": ({}, [_f(2, 3), _i(1)], (1,)),
    "Roll": ({"shifts": (1,), "dims": (0,)}, [_f(2, 3)], ()),
    "AsStrided": ({}, [_f(12), _i(2, 3), _i(3, 1)], (1, 2)),
    "LinSpace": ({}, [_f(), _f(), _i(5)], (2,)),
    "Repeat": ({}, [_f(2, 3), _i(2, 1)], (1,)),
    "RepeatInterleave": ({"axis": 1}, [_f(2, 3), _i(2)], (1,)),
    "Concat": ({"N": 2}, [_i(1), _f(2, 3), _f(2, 4)], (0,)),
    "ConcatV2": ({"N": 2}, [_f(2, 3), _f(1, 3), _i(0)], (2,)),
    "MultisliceConcat": (
        {
            "concat_size": (2, 1),
            "slice_begin": (0, 4, 2),
            "silce_size": (2, 1, 3),
            "concat_num": 2,
            "max_concat_size": 2,
        },
        [_f(2, 6)],
        (),
    ),
    "Pack": ({"axis": 1, "N": 2}, [_f(2, 3), _f(2, 3)], ()),
    "Unpack": ({"num": 3, "axis": 1}, [_f(2, 3)], ()),
    "Split": ({"num_split": 3}, [_i(1), _f(2, 6)], (0,)),
    "SplitD": ({"num_split": 2, "split_dim": 0}, [_f(4, 3)], ()),
    "SplitV": ({"num_split": 3}, [_f(2, 6), _i(1, -1, 2), _i(1)], (1, 2)),
    "SplitVD": ({"num_split": 2, "split_dim": 1, "size_splits": (4, 2)}, [_f(2, 6)], ()),
    "Slice": ({}, [_f(4, 6), _i(1, 2), _i(-1, 3)], (1, 2)),
    "SliceD": ({"offsets": (1, 0), "size": (2, -1)}, [_f(4, 6)], ()),
    "StridedSlice": (
        {"begin_mask": 1, "end_mask": 2, "new_axis_mask": 4, "shrink_axis_mask": 8},
        [_f(7, 8, 9), _i(5, 1, 0, -1), _i(-2, 0, 0, 0), _i(2, 3, 1, 1)],
        (1, 2, 3),
    ),
    "StridedSliceD": (
        {"begin": (-3, 0, 1), "end": (-8, 0, 100), "strides": (-2, 1, 2), "ellipsis_mask": 2},
        [_f(7, 8, 9)],
        (),
    ),
    "StridedSliceV2": ({}, [_f(7, 8), _i(-100), _i(100), _i(1), _i(3)], (1, 2, 3, 4)),
    "Pad": ({}, [_f(2, 3), _i(1, 2, 0, 4)], (1,)),
    "PadD": ({"paddings": ((1, 2), (0, 4))}, [_f(2, 3)], ()),
    "Gather": ({"batch_dims": 1}, [_f(2, 5, 3), np.zeros((2, 4), INDEX)], ()),
    "IndexFill": ({"dim": 1}, [_f(2, 3), _i(0), _f()], ()),
    "Index": ({}, [_f(4, 5, 6), _i(1, 0, 1), _i(1, 1, 1), _i(0, 1), _i(2, 3)], (1, 2)),
    "TensorScatterUpdate": ({}, [_f(4, 3), np.zeros((2, 1), INDEX), _f(2, 3)], (1,)),
    "TopKV2": ({}, [_f(2, 6), np.asarray(3, INDEX)], (1,)),
    "Sort": ({}, [_f(2, 6)], ()),
    "SearchSorted": ({}, [_f(2, 6), _f(2, 3)], ()),
    "Bucketize": ({"boundaries": (0.1, 0.9)}, [_f(2, 6)], ()),
    "MatrixDiagV2": ({}, [_f(2, 3), _i(1), _i(-1), _i(-1), _f()], (1, 2, 3)),
    "DynamicStitch": ({"N": 2}, [np.asarray([0, 2], np.int32), np.asarray([1], np.int32), _f(2, 3), _f(1, 3)], (0, 1)),
    "UnsortedSegmentSum": ({}, [_f(4, 3), _i(0, 1, 0, 1), _i(5)], (2,)),
    "UnsortedSegmentMax": ({}, [_f(4, 3), _i(0, 1, 0, 1), _i(5)], (2,)),
    "UnsortedSegmentMin": ({}, [_f(4, 3), _i(0, 1, 0, 1), _i(5)], (2,)),
    "SparseToDense": ({}, [np.zeros((2, 2), INDEX), _i(3, 4), _f(2), _f()], (1,)),
    "ScatterAdd": ({}, [_f(4, 3), _i(0, 1), _f(2, 3)], ()),
    "ScatterNdAdd": ({}, [_f(4, 3), np.zeros((2, 1), INDEX), _f(2, 3)], (1,)),
    "ScatterNdUpdate": ({}, [_f(4, 3), np.zeros((2, 2), INDEX), _f(2)], (1,)),
    "ScatterNdMax": ({}, [_f(4, 3), np.zeros((2, 1), INDEX), _f(2, 3)], (1,)),
    "ScatterNdMin": ({}, [_f(4, 3), np.zeros((2, 1), INDEX), _f(2, 3)], (1,)),
    "InplaceIndexAdd": ({"axis": 0}, [_f(4, 3), _i(0, 1), _f(2, 3)], ()),
    "ViewCopy": ({}, [_f(6), _i(3), _i(2), _i(0), _f(3), _i(3), _i(1), _i(0)], (1, 2, 3, 5, 6, 7)),
    "DiagPartD": ({}, [_f(2, 3, 2, 3), _f(2, 3)], ()),
    "BNTrainingReduce": ({}, [_f(2, 3, 4, 5)], ()),
    "BNTrainingUpdate": ({"factor": 0.1, "epsilon": 1e-5}, [_f(2, 3, 4, 5), *_PER_CHANNEL], ()),
    "BNTrainingUpdateV3": ({"epsilon": 1e-5}, [_f(2, 3, 4, 5), *_PER_CHANNEL[:4]], ()),
    "BNTrainingUpdateGrad": ({}, [_f(2, 3, 4, 5), _f(2, 3, 4, 5), *_PER_CHANNEL[:2]], ()),
    "BNTrainingReduceGrad": ({}, [_f(2, 3, 4, 5), _f(2, 3, 4, 5), *_PER_CHANNEL[:5]], ()),
    "LayerNorm": ({"begin_norm_axis": 1}, [_f(2, 3, 4), _f(3, 4), _f(3, 4)], ()),
    "LayerNormV3": ({"begin_norm_axis": -1}, [_f(2, 3, 4), _f(4), _f(4)], ()),
    "AddLayerNorm": ({}, [_f(2, 3, 4), _f(2, 3, 4), _f(4), _f(4)], ()),
    "LayerNormXBackpropV2": ({}, [_f(2, 4), _f(2, 4), _f(2, 1), _f(2, 1), _f(4)], ()),
    "LayerNormXBackpropV3": ({}, [_f(2, 4), _f(2, 4), _f(2, 1), _f(2, 1), _f(4)], ()),
    "LayerNormBetaGammaBackpropV2": ({"shape_gamma": (4,)}, [_f(2, 4), _f(2, 4)], ()),
    "RmsNorm": ({}, [_f(2, 3, 4), _f(4)], ()),
    "AddRmsNorm": ({}, [_f(2, 3, 4), _f(2, 3, 4), _f(4)], ()),
    "GroupNorm": ({"num_groups": 2}, [_f(2, 4, 5), _f(4), _f(4)], ()),
    "InstanceNorm": ({}, [_f(2, 4, 5, 6), _f(4), _f(4)], ()),
    "SoftmaxCrossEntropyWithLogits": ({}, [_f(2, 5), _f(2, 5)], ()),
    "SparseSoftmaxCrossEntropyWithLogits": ({}, [_f(2, 5), _i(0, 1)], ()),
    "BNInferenceD": ({}, [_f(2, 3, 4), _f(3), _f(3)], ()),
    "BNInfer": ({"epsilon": 1e-5}, [_f(2, 3, 4), _f(3), _f(3), _f(3), _f(3)], ()),
    "RotaryPositionEmbedding": ({}, [_f(2, 3, 4), _f(3, 4), _f(3, 4)], ()),
    "AscendQuant": ({"scale": 1.0, "offset": 0.0}, [_f(2, 3)], ()),
    "MatMulV2": ({"transpose_x1": True}, [_f(4, 2), _f(4, 3), _f(3)], ()),
    "BatchMatMulV2": ({"adj_x2": True}, [_f(5, 1, 2, 4), _f(6, 3, 4)], ()),
    "ApplyAdagradD": ({}, [_f(2, 3), _f(2, 3), _f(), _f(2, 3)], ()),
    "ApplyAdamD": ({}, _ADAM, ()),
    "ApplyGradientDescent": ({}, [_f(2, 3), _f(), _f(2, 3)], ()),
    "Assign": ({}, [_f(2, 3), _f(2, 3)], ()),
    "Fills": ({"value": 2.0}, [_f(2, 3)], ()),
    "Bitcast": ({"type": int32}, [_f(2, 3)], ()),
}


@pytest.mark.parametrize("op", CASES)
@pytest.mark.parametrize("mode", ["static", "symbolic"])
def test_shapes_are_those_of_the_numpy_reference(op: str, mode: str, check_node: Any) -> None:
    attrs, inputs, known = CASES[op]
    results = evaluate_operator(op, attrs, inputs)
    static = [i for i in range(len(inputs)) if i not in known] if mode == "static" else ()
    facts = check_node(op, attrs, inputs, results, known=known, static=static)
    if mode == "static":
        assert facts.guards == ()


def test_every_operator_has_a_rule_or_is_declared() -> None:
    names = {op.name for op in all_operators()}
    assert names == set(RULES) | set(DECLARED)
    assert not set(RULES) & set(DECLARED)
