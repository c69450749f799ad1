"""Nodes are bound to signatures, checked against them, and their result dtypes follow."""

import re

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr, AttrValue, Node
from autofuse_ir.operators import attr_of, bind, bind_outputs, check_node, input_names, operator, promote, result_dtypes


def node(op: str, inputs: tuple[str | None, ...], outputs: tuple[str, ...] = ("y",), **attrs: AttrValue) -> Node:
    return Node("n", op, inputs, outputs, tuple(Attr(k, v) for k, v in attrs.items()), source="here")


def test_optional_inputs_may_be_left_out_or_none() -> None:
    bound = bind(node("LayerNormV4", ("x", "shape", None, "beta"), ("y", "mean", "rstd")))
    assert dict(bound) == {"x": "x", "normalized_shape": "shape", "gamma": None, "beta": "beta"}
    assert bind(node("PadV3", ("x", "p")))["constant_values"] is None


def test_lists_stand_before_between_and_after_other_inputs() -> None:
    assert bind(node("ConcatV2", ("a", "b", "axis")))["x"] == ("a", "b")
    assert bind(node("Concat", ("axis", "a", "b", "c")))["x"] == ("a", "b", "c")
    stitched = bind(node("DynamicStitch", ("i0", "i1", "x0", "x1")))
    assert stitched == {"indices": ("i0", "i1"), "x": ("x0", "x1")}
    assert bind(node("ConcatV2", ("axis",)))["x"] == ()
    assert input_names(operator("ConcatV2"), 3) == ("x", "x", "concat_dim")


def test_outputs_are_bound_like_inputs() -> None:
    assert bind_outputs(node("SplitD", ("x",), ("a", "b"), split_dim=0, num_split=2)) == {"y": ("a", "b")}
    assert bind_outputs(node("LSTM", ("x", "w", "r"), ("", "h"))) == {"Y": None, "Y_h": "h", "Y_c": None}


@pytest.mark.parametrize("inputs", [("a",), ("a", "b", "c"), ("a", None)])
def test_a_wrong_number_of_inputs_names_the_signature(inputs: tuple[str | None, ...]) -> None:
    with pytest.raises(IrError, match=r"node 'n', operator Sub \(here\)"):
        bind(node("Sub", inputs))


def test_attributes_take_their_default() -> None:
    assert attr_of(node("LeakyRelu", ("x",)), "negative_slope") == 0.0
    assert attr_of(node("LeakyRelu", ("x",), negative_slope=0.2), "negative_slope") == 0.2
    assert attr_of(node("NegativeLogLikelihoodLoss", ("x", "t")), "ignore_index") is None
    with pytest.raises(IrError, match="required attribute 'dst_type'"):
        attr_of(node("Cast", ("x",)), "dst_type")
    with pytest.raises(IrError, match="no attribute 'slope'"):
        attr_of(node("LeakyRelu", ("x",)), "slope")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((node("Add", ("a", "b")), dt.float16, dt.float16), (dt.float16,)),
        ((node("Less", ("a", "b")), dt.int8, dt.int8), (dt.bool_,)),
        ((node("Cast", ("a",), dst_type=27), dt.float32), (dt.bfloat16,)),
        ((node("Mul", ("a", "b")), dt.int64, dt.float16), (dt.float16,)),
        ((node("Log", ("a",)), dt.int32), (dt.float32,)),
        ((node("Log", ("a",)), dt.float64), (dt.float64,)),
        ((node("SoftmaxV2", ("a",), half_to_float=True), dt.float16), (dt.float32,)),
        ((node("SoftmaxV2", ("a",)), dt.float16), (dt.float16,)),
        ((node("QuantizeLinear", ("x", "s", "z")), dt.float32, dt.float32, dt.int8), (dt.int8,)),
        ((node("QuantizeLinear", ("x", "s"), output_dtype=5), dt.float32, dt.float32), (dt.int16,)),
        ((node("QuantizeLinear", ("x", "s")), dt.float32, dt.float32), (dt.uint8,)),
        ((node("SplitD", ("x",), ("a", "b"), split_dim=0, num_split=2), dt.bool_), (dt.bool_, dt.bool_)),
        (
            (node("ArgMaxWithValue", ("x",), ("i", "v"), dimension=0, indice_dtype=dt.int64), dt.float16),
            (dt.int64, dt.float16),
        ),
        ((node("ConcatV2", ("a", "b", "axis")), dt.int8, dt.int8, dt.int64), (dt.int8,)),
        ((node("GatherV2", ("x", "i", "axis")), dt.uint16, dt.int32, dt.int64), (dt.uint16,)),
        ((node("HostCall", ("a",), ("y", "z")), dt.opaque), (None, None)),
        ((node("RandomUniform", ("s",), dtype=dt.float16), dt.int64), (dt.float16,)),
        ((node("LSTM", ("x", "w", "r"), ("y", "h")), dt.float32, dt.float32, dt.float32), (dt.float32, dt.float32)),
        ((node("Eye", (), num_rows=3)), ()),
    ],
)
def test_result_dtypes_follow_the_rules(given: tuple[Node, DType] | Node, expected: tuple[DType | None, ...]) -> None:
    if isinstance(given, Node):
        assert result_dtypes(given, ()) == (dt.float32,)
    else:
        assert result_dtypes(given[0], given[1:]) == expected


def test_promotion_is_commutative_and_keeps_the_wider_kind() -> None:
    for a in dt.TENSOR_DTYPES:
        for b in dt.TENSOR_DTYPES:
            assert promote(a, b) == promote(b, a)
            assert promote(a, b).bits >= max(a.bits, b.bits) or promote(a, b).is_float
    assert promote(dt.float16, dt.bfloat16) == dt.float32
    assert promote(dt.uint8, dt.int8) == dt.int16
    assert promote(dt.uint64, dt.int8) == dt.int64
    assert promote(dt.bool_, dt.uint8) == dt.uint8


def test_a_right_node_has_no_findings() -> None:
    assert check_node(node("Add", ("a", "b")), (dt.int8, dt.int8)) == ()
    assert check_node(node("StridedSliceD", ("x",), begin=(0,), end=(1,), strides=(1,)), (dt.bool_,)) == ()
    assert check_node(node("PadD", ("x",), paddings=((0, 1), (2, 3))), (dt.bool_,)) == ()


@pytest.mark.parametrize(
    ("wrong", "dtypes", "message"),
    [
        (node("Add", ("a",)), (dt.int8,), "1 inputs do not fit"),
        (node("Add", ("a", "b")), (dt.int8, dt.int16), "must have one dtype"),
        (node("Add", ("a", "b")), (dt.bool_, dt.bool_), "only .* are allowed"),
        (node("Add", ("a", "b"), axis=1), (dt.int8, dt.int8), "unknown attribute 'axis'"),
        (node("Cast", ("a",)), (dt.int8,), "required attribute 'dst_type'"),
        (node("Cast", ("a",), dst_type=13), (dt.int8,), "not a dtype that kernels"),
        (node("TransposeD", ("a",), perm=1), (dt.int8,), "must be int"),
        (node("LeakyRelu", ("a",), negative_slope="x"), (dt.float32,), "must be float"),
        (node("Nonsense", ("a",)), (dt.int8,), "no operator 'Nonsense'"),
        (node("SplitD", ("x",), (), split_dim=0), (dt.int8,), "required attribute 'num_split'"),
    ],
)
def test_a_wrong_node_is_found(wrong: Node, dtypes: tuple[DType, ...], message: str) -> None:
    findings = check_node(wrong, dtypes)
    assert any(re.search(message, finding.what) for finding in findings), findings
    assert all("node 'n'" in finding.where for finding in findings)
