"""Quantisation to integers and back."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.QUANTISE

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE, Flag.ELEMENTWISE, Flag.DISCONTINUOUS),
        "AscendQuant[T: float](x: T; scale: float, offset: float, sqrt_mode: bool = False, round_mode: str = 'Round',"
        " dst_type: int = 2) -> y: ascend(dst_type)"
        "  # round(x * scale + offset), saturated; sqrt_mode multiplies by scale twice",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE, Flag.DISCONTINUOUS, Flag.EXTENSION),
        "QuantizeLinear[T: float|int32, U: float|int32, Q: integer](x: T, y_scale: U, y_zero_point?: Q; axis: int = 1,"
        " block_size: int = 0, saturate: bool = True, output_dtype: int = 0, precision: int = 0)"
        " -> y: y_zero_point | onnx(output_dtype) | uint8  # saturate(round(x / y_scale) + y_zero_point)",
        "DynamicQuantizeLinear(x: float32) -> y: uint8, y_scale: float32, y_zero_point: uint8",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.COMPOSITE, Flag.EXTENSION),
        "DequantizeLinear[Q: integer, U: float](x: Q, x_scale: U, x_zero_point?: Q; axis: int = 1,"
        " block_size: int = 0, output_dtype: int = 0) -> y: onnx(output_dtype) | U  # (x - x_zero_point) * x_scale",
    ),
)
