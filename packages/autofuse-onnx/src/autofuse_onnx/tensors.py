"""ONNX tensors and attributes as constants and Python values."""

import sys
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt
import onnx
from autofuse_ir.dtypes import DType, dtype_named, dtype_of_onnx_code
from autofuse_ir.tensor_data import TensorData
from onnx import numpy_helper

from autofuse_onnx.errors import OnnxError
from autofuse_onnx.external_data import is_external, read_external

Array: TypeAlias = npt.NDArray[Any]

ELEMENTS_IN_FIELDS = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def numpy_dtype(dtype: DType) -> "np.dtype[Any]":
    """Return NumPy's dtype for a tensor dtype (bfloat16 is that of ml_dtypes)."""
    return np.dtype(ml_dtypes.bfloat16) if dtype.name == "bfloat16" else np.dtype(dtype.numpy_name)


def element_count(tensor: onnx.TensorProto) -> int:
    """Return how many elements the dims of ``tensor`` make; a negative dim, which no valid tensor has, counts as 0."""
    return prod(max(size, 0) for size in tensor.dims)


def tensor_data(tensor: onnx.TensorProto, folder: Path | None) -> TensorData | None:
    """Return the content of ``tensor``; None for element types that kernels cannot hold."""
    dtype = dtype_of_onnx_code(tensor.data_type)
    if dtype is None:
        return None
    shape = tuple(tensor.dims)
    where = f"tensor {tensor.name!r}"
    if any(size < 0 for size in shape):
        raise OnnxError(f"its shape {list(shape)} has a negative size", where=where, fix="export the model again")
    needed = prod(shape) * dtype.itemsize
    if is_external(tensor):
        return TensorData(dtype, shape, read_external(tensor, folder, needed))
    given = len(tensor.raw_data)
    if tensor.HasField("raw_data") and given == needed:
        return TensorData(dtype, shape, tensor.raw_data)
    elements = sum(len(getattr(tensor, name)) for name in ELEMENTS_IN_FIELDS)
    if tensor.HasField("raw_data") or elements != prod(shape):
        found = f"{given} bytes" if tensor.HasField("raw_data") else f"{elements} elements"
        raise OnnxError(
            f"its shape {list(shape)} needs {needed} bytes of {dtype.name}, but it holds {found}",
            where=where,
            fix="export the model again",
        )
    return to_tensor_data(numpy_helper.to_array(tensor))


def to_tensor_data(array: Array) -> TensorData:
    """Return ``array`` as a constant: row-major, little-endian."""
    content = np.ascontiguousarray(array)
    if sys.byteorder == "big" and content.dtype.itemsize > 1:
        content = content.byteswap()
    return TensorData(dtype_named(array.dtype.name), tuple(array.shape), content.tobytes())


def to_array(data: TensorData) -> Array:
    """Return the content of a constant as a read-only array."""
    stored = numpy_dtype(data.dtype)
    array = np.frombuffer(data.raw, dtype=np.uint8).view(stored).reshape(data.shape)
    if sys.byteorder == "big" and stored.itemsize > 1:
        array = array.byteswap()
        array.flags.writeable = False
    return array


def embedded(graph: onnx.GraphProto, folder: Path | None) -> None:
    """Read the external content of every tensor of ``graph`` and of its sub-graphs into it."""
    tensors = [*graph.initializer]
    for node in graph.node:
        for attribute in node.attribute:
            tensors.extend([attribute.t] if attribute.HasField("t") else [])
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                embedded(inner, folder)
    for tensor in tensors:
        if is_external(tensor):
            data = tensor_data(tensor, folder)
            if data is None:
                raise OnnxError("external data of this element type cannot be read", where=f"tensor {tensor.name!r}")
            tensor.raw_data = data.raw
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]
