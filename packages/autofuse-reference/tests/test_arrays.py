"""Arrays, element types and constants convert into each other without loss."""

import sys

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import dtype_of, numpy_dtype, to_array, to_tensor_data
from autofuse_reference.errors import EvaluationError


@pytest.mark.parametrize("dtype", dt.TENSOR_DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3)])
def test_constants_and_arrays_are_inverse(dtype: DType, shape: tuple[int, ...]) -> None:
    array = (np.arange(int(np.prod(shape))).reshape(shape) % 2).astype(numpy_dtype(dtype))
    data = to_tensor_data(array)
    assert (data.dtype, data.shape) == (dtype, shape)
    back = to_array(data)
    assert dtype_of(back) == dtype
    assert back.shape == shape
    assert np.array_equal(back, array)
    assert to_tensor_data(back) == data


def test_strided_arrays_become_row_major_constants() -> None:
    array = np.arange(12, dtype=np.int16).reshape(3, 4)[:, ::-2].T
    assert to_array(to_tensor_data(array)).tolist() == array.tolist()


def test_constants_are_little_endian_and_read_only() -> None:
    array = to_array(TensorData(dt.int32, (2,), bytes([1, 0, 0, 0, 0, 1, 0, 0])))
    assert array.tolist() == [1, 256]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 3


def test_strings_and_objects_are_opaque_and_complex_numbers_refused() -> None:
    assert dtype_of(np.asarray(["a"])) == dt.opaque
    assert dtype_of(np.asarray([{}])) == dt.opaque
    with pytest.raises(EvaluationError, match="complex64"):
        dtype_of(np.zeros(1, np.complex64))


def test_a_missing_ml_dtypes_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(EvaluationError, match=r"autofuse-reference\[bfloat16\]"):
        numpy_dtype(dt.bfloat16)
