"""Our operators give what the ONNX project's own node tests expect, wherever one of ours is one of theirs.

The rows say how an ONNX node is written in Ascend IR; they serve as an independent oracle and cover what maps 1:1.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
import pytest
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import AttrValue
from autofuse_reference.arrays import dtype_of
from autofuse_reference.compare import compare
from autofuse_reference.operators import evaluate_operator
from autofuse_testkit.onnx_node_cases import node_cases

Inputs: TypeAlias = list[Any]
Ours: TypeAlias = tuple[str, dict[str, AttrValue], Inputs]

ALLOWED_ULP = {2: 2.0, 4: 2048.0, 8: 2048.0}
"""At tensor scale, by bytes of an element: the expected values are themselves computed in the declared dtype (of 16-bit
types in float32 and rounded), where a sum that nearly cancels keeps an error of 2**10 ULP at that scale."""

TYPED_IN = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 4096.0}
"""Tests whose expected float32 values were typed in with four decimals."""

NOT_OURS = ("test_batchnorm_example_training_mode", "test_batchnorm_epsilon_training_mode")
"""ONNX mixes the biased variance into the running one, Ascend IR the unbiased one."""


@frozen
class OnnxNode:
    """A node of a test model: attributes as Python values, inputs as arrays."""

    op: str
    opset: int
    attrs: dict[str, Any]
    inputs: Inputs
    output_dtypes: tuple[int, ...]

    def given(self, *names: str) -> dict[str, AttrValue]:
        """Return those of the attributes that are set, as Ascend IR spells values."""
        values = {name: self.attrs[name] for name in names if name in self.attrs}
        return {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}

    def input(self, i: int) -> Any:
        """Return input ``i``, or None."""
        return self.inputs[i] if i < len(self.inputs) else None


Row: TypeAlias = str | Callable[[OnnxNode], Ours]


def _all_attrs(op: str, *names: str) -> Row:
    return lambda n: (op, n.given(*names), n.inputs)


def _reduce(op: str) -> Row:
    def row(n: OnnxNode) -> Ours:
        axes = n.input(1)
        if "axes" in n.attrs:
            axes = np.asarray(n.attrs["axes"], np.int64)
        flags: dict[str, AttrValue] = {
            "keep_dims": bool(n.attrs.get("keepdims", 1)),
            "noop_with_empty_axes": bool(n.attrs.get("noop_with_empty_axes", 0)),
        }
        return op, flags, [n.input(0), axes]

    return row


def _norm(p: float) -> Row:
    def row(n: OnnxNode) -> Ours:
        axes = () if n.input(1) is None else tuple(int(i) for i in n.input(1))
        if n.attrs.get("noop_with_empty_axes") and not axes:
            return "Abs", {}, n.inputs[:1]
        return "LpNormV2", {"p": p, "axes": axes, "keepdim": bool(n.attrs.get("keepdims", 1))}, n.inputs[:1]

    return row


def _square_sum(n: OnnxNode) -> Ours:
    attrs = {
        "keep_dims": bool(n.attrs.get("keepdims", 1)),
        "noop_with_empty_axes": bool(n.attrs.get("noop_with_empty_axes", 0)),
    }
    axes = () if n.input(1) is None else tuple(int(i) for i in n.input(1))
    if attrs["noop_with_empty_axes"] and not axes:
        return "Square", {}, n.inputs[:1]
    return "SquareSumV1", {"axis": axes, **attrs}, n.inputs[:1]


def _bit_cast(n: OnnxNode) -> Ours:
    target = dt.dtype_of_onnx_code(n.output_dtypes[0])
    assert target is not None
    return "Bitcast", {"type": target}, n.inputs


def _batch_norm(n: OnnxNode) -> Ours:
    x, scale, shift, mean, variance = n.inputs
    return "BNInfer", {"epsilon": n.attrs.get("epsilon", 1e-5)}, [x, scale, shift, mean, variance]


def _cast(n: OnnxNode) -> Ours:
    target = dt.dtype_of_onnx_code(n.output_dtypes[0])
    assert target is not None
    return "Cast", {"dst_type": target.ascend_code}, n.inputs[:1]


def _fold(op: str) -> Row:
    def row(n: OnnxNode) -> Ours:
        first = n.inputs[0]
        for other in n.inputs[1:-1]:
            (first,) = evaluate_operator(op, {}, [first, other])
        if len(n.inputs) == 1:
            return "Identity", {}, n.inputs
        return op, {}, [first, n.inputs[-1]]

    return row


def _mod(n: OnnxNode) -> Ours:
    return ("Mod" if n.attrs.get("fmod") else "FloorMod"), {}, n.inputs


def _shift(n: OnnxNode) -> Ours:
    return ("LeftShift" if n.attrs["direction"] == b"LEFT" else "RightShift"), {}, n.inputs


def _pow(n: OnnxNode) -> Ours:
    return "Pow", {}, n.inputs


def _split(n: OnnxNode) -> Ours:
    axis, count = n.attrs.get("axis", 0), len(n.output_dtypes)
    if n.input(1) is not None:
        return "SplitV", {"num_split": count}, [n.input(0), n.input(1), np.asarray(axis)]
    size = n.input(0).shape[axis]
    piece = -(-size // count)
    sizes = (*[piece] * (count - 1), size - piece * (count - 1))
    return "SplitVD", {"size_splits": sizes, "split_dim": axis, "num_split": count}, n.inputs[:1]


def _pad(n: OnnxNode) -> Ours:
    data, pads, axes = n.input(0), n.input(1), n.input(3)
    if axes is not None:
        whole = np.zeros((2, data.ndim), np.int64)
        whole[:, axes] = pads.reshape(2, -1)
        pads = whole.reshape(-1)
    mode = n.attrs.get("mode", b"constant").decode()
    return "PadV3", {"mode": mode, "paddings_contiguous": False}, [data, pads, n.input(2)]


def _transpose(n: OnnxNode) -> Ours:
    rank = n.input(0).ndim
    return "TransposeD", {"perm": tuple(n.attrs.get("perm", range(rank - 1, -1, -1)))}, n.inputs


def _layer_norm(n: OnnxNode) -> Ours:
    x = n.input(0)
    axis = n.attrs.get("axis", -1) % x.ndim
    shape = np.asarray(x.shape[axis:], np.int64)
    return "LayerNormV4", n.given("epsilon"), [x, shape, n.input(1), n.input(2)]


def _one_hot(n: OnnxNode) -> Ours:
    return "OneHot", n.given("axis"), [n.input(0), n.input(1), n.input(2)[1:], n.input(2)[:1]]


def _quantise(n: OnnxNode) -> Ours:
    attrs = n.given("axis", "block_size", "output_dtype")
    return n.op, attrs, n.inputs


def _text(op: str, **names: str) -> Row:
    """Return a row that renames attributes; ``b"..."`` values become text."""

    def row(n: OnnxNode) -> Ours:
        values = {ours: n.attrs[theirs] for theirs, ours in names.items() if theirs in n.attrs}
        return op, {k: _plain(v) for k, v in values.items()}, n.inputs

    return row


def _plain(value: Any) -> AttrValue:
    return value.decode() if isinstance(value, bytes) else tuple(value) if isinstance(value, list) else value


def _window(n: OnnxNode) -> Ours:
    return n.op, {k: _plain(v) for k, v in n.attrs.items()}, n.inputs


def _einsum(n: OnnxNode) -> Ours:
    return "Einsum", {"equation": n.attrs["equation"].decode(), "N": len(n.inputs)}, n.inputs


def _rms(n: OnnxNode) -> Ours:
    return "RmsNorm", {"epsilon": n.attrs.get("epsilon", 1e-5)}, n.inputs


def _loss(n: OnnxNode) -> Ours:
    return n.op, {k: _plain(v) for k, v in n.attrs.items()}, n.inputs


def _softmax(op: str) -> Row:
    return lambda n: (op, {"axes": (n.attrs.get("axis", -1),)}, n.inputs)


def _space(n: OnnxNode) -> Ours:
    attrs = {"block_size": n.attrs["blocksize"], "data_format": "NCHW"}
    return n.op, attrs | ({"mode": _plain(n.attrs["mode"])} if "mode" in n.attrs else {}), n.inputs


def _elements(n: OnnxNode) -> Ours:
    attrs: dict[str, AttrValue] = {"dim": n.attrs.get("axis", 0), "negative_index_support": True}
    return "GatherElements", attrs, n.inputs


def _gather(n: OnnxNode) -> Ours:
    return "GatherV2", {"negative_index_support": True}, [*n.inputs, np.asarray(n.attrs.get("axis", 0))]


_SAME_NAME = """
Abs Acos Acosh Add Asin Asinh Atan Atanh BitwiseAnd BitwiseOr BitwiseXor Ceil Clip Cos Cosh Div DynamicQuantizeLinear
Equal Erf Exp Expand Floor GlobalAveragePool GlobalMaxPool Greater HardSwish Identity Less Log MatMul MatMulInteger
Mish Mul Neg NonZero PRelu QLinearMatMul Range Reciprocal Relu Reshape Round Sigmoid Sign Sin Sinh Size Softplus
Softsign Sqrt Sub Tan Tanh Tile
"""

_SAME: dict[str, Row] = {name: name for name in _SAME_NAME.split()}
ROWS: dict[str, Row] = _SAME | {
    "And": "LogicalAnd",
    "BatchNormalization": _batch_norm,
    "BitCast": _bit_cast,
    "BitShift": _shift,
    "BitwiseNot": "Invert",
    "Not": "LogicalNot",
    "Or": "LogicalOr",
    "Xor": "LogicalXor",
    "GreaterOrEqual": "GreaterEqual",
    "LessOrEqual": "LessEqual",
    "IsNaN": "IsNan",
    "IsInf": _all_attrs("IsInf", "detect_positive", "detect_negative"),
    "Where": "SelectV2",
    "Cast": _cast,
    "CastLike": _cast,
    "Max": _fold("Maximum"),
    "Min": _fold("Minimum"),
    "Sum": lambda n: ("AddN", {"N": len(n.inputs)}, n.inputs),
    "Mod": _mod,
    "Pow": _pow,
    "LeakyRelu": lambda n: ("LeakyRelu", {"negative_slope": n.attrs.get("alpha", 0.01)}, n.inputs),
    "Elu": _all_attrs("Elu", "alpha"),
    "Celu": _all_attrs("CeluV2", "alpha"),
    "Selu": lambda n: (
        "Elu",
        {"alpha": n.attrs.get("alpha", 1.67326319217681884765625), "scale": n.attrs.get("gamma", 1.05070102214813232)},
        n.inputs,
    ),
    "HardSigmoid": lambda n: ("HardSigmoid", {"alpha": n.attrs.get("alpha", 0.2), **n.given("beta")}, n.inputs),
    "ThresholdedRelu": _all_attrs("ThresholdedRelu", "alpha"),
    "Shrink": _all_attrs("Shrink", "lambd", "bias"),
    "Swish": _text("Swish", alpha="scale"),
    "Gelu": _text("GeluV2", approximate="approximate"),
    "Softmax": _softmax("SoftmaxV2"),
    "LogSoftmax": _softmax("LogSoftmaxV2"),
    "Hardmax": _all_attrs("HardMax", "axis"),
    **{
        f"Reduce{kind}": _reduce(f"Reduce{kind}")
        for kind in ("Sum", "Mean", "Max", "Min", "Prod", "LogSum", "LogSumExp")
    },
    "ReduceSumSquare": _square_sum,
    "ReduceL1": _norm(1.0),
    "ReduceL2": _norm(2.0),
    "ArgMax": _all_attrs("ArgMax", "axis", "keepdims", "select_last_index"),
    "ArgMin": _all_attrs("ArgMin", "axis", "keepdims", "select_last_index"),
    "CumSum": _all_attrs("Cumsum", "exclusive", "reverse"),
    "CumProd": _all_attrs("Cumprod", "exclusive", "reverse"),
    "TopK": _all_attrs("TopK", "axis", "largest", "sorted"),
    "Shape": lambda n: ("Shape", {"dtype": 9, **n.given("start", "end")}, n.inputs),
    "Size": lambda n: ("Size", {"dtype": 9}, n.inputs),
    "Reshape": _all_attrs("Reshape", "allowzero"),
    "Flatten": _all_attrs("Flatten", "axis"),
    "Squeeze": "SqueezeV3",
    "Unsqueeze": "UnsqueezeV3",
    "Transpose": _transpose,
    "Concat": lambda n: ("ConcatV2D", {"concat_dim": n.attrs["axis"], "N": len(n.inputs)}, n.inputs),
    "Split": _split,
    "Slice": "StridedSliceV3",
    "Pad": _pad,
    "Gather": _gather,
    "GatherElements": _elements,
    "GatherND": lambda n: ("GatherNd", {"negative_index_support": True, **n.given("batch_dims")}, n.inputs),
    "ScatterElements": _text("ScatterElements", axis="axis", reduction="reduction"),
    "Scatter": _text("ScatterElements", axis="axis"),
    "ScatterND": _text("ScatterND", reduction="reduction"),
    "OneHot": _one_hot,
    "Compress": _all_attrs("Compress", "axis"),
    "Unique": _all_attrs("Unique", "axis", "sorted"),
    "Trilu": _all_attrs("Trilu", "upper"),
    "EyeLike": _all_attrs("EyeLike", "dtype", "k"),
    "ReverseSequence": lambda n: (
        "ReverseSequence",
        {"seq_dim": n.attrs.get("time_axis", 0), "batch_dim": n.attrs.get("batch_axis", 1)},
        n.inputs,
    ),
    "DepthToSpace": _space,
    "SpaceToDepth": _space,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms,
    "InstanceNormalization": lambda n: ("InstanceNorm", {"epsilon": n.attrs.get("epsilon", 1e-5)}, n.inputs),
    "GroupNormalization": lambda n: (
        "GroupNorm",
        {"num_groups": n.attrs["num_groups"], "eps": n.attrs.get("epsilon", 1e-5)},
        n.inputs,
    ),
    "MeanVarianceNormalization": _all_attrs("MeanVarianceNormalization", "axes"),
    "LpNormalization": _all_attrs("LpNormalization", "axis", "p"),
    "LRN": _all_attrs("LRN", "size", "alpha", "beta", "bias"),
    "RotaryEmbedding": _all_attrs("RotaryEmbedding", "interleaved", "num_heads", "rotary_embedding_dim"),
    "NegativeLogLikelihoodLoss": _loss,
    "SoftmaxCrossEntropyLoss": _loss,
    "QuantizeLinear": _quantise,
    "DequantizeLinear": _quantise,
    "Einsum": _einsum,
    "Gemm": _all_attrs("Gemm", "alpha", "beta", "transA", "transB"),
    "Conv": _window,
    "ConvInteger": _window,
    "MaxPool": _window,
    "AveragePool": _window,
}


def _arrays(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        yield onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _supported(values: Sequence[Any]) -> bool:
    """True for tensors of dtypes that kernels hold (no strings, sequences, complex, 4- and 8-bit floats)."""
    known = {d.name for d in dt.TENSOR_DTYPES}
    return all(isinstance(v, np.ndarray | np.generic) and np.asarray(v).dtype.name in known for v in values)


def _evaluate(row: Row, node: OnnxNode) -> list[Any]:
    op, attrs, inputs = (row, {}, node.inputs) if isinstance(row, str) else row(node)
    return evaluate_operator(op, attrs, inputs)


def _nodes(op_type: str) -> Iterator[tuple[str, OnnxNode, list[Any]]]:
    for case in node_cases():
        if case.model is None or len(case.model.graph.node) != 1 or case.model.graph.node[0].op_type != op_type:
            continue
        if case.name in NOT_OURS:
            continue
        proto = case.model.graph.node[0]
        for inputs, outputs in case.data_sets:
            given, expected = list(_arrays(inputs)), list(_arrays(outputs))
            if not _supported(given) or not _supported(expected) or proto.domain:
                continue
            named = dict(zip((i.name for i in case.model.graph.input), given, strict=False))
            attrs = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}
            dtypes = tuple(o.type.tensor_type.elem_type for o in case.model.graph.output)
            opset = case.model.opset_import[0].version
            node = OnnxNode(op_type, opset, attrs, [named.get(i) for i in proto.input], dtypes)
            yield case.name, node, [np.asarray(e) for e in expected]


@pytest.mark.parametrize("op_type", sorted(ROWS))
def test_results_are_those_of_the_onnx_node_tests(op_type: str) -> None:
    ran = Counter[str]()
    for name, node, expected in _nodes(op_type):
        actual = _evaluate(ROWS[op_type], node)
        for got, want in zip(actual, expected, strict=False):
            result = got
            if dtype_of(got) != dtype_of(want):
                # Ascend IR promotes where ONNX keeps the type of the first operand: a cast follows there.
                assert op_type in {"Pow", "RMSNormalization"}, name
                result = got.astype(want.dtype)
            allowed = TYPED_IN.get(name, ALLOWED_ULP.get(want.itemsize, 0.0))
            difference = compare(result, want, allowed_ulp=allowed)
            assert difference.equal, f"{name}: {difference}"
        ran[op_type] += 1
    assert ran[op_type] > 0, f"no node test of {op_type} was run"
