"""The values of Scalar and IndexExpr nodes."""

from collections.abc import Mapping

import numpy as np
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType, int64

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.operators.precision import cast


def scalar_value(node: AscNode, sizes: Mapping[str, int]) -> Array:
    """Return the value of Scalar or IndexExpr ``node`` as a vector of one element; integers wrap."""
    if node.op == "IndexExpr":
        expression = node.attr("expression")
        assert isinstance(expression, Dim)
        return cast(np.array([evaluate(expression, sizes)], numpy_dtype(int64)), node.dtype)
    value = node.attr("value")
    assert isinstance(value, bool | int | float)
    return constant_value(value, node.dtype)


def constant_value(value: bool | int | float, dtype: DType) -> Array:
    """Return ``value`` as ``dtype`` in a vector of one element; integers wrap."""
    if dtype.is_integer:
        return np.array([int(value) & (2**dtype.bits - 1)], f"u{dtype.itemsize}").view(numpy_dtype(dtype))
    if isinstance(value, bool) or not dtype.is_float:
        return np.array([bool(value)]).astype(numpy_dtype(dtype))
    return cast(np.array([float(value)], np.float64), dtype)
