"""What has no answer is refused with a message that says why, never answered with something else."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import AttrValue, Node
from autofuse_reference.errors import EvaluationError
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
    ("Pow", {}, [np.asarray([2]), np.asarray([-1])], "negative exponent"),
    ("Div", {}, [np.asarray([2]), np.asarray([0])], "integer division by zero"),
)


@pytest.mark.parametrize(
    ("name", "attrs", "inputs", "message"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)]
)
def test_wrong_calls_are_refused(name: str, attrs: dict[str, AttrValue], inputs: list[Any], message: str) -> None:
    with pytest.raises(EvaluationError, match=message) as raised:
        evaluate_operator(name, attrs, inputs)
    assert raised.value.where == f"operator {name}"


def test_a_wrong_number_of_arrays_is_refused() -> None:
    with pytest.raises(EvaluationError, match="1 arrays for 2 inputs"):
        evaluate_operator(Node("n", "Add", ("a", "b"), ("y",)), None, [F])
