"""The meaning of quantisation: results are rounded half to even and saturated in both precisions."""

import numpy as np
from autofuse_ir.dtypes import DType, dtype_of_ascend_code, dtype_of_onnx_code, uint8

from autofuse_reference.arrays import Array, dtype_of
from autofuse_reference.operators.axes import normalised
from autofuse_reference.operators.call import Call, Meaning
from autofuse_reference.operators.precision import cast

_ROUNDINGS = {"Round": np.rint, "Floor": np.floor, "Ceil": np.ceil, "Trunc": np.trunc}


def _ascend_quant(call: Call) -> Array:
    x, scale = call.array("x"), call.number("scale")
    target = dtype_of_ascend_code(call.integer("dst_type"))
    mode = call.text("round_mode")
    if target is None or mode not in _ROUNDINGS:
        call.fail(f"dst_type is {call.integer('dst_type')} and round_mode {mode!r}", f"use {', '.join(_ROUNDINGS)}")
    scaled = x * x.dtype.type(scale)
    scaled = scaled * x.dtype.type(scale) if call.flag("sqrt_mode") else scaled
    return cast(np.asarray(_ROUNDINGS[mode](scaled + x.dtype.type(call.number("offset")))), target)


def cast_quantised(scaled: Array, zero_point: Array) -> Array:
    """Return round(scaled) + zero_point, saturated to the dtype of ``zero_point``."""
    shifted = np.rint(scaled).astype(np.float64) + zero_point
    return cast(np.asarray(shifted), dtype_of(zero_point))


def _spread(call: Call, x: Array, values: Array) -> Array:
    """Return per-tensor, per-axis or per-block ``values`` shaped to broadcast to ``x``."""
    if values.size == 1:
        return values.reshape(())
    (axis,) = normalised(call, (call.integer("axis"),), x.ndim)
    block = call.integer("block_size")
    if block:
        repeated = np.repeat(values, block, axis)
        return np.take(repeated, range(x.shape[axis]), axis)
    return values.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def _target(call: Call) -> DType:
    zero = call.dtypes.get("y_zero_point")
    return zero or dtype_of_onnx_code(call.integer("output_dtype")) or uint8


def _quantize(call: Call) -> Array:
    x, scale, zero = call.array("x"), call.array("y_scale"), call.optional("y_zero_point")
    rounded = np.rint(x / _spread(call, x, scale).astype(x.dtype if x.dtype.kind == "f" else scale.dtype))
    if zero is not None:
        # Exact: a rounded quotient in the reach of saturation and a zero point are integers of at most 33 bits.
        rounded = rounded.astype(np.float64) + _spread(call, x, zero)
    return cast(np.asarray(rounded), _target(call))


def _dequantize(call: Call) -> Array:
    x, scale, zero = call.array("x"), call.array("x_scale"), call.optional("x_zero_point")
    shifted = x.astype(np.int64)
    shifted = shifted if zero is None else shifted - _spread(call, x, zero).astype(np.int64)
    return np.asarray(shifted.astype(scale.dtype) * _spread(call, x, scale))


def _dynamic_quantize(call: Call) -> tuple[Array, Array, Array]:
    x = call.array("x")
    zero = x.dtype.type(0)
    high, low = np.max(x, initial=zero), np.min(x, initial=zero)
    scale = np.asarray((high - low) / x.dtype.type(255))
    if scale == 0:
        return np.zeros(x.shape, np.uint8), scale, np.asarray(0, np.uint8)
    point = np.clip(np.rint(-low / scale), 0, 255)
    return cast(np.asarray(np.rint(x / scale) + point), uint8), scale, cast(np.asarray(point), uint8)


MEANINGS: tuple[Meaning, ...] = (
    Meaning("AscendQuant", _ascend_quant),
    Meaning("QuantizeLinear", _quantize),
    Meaning("DynamicQuantizeLinear", _dynamic_quantize),
    Meaning("DequantizeLinear", _dequantize),
)
