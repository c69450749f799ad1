"""Quantisation to integers, rounded half to even and saturated, and back."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import dtype_of_ascend_code
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, input_names, operator

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul, sub, times
from autofuse_fusion.lower.decompositions.reduce import input_shape
from autofuse_fusion.lower.space import Lies, Space, as_int, axes_attr, one_each, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values

_ROUNDINGS = ("Round", "Floor", "Ceil", "Trunc")
"""Values of ``round_mode``: each is the AscIR operator of its name."""


def _spread_space(node: Node, values: Values) -> Space | None:
    """Return the space of an operator with one scale and zero point, one per place on an axis, or one per block.

    None where the blocks cannot be proved to fill the axis.
    """
    shape = input_shape(node, values)
    names = input_names(operator(node.op), len(node.inputs))
    spread = {name: values.shape(value) for name, value in zip(names[1:], node.inputs[1:], strict=True) if value}
    block = as_int(attr_of(node, "block_size"))
    if block is None:
        return None
    if all(len(own) == 0 or _is_one(own, values) for own in spread.values()):
        return space(node, values, shape, lies={name: ((),) * len(own) for name, own in spread.items()})
    axes = axes_attr(node, "axis", len(shape))
    if axes is None:
        return None
    (axis,) = axes
    if block == 0:
        per_axis = {name: _on_axis(own, axis, values) for name, own in spread.items()}
        return space(node, values, shape, lies=per_axis)
    return _blocks(node, values, shape, axis, block, spread)


def _is_one(own: tuple[Dim, ...], values: Values) -> bool:
    return all(values.sizes.is_one(size) for size in own)


def _on_axis(own: tuple[Dim, ...], axis: int, values: Values) -> Lies:
    return ((),) * len(own) if _is_one(own, values) else ((axis,),)


def _blocks(
    node: Node, values: Values, shape: tuple[Dim, ...], axis: int, block: int, spread: dict[str, tuple[Dim, ...]]
) -> Space | None:
    """Return the space in which ``axis`` is cut into blocks."""
    count = next(own for own in spread.values() if len(own) == len(shape))[axis]
    if not values.sizes.equal(count * const(block), shape[axis]):
        return None
    rank = len(shape)
    dims: Lies = tuple((k,) if k < axis else (k, k + 1) if k == axis else (k + 1,) for k in range(rank))
    lies: dict[str, Lies] = {name: one_each(k if k <= axis else k + 1 for k in range(rank)) for name in spread}
    cut = (*shape[:axis], count, const(block), *shape[axis + 1 :])
    return space(node, values, cut, lies={**lies, "x": dims, "-> y": dims})


def _ascend_quant(call: Call) -> Tensor:
    x = call.tensor("x")
    scaled = times(call, x, call.number("scale"))
    scaled = times(call, scaled, call.number("scale")) if call.flag("sqrt_mode") else scaled
    rounded = add(call, scaled, call.scalar(call.number("offset"), x))
    return call.cast(call.apply(str(call.attr("round_mode")), rounded), call.result)


def _quantize(call: Call) -> Tensor:
    x, scale, zero = call.tensor("x"), call.tensor("y_scale"), call.optional("y_zero_point")
    # The quotient of integers is a double; floats divide in the dtype of x.
    dtype = x.dtype if x.dtype.is_float else dt.float64
    rounded = call.apply("Round", call.apply("Div", call.cast(x, dtype), call.cast(scale, dtype)))
    if zero is not None:
        # Exact as far as it is not saturated: integers of at most 17 or 33 bits.
        exact = rounded.dtype if call.result.bits <= 16 else dt.float64
        rounded = add(call, call.cast(rounded, exact), call.cast(zero, exact))
    return call.cast(rounded, call.result)


def _dequantize(call: Call) -> Tensor:
    x, scale, zero = call.tensor("x"), call.tensor("x_scale"), call.optional("x_zero_point")
    if zero is not None:
        exact = dt.int32 if x.dtype.bits <= 16 else dt.int64
        x = sub(call, call.cast(x, exact), call.cast(zero, exact))
    return mul(call, call.cast(x, scale.dtype), scale)


def _dynamic_quantize(call: Call) -> tuple[Tensor, ...]:
    x = call.tensor("x")
    zero, most = call.scalar(0, x), call.scalar(255, x)
    high = call.apply("Maximum", call.reduce("Max", x), zero)
    low = call.apply("Minimum", call.reduce("Min", x), zero)
    scale = call.apply("Div", sub(call, high, low), most)
    point = call.apply("Round", call.apply("Div", call.apply("Neg", low), scale))
    point = call.apply("Minimum", call.apply("Maximum", point, zero), most)
    flat = call.apply("Eq", scale, zero)
    nothing = call.writer.scalar(0, dt.uint8)
    y = call.cast(add(call, call.apply("Round", call.apply("Div", x, scale)), point), dt.uint8)
    return call.select(flat, nothing, y), scale, call.select(flat, nothing, call.cast(point, dt.uint8))


def _dynamic_space(node: Node, values: Values) -> Space:
    shape = input_shape(node, values)
    return space(node, values, shape, tuple(range(len(shape))), {"-> y_scale": (), "-> y_zero_point": ()})


LOWERINGS: tuple[Lowering, ...] = (
    Lowering(
        "AscendQuant",
        _ascend_quant,
        accepts=lambda node: (
            str(attr_of(node, "round_mode")) in _ROUNDINGS
            and dtype_of_ascend_code(as_int(attr_of(node, "dst_type")) or 0) is not None
        ),
    ),
    Lowering("QuantizeLinear", _quantize, space=_spread_space),
    Lowering("DequantizeLinear", _dequantize, space=_spread_space),
    Lowering("DynamicQuantizeLinear", _dynamic_quantize, space=_dynamic_space),
)
