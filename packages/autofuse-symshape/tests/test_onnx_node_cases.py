"""Shapes are those of the ONNX project's own node tests, for every operator that is one of ours.

Every case runs with its sizes known, with every dim a symbol, and with shape operands given only at run time.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import onnx
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.operators import input_names, operator
from autofuse_symshape.values.demand import SIZE_OPERANDS
from autofuse_testkit.onnx_node_cases import node_cases

Ours: TypeAlias = tuple[str, dict[str, Any], list[Any]]
"""Operator, attributes, inputs."""

Row: TypeAlias = Callable[[dict[str, Any], list[Any], list[Any]], Ours]
"""(ONNX attributes, inputs, outputs) -> the same node in Ascend IR."""


def _same(op: str, *attrs: str) -> Row:
    """The operator ``op`` with the inputs as they are and the attributes ``attrs`` (``theirs=ours`` renames)."""
    renamed = [name.split("=") for name in attrs]
    return lambda a, x, y: (op, {names[-1]: a[names[0]] for names in renamed if names[0] in a}, x)


def _all(op: str) -> Row:
    return lambda a, x, y: (op, {name: value for name, value in a.items() if operator(op).attr_spec(name)}, x)


def _reduce(op: str) -> Row:
    def row(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
        axes = np.asarray(a["axes"], np.int64) if "axes" in a else x[1] if len(x) > 1 else None
        attrs = {
            "keep_dims": bool(a.get("keepdims", 1)),
            "noop_with_empty_axes": bool(a.get("noop_with_empty_axes", 0)),
        }
        return op, attrs, [x[0], axes]

    return row


def _transpose(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return "TransposeD", {"perm": a.get("perm", tuple(reversed(range(x[0].ndim))))}, x


def _concat(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return "ConcatV2D", {"concat_dim": a["axis"], "N": len(x)}, x


def _split(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    sizes = np.asarray([piece.shape[a.get("axis", 0)] for piece in y], np.int64)
    return "SplitV", {"num_split": len(y)}, [x[0], sizes, np.asarray(a.get("axis", 0), np.int64)]


def _pad(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    pads = x[1]
    if len(x) > 3:
        pads = np.zeros((2, x[0].ndim), np.int64)
        pads[:, x[3]] = x[1].reshape(2, -1)
        pads = pads.reshape(-1)
    return "PadV3", {"mode": a.get("mode", "constant"), "paddings_contiguous": False}, [x[0], pads, *x[2:3]]


def _gather(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return "GatherV2", {"negative_index_support": True}, [*x, np.asarray(a.get("axis", 0), np.int64)]


def _one_hot(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return "OneHot", {"axis": a.get("axis", -1)}, [x[0], x[1], x[2][1:], x[2][:1]]


def _layer_norm(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    shape = np.asarray(x[0].shape[a.get("axis", -1) % x[0].ndim :], np.int64)
    return "LayerNormV4", {}, [x[0], shape, *x[1:]]


def _space(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return (
        ("DepthToSpace" if y[0].ndim and y[0].shape[1] < x[0].shape[1] else "SpaceToDepth"),
        {
            "block_size": a["blocksize"],
            "data_format": "NCHW",
        },
        x,
    )


def _fill(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return "Fill", {}, [x[0], np.zeros((), y[0].dtype)]


def _einsum(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    return "Einsum", {"equation": a["equation"], "N": len(x)}, x


def _dft(a: dict[str, Any], x: list[Any], y: list[Any]) -> Ours:
    attrs = {name: a[name] for name in ("inverse", "onesided") if name in a}
    if "axis" not in a:
        return "DFT", attrs, x
    return "DFT", attrs, [*[*x, None][:2], np.asarray(a["axis"], np.int64)]  # before opset 20 an attribute


_UNARY = """
Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Identity Log Mish Neg Reciprocal Relu Round Sigmoid
Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh HardSwish
"""
_BINARY = "Add BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater Less Mul PRelu Sub"
_HOST = """
Resize Upsample RNN GRU LSTM MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool MaxUnpool
RoiAlign GridSample AffineGrid Col2Im Det STFT BlackmanWindow HammingWindow HannWindow MelWeightMatrix
NonMaxSuppression CenterCropPad Conv ConvTranspose DeformConv ConvInteger QLinearConv MatMulInteger QLinearMatMul
Gemm Attention TfIdfVectorizer BatchNormalization Dropout StringConcat StringSplit StringNormalizer RegexFullMatch
ScatterElements ScatterND TopK Compress Unique EyeLike Trilu ArgMax ArgMin LRN LpNormalization
MeanVarianceNormalization NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss QuantizeLinear DequantizeLinear
DynamicQuantizeLinear RotaryEmbedding Bernoulli ImageDecoder NonZero
"""

ROWS: dict[str, Row] = {
    **{name: _same(name) for name in (_UNARY + _BINARY).split()},
    **{name: _all(name) for name in _HOST.split()},
    "And": _same("LogicalAnd"),
    "Or": _same("LogicalOr"),
    "Xor": _same("LogicalXor"),
    "Not": _same("LogicalNot"),
    "BitwiseNot": _same("Invert"),
    "BitShift": _same("LeftShift"),
    "GreaterOrEqual": _same("GreaterEqual"),
    "LessOrEqual": _same("LessEqual"),
    "IsNaN": _same("IsNan"),
    "IsInf": _same("IsInf"),
    "Where": _same("SelectV2"),
    "Clip": _same("Clip"),
    "Mod": lambda a, x, y: ("FloorMod", {}, x),
    "Max": lambda a, x, y: ("AddN", {"N": len(x)}, x),
    "Min": lambda a, x, y: ("AddN", {"N": len(x)}, x),
    "Sum": lambda a, x, y: ("AddN", {"N": len(x)}, x),
    "Cast": lambda a, x, y: ("Cast", {"dst_type": dt.dtype_named(y[0].dtype.name).ascend_code}, x[:1]),
    "CastLike": lambda a, x, y: ("Cast", {"dst_type": dt.dtype_named(y[0].dtype.name).ascend_code}, x[:1]),
    "Elu": _same("Elu"),
    "Celu": _same("CeluV2"),
    "Selu": _same("Selu"),
    "LeakyRelu": _same("LeakyRelu"),
    "HardSigmoid": _same("HardSigmoid"),
    "Shrink": _same("Shrink"),
    "ThresholdedRelu": _same("ThresholdedRelu"),
    "Gelu": _same("GeluV2"),
    "Softmax": lambda a, x, y: ("SoftmaxV2", {"axes": (a.get("axis", -1),)}, x),
    "LogSoftmax": lambda a, x, y: ("LogSoftmaxV2", {"axes": (a.get("axis", -1),)}, x),
    "Hardmax": _same("HardMax", "axis"),
    **{
        f"Reduce{kind}": _reduce(f"Reduce{kind}")
        for kind in ("Sum", "Mean", "Max", "Min", "Prod", "LogSum", "LogSumExp")
    },
    "CumSum": _same("Cumsum"),
    "Shape": lambda a, x, y: ("Shape", {"dtype": 9, **a}, x),
    "Size": lambda a, x, y: ("Size", {"dtype": 9}, x),
    "Reshape": _same("Reshape", "allowzero"),
    "Flatten": _same("Flatten", "axis"),
    "Squeeze": _same("SqueezeV3"),
    "Unsqueeze": _same("UnsqueezeV3"),
    "Transpose": _transpose,
    "Concat": _concat,
    "Split": _split,
    "Slice": _same("StridedSliceV3"),
    "Pad": _pad,
    "Expand": _same("Expand"),
    "Tile": _same("Tile"),
    "Range": _same("Range"),
    "ConstantOfShape": _fill,
    "Gather": _gather,
    "GatherElements": _same("GatherElements", "axis=dim"),
    "GatherND": _same("GatherNd", "batch_dims"),
    "OneHot": _one_hot,
    "ReverseSequence": lambda a, x, y: ("ReverseSequence", {"seq_dim": 0, "batch_dim": 1}, x),
    "DepthToSpace": _space,
    "SpaceToDepth": _space,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _same("RmsNorm"),
    "InstanceNormalization": _same("InstanceNorm"),
    "GroupNormalization": _same("GroupNorm", "num_groups"),
    "MatMul": _same("MatMul"),
    "Einsum": _einsum,
    "DFT": _dft,
    "Pow": lambda a, x, y: ("Pow", {}, [x[0], x[1].astype(x[0].dtype)]),
}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return tuple(_plain(each) for each in value)
    return value


def _array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _is_tensor(value: Any) -> bool:
    if not isinstance(value, np.ndarray | np.generic):
        return False
    return value.dtype.kind in "OUS" or value.dtype.name in {d.name for d in dt.TENSOR_DTYPES}


def _ours(case: Any) -> tuple[Ours, list[Any]] | None:
    """The case in Ascend IR, with its results; None where it is not one node of an operator of the rows."""
    graph = case.model.graph
    if len(graph.node) != 1 or graph.node[0].op_type not in ROWS or graph.node[0].domain:
        return None
    node = graph.node[0]
    values, results = (list(map(_array, part)) for part in case.data_sets[0])
    given = dict(zip([each.name for each in graph.input], values, strict=True))
    inputs = [given.get(name) for name in node.input]
    if not all(x is None or _is_tensor(x) for x in inputs) or not all(_is_tensor(y) for y in results):
        return None
    attrs = {attr.name: _plain(onnx.helper.get_attribute_value(attr)) for attr in node.attribute}
    named = dict(zip([each.name for each in graph.output], results, strict=True))
    outputs = [named.get(name) for name in node.output]
    if any(y is None for y in outputs):
        return None
    return ROWS[node.op_type](attrs, [None if x is None else np.asarray(x) for x in inputs], outputs), outputs


def _operands(op: str, inputs: list[Any]) -> tuple[list[int], list[int]]:
    """Positions of structural inputs: sizes, which may come at run time, and others, which may not."""
    names = input_names(operator(op), len(inputs))
    sizes = [i for i, name in enumerate(names) if name in SIZE_OPERANDS.get(op, ()) and inputs[i] is not None]
    axes = [i for i, name in enumerate(names) if name in ("axes", "axis", "perm", "split_dim", "k")]
    return sizes, [i for i in axes if i not in sizes and inputs[i] is not None]


@pytest.mark.parametrize("mode", ["static", "symbolic", "run-time"])
def test_shapes_are_those_of_the_onnx_node_cases(mode: str, check_node: Any) -> None:
    passed: Counter[str] = Counter()
    failures = []
    for case in node_cases():
        ours = _ours(case)
        if ours is None:
            continue
        (op, attrs, inputs), outputs = ours
        sizes, axes = _operands(op, inputs)
        everything = [i for i, x in enumerate(inputs) if x is not None]
        known = [*axes, *sizes]
        # the last dim of the indices of a GatherNd says how many dims they select: the rank depends on it
        static = [1] if op == "GatherNd" else []
        if mode == "static":
            static = [i for i in everything if i not in known]
        elif mode == "run-time":
            at_run_time = [i for i in sizes if inputs[i].dtype.kind == "i"]
            if not at_run_time:
                continue
            known, static = [i for i in known if i not in at_run_time], at_run_time
        try:
            check_node(op, attrs, inputs, outputs, known=known, static=static)
            passed[case.model.graph.node[0].op_type] += 1
        except Exception as error:
            failures.append(f"{case.name}: {type(error).__name__}: {error}")
    assert not failures, f"{len(failures)} of {passed.total() + len(failures)} cases:\n" + "\n".join(failures)
    if mode != "run-time":
        assert sorted(set(ROWS) - set(passed)) == []
        assert passed.total() > 700
