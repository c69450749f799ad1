"""What has no answer is refused with a message that says why, never answered with something else."""

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import AutofuseError
from autofuse_ir.graph import AttrValue, Node
from autofuse_ir.operators import Flag, Operator, ParamKind, all_operators
from autofuse_ir.operators.model import AttrKind
from autofuse_reference.arrays import dtype_of, numpy_dtype
from autofuse_reference.errors import EvaluationError, Status, StatusError
from autofuse_reference.operators import evaluate_operator

F = np.arange(6.0).reshape(2, 3)
ZERO = np.asarray(0)

CASES: tuple[tuple[str, dict[str, AttrValue], list[Any], str], ...] = (
    ("GeluV2", {"approximate": "fast"}, [F], "approximate is 'fast'"),
    ("GLU", {}, [F], "size 3 has no two halves"),
    ("ReduceSumD", {"axes": (0, -2)}, [F], "name one axis twice"),
    ("BiasAdd", {"data_format": "NC1HWC0"}, [F, F[0]], "data_format is 'NC1HWC0'"),
    ("Unpack", {"num": 3}, [F], "has size 2, not 3"),
    ("PadV3", {"mode": "mirror"}, [F, np.zeros((2, 2), np.int64)], "padding mode is 'mirror'"),
    ("Pad", {}, [F, np.zeros((1, 2), np.int64)], "1 pairs of paddings for rank 2"),
    ("Cast", {"dst_type": 13}, [F], "dst_type 13"),
    ("Bitcast", {"type": dt.int8}, [F], "widths differ"),
    ("GatherNd", {}, [F, np.zeros((1, 3), np.int64)], "3 indices for 2 dims"),
    ("TopKV2", {}, [F, np.asarray(4)], "k is 4, but dim 1 has 3 elements"),
    ("NegativeLogLikelihoodLoss", {"reduction": "max"}, [F, np.asarray([0, 1])], "reduction is 'max'"),
    ("LayerNormV4", {}, [F, np.asarray([2])], "normalized_shape"),
    ("Assign", {}, [F, F[0]], "is assigned to shape"),
    ("AscendQuant", {"scale": 1.0, "offset": 0.0, "round_mode": "Up"}, [F], "round_mode 'Up'"),
    ("ArgMaxWithValue", {"dimension": 0}, [np.zeros((0, 2))], "no largest element"),
    ("ScatterElements", {"reduction": "xor"}, [F, np.zeros((1, 1), np.int64), F[:1, :1]], "reduction is 'xor'"),
    ("Reshape", {}, [F, np.asarray([2, 3, 0])], "copies a dim"),
    ("Reshape", {}, [F, np.asarray([-1, -1])], "more than one dim open"),
    ("Squeeze", {"axis": (0,)}, [F], "not all of size 1"),
    ("Tile", {}, [F, np.asarray([2])], "1 multiples for rank 2"),
    ("AsStrided", {}, [F, np.asarray([7]), np.asarray([1])], "reads element 6 of 6"),
    ("Range", {}, [ZERO, ZERO, ZERO], "delta is 0"),
    ("StridedSliceD", {"begin": (0,), "end": (1,), "strides": (0,)}, [F], "stride is 0"),
    ("StridedSliceD", {"begin": (0,), "end": (1, 2), "strides": (1,)}, [F], "1, 2 and 1 elements"),
    ("StridedSliceV3", {}, [F, np.asarray([0]), np.asarray([1]), np.asarray([0, 1])], "1 begins for 2 axes"),
    ("ReduceSum", {}, [F, np.asarray([2])], r"axes \[2\] do not fit rank 2"),
    ("ReduceMaxD", {"axes": (-3,)}, [F], r"axes \[-3\] do not fit rank 2"),
    ("ReduceMean", {}, [np.zeros((2, 0), np.int32), np.asarray([1])], "an integer was divided by zero"),
    ("ArgMin", {"axis": 1}, [np.zeros((2, 0))], "no smallest element"),
    ("Cumsum", {}, [F, np.asarray(2)], r"axes \[2\] do not fit rank 2"),
    ("ReverseV2", {}, [F, np.asarray([0, 2])], r"axes \[0, 2\] do not fit rank 2"),
    ("Roll", {"shifts": (1,), "dims": (2,)}, [F], r"axes \[2\] do not fit rank 2"),
    ("Roll", {"shifts": (1, 2), "dims": (1,)}, [F], "2 shifts for 1 dims"),
    ("Pad", {}, [F, np.asarray([[0, 0], [-2, -2]])], "cut more than the 3 elements"),
    ("Pad", {}, [F, np.asarray([[0, 0], [-4, 5]])], "cut more than the 3 elements"),
    ("SplitV", {"num_split": 3}, [F, np.asarray([1, 1]), np.asarray(0)], "2 sizes for 3 pieces"),
    ("SplitV", {"num_split": 2}, [F, np.asarray([1, 3]), np.asarray(1)], "do not make up dim 1 of size 3"),
    ("SplitV", {"num_split": 2}, [F, np.asarray([-1, 4]), np.asarray(1)], "do not make up dim 1 of size 3"),
    ("Slice", {}, [F, np.asarray([0]), np.asarray([1, 1])], "1 offsets and 2 sizes for rank 2"),
    ("ConcatD", {"concat_dim": 2, "N": 2}, [F, F], r"axes \[2\] do not fit rank 2"),
    ("ConcatD", {"concat_dim": 0, "N": 2}, [F, F[:, :2]], "array dimensions"),
    (
        "PadV3",
        {"mode": "reflect"},
        [F, np.asarray([[0, 0], [3, 0]])],
        "3 reflected elements need more than the 3 of dim 1",
    ),
    ("PadV3", {"mode": "edge"}, [F[:0], np.asarray([[1, 0], [0, 0]])], "dim 0 of size 0 has nothing to pad with"),
    (
        "MultisliceConcat",
        {"concat_size": (2,), "slice_begin": (0,), "silce_size": (1,), "concat_num": 1, "max_concat_size": 2},
        [F],
        "1 begins",
    ),
    ("GatherV2", {}, [F, np.asarray([0]), np.asarray(2)], r"axes \[2\] do not fit rank 2"),
    ("GatherElements", {"dim": 1}, [F, np.asarray([[3]])], "index 3 is outside of a dim of size 3"),
    ("GatherNd", {}, [F, np.asarray([[1, -1]])], "index -1 is outside of a dim of size 3"),
    ("IndexFill", {"dim": 0}, [F, np.asarray([2]), ZERO * 1.0], "index 2 is outside of a dim of size 2"),
    ("NegativeLogLikelihoodLoss", {}, [F, np.asarray([0, 3])], "index 3 is outside of a dim of size 3"),
    ("Flatten", {"axis": 3}, [F], "axis 3 does not fit rank 2"),
    ("FlattenV2", {"axis": 1, "end_axis": 0}, [F], "axis 1 comes after end_axis 0"),
    ("Trilu", {}, [F[0]], "holds no matrices"),
    ("AsStrided", {}, [F, np.asarray([2]), np.asarray([-1])], "reads element -1 of 6"),
    ("Range", {}, [ZERO * 1.0, np.asarray(np.inf), ZERO + 1.0], "not all finite"),
    ("ReverseSequence", {"seq_dim": 1, "batch_dim": 0}, [F, np.asarray([1, 4])], "sequence 1 has length 4"),
    (
        "DepthToSpace",
        {"block_size": 2, "data_format": "NCHW"},
        [np.zeros((1, 6, 2, 2))],
        "6 channels do not make up blocks of 2 x 2",
    ),
    (
        "SpaceToDepth",
        {"block_size": 2, "data_format": "NCHW"},
        [np.zeros((1, 1, 3, 2))],
        "3 x 2 pixels are not made of blocks",
    ),
    ("SpaceToDepth", {"block_size": 2}, [F], "do not fit shape"),
    ("Reshape", {}, [F, np.asarray([4])], "cannot reshape"),
    ("Expand", {}, [F, np.asarray([4])], "shape mismatch"),
    ("TransposeD", {"perm": (0, 2)}, [F], r"axes \[0, 2\] do not fit rank 2"),
    ("ReverseV2", {}, [F, np.asarray([2])], r"axes \[2\] do not fit rank 2"),
    (
        "GroupNorm",
        {"num_groups": 2},
        [np.zeros((1, 3)), np.zeros(3), np.zeros(3)],
        "3 channels are not made of 2 groups",
    ),
    ("LRN", {"size": 0}, [np.zeros((1, 3, 2))], "the size is 0"),
    ("Pow", {}, [np.asarray([2]), np.asarray([-1])], "negative power"),
    ("Div", {}, [np.asarray([2]), np.asarray([0])], "an integer was divided by zero"),
)


@pytest.mark.parametrize(
    ("name", "attrs", "inputs", "message"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)]
)
def test_wrong_calls_are_refused(name: str, attrs: dict[str, AttrValue], inputs: list[Any], message: str) -> None:
    with pytest.raises((EvaluationError, StatusError), match=message) as raised:
        evaluate_operator(name, attrs, inputs)
    assert raised.value.where == f"operator {name}"


@pytest.mark.parametrize(
    ("name", "inputs", "status"),
    [
        ("Div", [np.asarray([2]), np.asarray([0])], Status.DIVISION_BY_ZERO),
        ("Pow", [np.asarray([2]), np.asarray([-1])], Status.NEGATIVE_EXPONENT),
        ("Gather", [F, np.asarray([2])], Status.INDEX_OUT_OF_RANGE),
    ],
)
def test_values_without_a_result_are_what_kernels_report_in_their_status(
    name: str, inputs: list[Any], status: Status
) -> None:
    with pytest.raises(StatusError) as raised:
        evaluate_operator(name, {}, inputs)
    assert raised.value.status is status
    assert isinstance(raised.value, ArithmeticError)


def _any_array(random: np.random.Generator, dtype: DType, is_index: bool, like: Any) -> Any:
    shape = (
        like.shape if like is not None and random.random() < 0.7 else random.choice([0, 1, 2, 3], random.integers(4))
    )
    if is_index:
        shape = random.choice([0, 1, 2, 3], random.integers(2))
    values = random.choice([-3, -2, -1, 0, 1, 2, 3, 4, 100], shape).astype(np.float64)
    if dtype.is_float:
        values = np.where(random.random(shape) < 0.1, random.choice([np.nan, np.inf, -np.inf], shape), values)
    return values.astype(numpy_dtype(dtype)) if dtype.is_float else values.astype(np.int64).astype(numpy_dtype(dtype))


def _any_attr(random: np.random.Generator, kind: AttrKind) -> AttrValue | None:
    match kind:
        case AttrKind.BOOL:
            return bool(random.random() < 0.5)
        case AttrKind.INT:
            return int(random.integers(-2, 4))
        case AttrKind.INTS:
            return tuple(int(i) for i in random.integers(-2, 3, random.integers(4)))
        case AttrKind.FLOAT:
            return float(random.choice([0.0, 1.0, -1.5, 0.5]))
        case _:
            return None


@pytest.mark.parametrize("op", [op for op in all_operators() if op.has(Flag.VECTOR)], ids=lambda op: op.name)
def test_whatever_arrays_come_there_is_a_result_or_this_error(op: Operator) -> None:
    random = np.random.default_rng(len(op.name))
    for _ in range(15):
        attrs = {s.name: _any_attr(random, s.kind) for s in op.attrs if s.required or random.random() < 0.4}
        inputs: list[Any] = []
        for param in op.inputs:
            types = [t for t in param.types if not t.is_opaque]
            dtype = types[random.integers(len(types))]
            if inputs and dtype_of(inputs[0]) in types:
                dtype = dtype_of(inputs[0])
            is_index = all(t.is_integer for t in types)
            inputs += [
                _any_array(random, dtype, is_index, inputs[0] if inputs else None)
                for _ in range(2 if param.kind is ParamKind.DYNAMIC else 1)
            ]
        with contextlib.suppress(AutofuseError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluate_operator(op.name, {k: v for k, v in attrs.items() if v is not None}, inputs)


def test_a_wrong_number_of_arrays_is_refused() -> None:
    with pytest.raises(EvaluationError, match="1 arrays for 2 inputs"):
        evaluate_operator(Node("n", "Add", ("a", "b"), ("y",)), None, [F])
