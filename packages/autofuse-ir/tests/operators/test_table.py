"""The operator table holds what it promises and finds operators by name."""

from collections import Counter

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.errors import IrError
from autofuse_ir.operators import Family, Flag, ParamKind, all_operators, has_operator, operator
from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import AttrKind, FirstOf, FixedIf, SameAs

_ASCEND_IR = """
Abs Acos Asin Sin Cos Tanh Exp Log Log1p Sqrt Rsqrt Square Reciprocal Neg Sign Erf Ceil Round IsNan IsFinite LogicalNot
Cast Identity TensorMove StopGradient ZerosLike Muls Adds HcomAllReduce Relu LeakyRelu Elu Sigmoid Gelu Swish Softplus
SoftmaxV2 ReluGrad LeakyReluGrad EluGrad SigmoidGrad TanhGrad RsqrtGrad SoftmaxGrad SoftmaxGradExt ConfusionSoftmaxGrad
Add AddV2 Sub Mul Div RealDiv DivNoNan FloorDiv FloorMod Pow Maximum Minimum SquaredDifference Axpy BitwiseAnd Equal
NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr AddN FusedMulAddN ClipByValue Select SelectV2
MaskedFill BiasAdd ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceAll ReduceAny ReduceSumD ReduceMeanD
ReduceMaxD ReduceMinD ReduceProdD ReduceAllD ReduceAnyD SquareSumV1 L2Loss BiasAddGrad ArgMaxWithValue ArgMinWithValue
Shape GatherShapes Reshape Squeeze SqueezeV3 Unsqueeze UnsqueezeV3 ExpandDims FlattenV2 Expand BroadcastTo Fill Tile
TileD Transpose TransposeD Range Repeat Concat ConcatD ConcatV2 ConcatV2D MultisliceConcat Pack Unpack Split SplitD
SplitV SplitVD Slice SliceD StridedSlice StridedSliceD StridedSliceV2 StridedSliceV3 Pad PadD PadV3 Gather GatherV2
GatherNd GatherElements Index DynamicStitch TopKV2 ScatterAdd ScatterNdAdd ScatterNdUpdate ScatterElements
InplaceIndexAdd ViewCopy UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin DiagPartD MatrixDiagV2 SparseToDense
EmbeddingHashTableLookupOrInsert BNTrainingReduce BNTrainingUpdate BNTrainingUpdateV3 BNTrainingUpdateGrad
BNTrainingReduceGrad BNInferenceD LayerNorm LayerNormV3 LayerNormV4 AddLayerNorm LayerNormXBackpropV2
LayerNormXBackpropV3 LayerNormBetaGammaBackpropV2 SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
Assign AssignAdd ApplyGradientDescent ApplyAdagradD ApplyAdamD MatMul MatMulV2 MatMulV3 BatchMatMul BatchMatMulV2
BatchMatMulV3 Einsum Conv2D Conv2DV2 Conv2DBackpropInputD Conv2DBackpropFilterD FlashAttentionScore
FusedInferAttentionScore RandomUniform RandomUniformV2 TruncatedNormal
"""
ASCEND_NAMES = tuple(_ASCEND_IR.split())


def test_every_operator_of_ascend_ir_that_the_original_knows_is_in_the_table() -> None:
    assert len(ASCEND_NAMES) == 189
    assert [name for name in ASCEND_NAMES if not has_operator(name)] == []
    assert [name for name in ASCEND_NAMES if operator(name).has(Flag.EXTENSION)] == []


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(op.name for op in all_operators()).items() if count > 1] == []


def test_every_operator_runs_in_exactly_one_way() -> None:
    for op in all_operators():
        assert sum(op.has(flag) for flag in (Flag.VECTOR, Flag.CUBE, Flag.HOST)) == 1, op.name


def test_names_inside_a_signature_are_unique() -> None:
    for op in all_operators():
        for names in ([p.name for p in op.inputs], [r.name for r in op.outputs], [a.name for a in op.attrs]):
            assert len(names) == len(set(names)), op.name


def test_in_place_operators_name_the_input_they_update() -> None:
    for op in all_operators():
        if op.has(Flag.IN_PLACE) and op.family is not Family.HOST:
            assert {r.name for r in op.outputs} & {p.name for p in op.inputs}, op.name


def test_commutative_operators_have_two_alike_inputs() -> None:
    for op in all_operators():
        if op.has(Flag.COMMUTATIVE):
            assert op.inputs[0].types == op.inputs[1].types, op.name


def test_an_unknown_name_is_answered_with_the_near_ones() -> None:
    with pytest.raises(IrError, match=r"did you mean.*LayerNorm"):
        operator("LayerNom")
    with pytest.raises(IrError, match="HostCall"):
        operator("qqqqqqqq")


def test_a_signature_declares_inputs_outputs_attributes_and_rules() -> None:
    (op,) = declare(
        Family.BINARY,
        (Flag.VECTOR,),
        "Demo[T: float|bool](x: T, k?: index, rest*: T; a: int, b: int[] = [1, -2], c?: float, d: str = 'x, y')"
        " -> y: float32 if d | T, z*: bool  # what it does",
    )
    assert [(p.name, p.kind) for p in op.inputs] == [
        ("x", ParamKind.REQUIRED),
        ("k", ParamKind.OPTIONAL),
        ("rest", ParamKind.DYNAMIC),
    ]
    assert op.inputs[0].types == (dt.float16, dt.bfloat16, dt.float32, dt.float64, dt.bool_)
    assert [(a.name, a.kind, a.required, a.default) for a in op.attrs] == [
        ("a", AttrKind.INT, True, None),
        ("b", AttrKind.INTS, False, (1, -2)),
        ("c", AttrKind.FLOAT, False, None),
        ("d", AttrKind.STR, False, "x, y"),
    ]
    assert op.outputs[0].rule == FirstOf((FixedIf("d", dt.float32), SameAs("x")))
    assert op.outputs[1].kind is ParamKind.DYNAMIC
    assert op.meaning == "what it does"
