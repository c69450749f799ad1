"""The operator table holds what it promises and finds operators by name."""

from collections import Counter

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr, Node
from autofuse_ir.operators import (
    Family,
    Flag,
    ParamKind,
    all_operators,
    check_node,
    has_operator,
    operator,
    result_dtypes,
)
from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import (
    AttrKind,
    Declared,
    DTypeRule,
    FirstOf,
    FixedIf,
    FloatOf,
    FromAttr,
    Promote,
    SameAs,
)

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


def _rules(rule: DTypeRule) -> tuple[DTypeRule, ...]:
    return tuple(inner for part in rule.rules for inner in _rules(part)) if isinstance(rule, FirstOf) else (rule,)


def test_dtype_rules_name_inputs_and_attributes_that_exist() -> None:
    for op in all_operators():
        inputs, attrs = {p.name for p in op.inputs}, {a.name for a in op.attrs}
        for rule in (inner for result in op.outputs for inner in _rules(result.rule)):
            match rule:
                case SameAs(param) | FloatOf(param):
                    assert param in inputs, op.name
                case Promote(params):
                    assert set(params) <= inputs, op.name
                case FromAttr(attr, _) | FixedIf(attr, _):
                    assert attr in attrs, op.name


def test_defaults_fit_their_kind() -> None:
    for op in all_operators():
        attrs = tuple(Attr(a.name, a.default) for a in op.attrs if a.default is not None)
        inputs = tuple("x" for _ in op.inputs)
        wrong = check_node(Node("n", op.name, inputs, ("y",) * len(op.outputs), attrs), (None,) * len(inputs))
        assert [f.what for f in wrong if "must be" in f.what or "unknown" in f.what] == [], op.name


def test_a_node_bound_to_each_signature_gives_a_dtype_for_each_output() -> None:
    for op in all_operators():
        attrs = tuple(Attr(a.name, dt.float32 if a.kind is AttrKind.DTYPE else 1) for a in op.attrs if a.required)
        node = Node("n", op.name, tuple("x" for _ in op.inputs), tuple(f"y{i}" for i in range(len(op.outputs))), attrs)
        dtypes = result_dtypes(node, [p.types[-1] for p in op.inputs])
        assert len(dtypes) == len(op.outputs), op.name
        for result, dtype in zip(op.outputs, dtypes, strict=True):
            declared = any(isinstance(rule, Declared) for rule in _rules(result.rule))
            assert (dtype is None) == declared, op.name
