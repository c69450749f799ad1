"""Operators whose inputs have shapes of their own: biases, scales, halves that are multiplied, rotations."""

from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype

from autofuse_testkit.operator_matrix.call import Array, Call, Shape, Sizes
from autofuse_testkit.operator_matrix.form import Form


def _powers_of_two(rng: np.random.Generator, shape: Shape, dtype: DType, sizes: Sizes) -> Array:
    """Scales that divide without rounding: a quotient between two integers has no neighbour to fall to."""
    return np.asarray(2.0 ** rng.integers(-3, 3, shape)).astype(numpy_dtype(dtype))


def _bias(b: Call) -> tuple[str, ...]:
    channels_first = b.turn % 2 == 1 and b.rank > 2
    bias = b.x(b.dims[1 if channels_first else -1])
    return b.call(b.whole(), bias, data_format="NCHW" if channels_first else "NHWC")


def _select(b: Call) -> tuple[str, ...]:
    shape = b.dims[:1] if b.turn % 2 else b.dims
    return b.call(b.x(*shape, dtype=dt.bool_), b.whole(), b.whole())


def _half_twice(b: Call) -> tuple[str, ...]:
    axis = b.axis()
    return b.call(b.x(*b.with_dim(axis, f"2*{b.dims[axis]}")), dim=axis)


def _rotary(b: Call) -> tuple[str, ...]:
    last = f"2*{b.dims[-1]}"
    tables: Any = (*b.dims[1:-1], last)
    return b.call(b.x(*b.dims[:-1], last), b.x(*tables), b.x(*tables), mode=b.turn % 2)


def _rotary_of_heads(b: Call) -> tuple[str, ...]:
    batch, heads, steps, width = b.dims
    tables = (batch, steps, width)
    x = b.x(batch, heads, steps, f"2*{width}")
    return b.call(x, b.x(*tables), b.x(*tables), interleaved=b.turn % 2)


def _quantised(b: Call) -> tuple[str, ...]:
    """A scale for everything, or in turns for each channel."""
    shape = (b.dims[1],) if b.turn % 2 and b.rank > 1 else ()
    scale = b.x(*shape, dtype=b.dtype if b.dtype.is_float else dt.float32, content=_powers_of_two)
    if b.operator.name == "DequantizeLinear":
        return b.call(b.whole(), scale, b.x(*shape), axis=1)
    kind = (dt.int8, dt.uint8, dt.int16, dt.uint16)[b.turn % 4]
    return b.call(b.whole(), scale, b.x(*shape, dtype=kind), axis=1)


FORMS: dict[str, Form] = {
    "BiasAdd": Form(_bias, 2, 5),
    "Select": Form(_select, 1),
    "GLU": Form(_half_twice, 1),
    "SwiGlu": Form(_half_twice, 1),
    "RotaryPositionEmbedding": Form(_rotary, 1),
    "RotaryEmbedding": Form(_rotary_of_heads, 4, 4),
    "QuantizeLinear": Form(_quantised),
    "DequantizeLinear": Form(_quantised),
    "DynamicQuantizeLinear": Form(lambda b: b.call(b.whole(), outputs=3)),
}
