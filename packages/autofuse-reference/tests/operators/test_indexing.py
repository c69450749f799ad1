"""Gathers, scatters, segments, slices with masks and padding, against plain loops and NumPy indexing."""

import numpy as np
import pytest
from autofuse_ir.graph import AttrValue
from autofuse_reference.arrays import Array
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.operators import evaluate_operator

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
AXIS = {axis: np.asarray(axis) for axis in range(3)}


def test_gathers_take_rows_of_any_axis_and_of_batches() -> None:
    index = np.asarray([[2, 0], [1, 1]])
    assert np.array_equal(evaluate_operator("GatherV2", {}, [X, index, AXIS[1]])[0], X[:, index])
    assert np.array_equal(evaluate_operator("Gather", {}, [X, np.asarray(1)])[0], X[1])
    batched = evaluate_operator("GatherV2", {"batch_dims": 1}, [X, index, AXIS[2]])[0]
    assert np.array_equal(batched, np.stack([X[b][:, index[b]] for b in range(2)]))
    empty = evaluate_operator("GatherV2", {}, [X, np.zeros((0,), np.int64), AXIS[1]])[0]
    assert empty.shape == (2, 0, 4)


@pytest.mark.parametrize("index", [3, -1])
def test_an_index_out_of_range_is_an_error_that_names_it(index: int) -> None:
    with pytest.raises(StatusError, match=rf"(?s)GatherV2.*index {index} is outside of a dim of size 3"):
        evaluate_operator("GatherV2", {}, [X, np.asarray([index]), AXIS[1]])


@pytest.mark.parametrize("attrs", [{}, {"batch_dims": 1}], ids=["no batches", "batches"])
def test_an_index_picks_nothing_from_rows_of_nothing(attrs: dict[str, AttrValue]) -> None:
    """No element of the result is wrong, so nothing is."""
    rows = np.zeros((2, 3, 0), np.float32)
    wrong = np.full((2, 4), 9)
    assert evaluate_operator("GatherV2", attrs, [rows, wrong, AXIS[1]])[0].size == 0
    assert evaluate_operator("GatherNd", {}, [rows, wrong[:, :1]])[0].shape == (2, 3, 0)


def test_negative_indices_count_from_the_end_where_they_are_allowed() -> None:
    attrs = {"negative_index_support": True}
    assert np.array_equal(evaluate_operator("GatherV2", attrs, [X, np.asarray([-1, 0]), AXIS[2]])[0], X[..., [-1, 0]])
    with pytest.raises(StatusError, match="index -5"):
        evaluate_operator("GatherV2", attrs, [X, np.asarray([-5]), AXIS[2]])


def test_advanced_indexing_keeps_or_moves_dims_as_numpy_does() -> None:
    i, j = np.asarray([1, 0]), np.asarray([2, 3])
    strides = np.zeros(3, np.int64)
    adjacent = evaluate_operator("Index", {}, [X, np.asarray([1, 1, 0]), strides, i, j - 1])[0]
    assert np.array_equal(adjacent, X[i, j - 1])
    apart = evaluate_operator("Index", {}, [X, np.asarray([1, 0, 1]), strides, i, j])[0]
    assert np.array_equal(apart, X[i, :, j])


def test_scatters_update_a_copy() -> None:
    var, index, updates = np.zeros((3, 2), np.float32), np.asarray([[1], [1]]), np.ones((2, 2), np.float32)
    assert evaluate_operator("ScatterNdAdd", {}, [var, index, updates])[0].tolist() == [[0, 0], [2, 2], [0, 0]]
    assert evaluate_operator("ScatterNdUpdate", {}, [var, index, updates])[0].tolist() == [[0, 0], [1, 1], [0, 0]]
    assert evaluate_operator("ScatterNdMin", {}, [var + 2, index, updates])[0].tolist() == [[2, 2], [1, 1], [2, 2]]
    assert evaluate_operator("ScatterAdd", {}, [var, np.asarray([2, 2]), updates])[0].tolist() == [
        [0, 0],
        [0, 0],
        [2, 2],
    ]
    added = evaluate_operator(
        "InplaceIndexAdd", {"axis": 1}, [var, np.asarray([1, 1]), np.ones((3, 2), np.float32), np.asarray(3.0)]
    )
    assert added[0].tolist() == [[0, 6]] * 3
    assert not var.any()


def test_segments_reduce_rows_and_empty_ones_give_the_identity() -> None:
    x, ids, count = np.asarray([[1, 5], [2, 4], [9, 9]], np.int8), np.asarray([2, 2, -1]), np.asarray(3)
    assert evaluate_operator("UnsortedSegmentSum", {}, [x, ids, count])[0].tolist() == [[0, 0], [0, 0], [3, 9]]
    assert evaluate_operator("UnsortedSegmentMax", {}, [x, ids, count])[0].tolist() == [[-128] * 2] * 2 + [[2, 5]]
    assert evaluate_operator("UnsortedSegmentMin", {}, [x, ids, count])[0].tolist() == [[127] * 2] * 2 + [[1, 4]]


def test_stitching_and_dense_forms_place_values() -> None:
    stitched = evaluate_operator(
        "DynamicStitch", {"N": 2}, [np.asarray([2, 0], np.int32), np.asarray([1], np.int32), X[0, :2], X[0, 2:]]
    )
    assert np.array_equal(stitched[0], X[0, [1, 2, 0]])
    dense = evaluate_operator(
        "SparseToDense", {}, [np.asarray([1, 3]), np.asarray([5]), np.asarray([7, 8]), np.asarray(-1)]
    )
    assert dense[0].tolist() == [-1, 7, -1, 8, -1]


def test_view_copy_moves_between_strided_views() -> None:
    dst, src = np.zeros(8, np.int16), np.arange(8, dtype=np.int16)
    operands = [np.asarray(v) for v in ([2, 2], [4, 1], [1])], [np.asarray(v) for v in ([2, 2], [1, 2], [0])]
    (result,) = evaluate_operator("ViewCopy", {}, [dst, *operands[0], src, *operands[1]])
    assert result.tolist() == [0, 0, 2, 0, 0, 1, 3, 0]


def test_sorting_is_stable_in_both_directions() -> None:
    x = np.asarray([2, 1, 2, 1, 3], np.int32)
    values, index = evaluate_operator("TopKV2", {}, [x, np.asarray(3)])
    assert (values.tolist(), index.tolist()) == ([3, 2, 2], [4, 0, 2])
    assert index.dtype == np.int32
    values, index = evaluate_operator("Sort", {}, [x])
    assert (values.tolist(), index.tolist()) == ([1, 1, 2, 2, 3], [1, 3, 0, 2, 4])


def test_bisection_counts_smaller_or_not_larger_elements() -> None:
    edges = np.asarray([1.0, 3.0, 5.0])
    values = np.asarray([0.0, 3.0, 6.0])
    assert evaluate_operator("SearchSorted", {}, [edges, values])[0].tolist() == [0, 1, 3]
    assert evaluate_operator("SearchSorted", {"right": True}, [edges, values])[0].tolist() == [0, 2, 3]
    assert evaluate_operator("Bucketize", {"boundaries": (1.0, 3.0), "right": False}, [values])[0].tolist() == [0, 1, 2]


def test_matrices_from_diagonals() -> None:
    operands = [np.asarray(v, np.int32) for v in (0, -1, -1)]
    (square,) = evaluate_operator("MatrixDiagV2", {}, [np.asarray([[1, 2], [3, 4]]), *operands, np.asarray(9)])
    assert square.tolist() == [[[1, 9], [9, 2]], [[3, 9], [9, 4]]]
    band = [np.asarray(v, np.int32) for v in ([-1, 1], 3, 3)]
    rows = np.asarray([[4, 5, 0], [1, 2, 3], [6, 7, 0]])
    (banded,) = evaluate_operator("MatrixDiagV2", {}, [rows, *band, np.asarray(0)])
    assert banded.tolist() == [[1, 4, 0], [6, 2, 5], [0, 7, 3]]
    tensor = np.arange(16).reshape(2, 2, 2, 2)
    (diagonal,) = evaluate_operator("DiagPartD", {}, [tensor, tensor])
    assert diagonal.tolist() == [[0, 5], [10, 15]]


@pytest.mark.parametrize(
    ("masks", "want"),
    [
        ({"begin_mask": 1}, X[:1, 1:3, ::2]),
        ({"end_mask": 1}, X[0:, 1:3, ::2]),
        ({"shrink_axis_mask": 2}, X[0:1, 1, ::2]),
        ({"new_axis_mask": 1}, X[None, 1:3, ::2]),
        ({"ellipsis_mask": 1}, X[..., 1:3, ::2]),
        ({"ellipsis_mask": 1, "shrink_axis_mask": 3, "new_axis_mask": 3}, X[..., None, ::2]),
    ],
)
def test_masks_of_strided_slices_have_tensorflows_meaning(masks: dict[str, int], want: Array) -> None:
    begin, end, strides = (0, 1, 0), (1, 3, 4), (1, 1, 2)
    (by_attr,) = evaluate_operator("StridedSliceD", {"begin": begin, "end": end, "strides": strides, **masks}, [X])
    assert np.array_equal(by_attr, want)
    operands = [np.asarray(v) for v in (begin, end, strides)]
    assert np.array_equal(evaluate_operator("StridedSlice", masks, [X, *operands])[0], want)


def test_slices_reach_to_the_end_and_refuse_what_is_outside() -> None:
    assert np.array_equal(
        evaluate_operator("SliceD", {"offsets": (0, 1, 2), "size": (1, -1, 2)}, [X])[0], X[:1, 1:, 2:4]
    )
    with pytest.raises(EvaluationError, match="do not fit shape"):
        evaluate_operator("SliceD", {"offsets": (0, 1, 2), "size": (1, 3, 2)}, [X])


def test_splits_infer_one_size_and_refuse_wrong_ones() -> None:
    pieces = evaluate_operator("SplitVD", {"size_splits": (1, -1), "split_dim": 2, "num_split": 2}, [X])
    assert [p.shape for p in pieces] == [(2, 3, 1), (2, 3, 3)]
    with pytest.raises(EvaluationError, match="no 2 equal pieces"):
        evaluate_operator("SplitD", {"split_dim": 1, "num_split": 2}, [X])
    with pytest.raises(EvaluationError, match="do not make up dim"):
        evaluate_operator("SplitVD", {"size_splits": (1, 1), "split_dim": 2, "num_split": 2}, [X])


@pytest.mark.parametrize(("mode", "numpy_mode"), [("reflect", "reflect"), ("edge", "edge"), ("circular", "wrap")])
def test_padding_modes_are_numpys(mode: str, numpy_mode: str) -> None:
    pads = np.asarray([[0, 0], [1, 2], [2, 0]])
    (y,) = evaluate_operator("PadV3", {"mode": mode}, [X, pads])
    assert np.array_equal(y, np.pad(X, pads, numpy_mode))  # type: ignore[call-overload]


def test_negative_padding_crops_before_it_pads() -> None:
    (y,) = evaluate_operator("PadV3", {}, [X, np.asarray([[0, 0], [-1, 1], [1, -2]]), np.asarray(7, np.int32)])
    want = np.pad(X[:, 1:, :2], [(0, 0), (0, 1), (1, 0)], constant_values=7)
    assert np.array_equal(y, want)
    assert np.array_equal(evaluate_operator("PadD", {"paddings": ((1, 0), (0, 0), (0, 0))}, [X])[0][1:], X)
