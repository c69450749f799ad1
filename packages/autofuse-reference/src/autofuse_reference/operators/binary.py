"""The meaning of broadcast arithmetic."""

from functools import reduce

import numpy as np
from autofuse_ir.operators import promote

from autofuse_reference.arrays import Array
from autofuse_reference.operators import integer_math
from autofuse_reference.operators.call import Call, Meaning, binary
from autofuse_reference.operators.extremes import maximum, minimum
from autofuse_reference.operators.precision import cast, internal_dtype


def _promoted(call: Call) -> tuple[Array, Array]:
    """Return x1 and x2 in the dtype in which their promotion is computed."""
    dtype = internal_dtype(promote(call.dtypes["x1"], call.dtypes["x2"]), call.precision)
    return cast(call.array("x1"), dtype), cast(call.array("x2"), dtype)


def _mul(call: Call) -> Array:
    x1, x2 = _promoted(call)
    return np.asarray(x1 * x2)


def _pow(call: Call) -> Array:
    return integer_math.power(*_promoted(call))


def _div_no_nan(x1: Array, x2: Array) -> Array:
    zero = x2 == 0
    return np.where(zero, x1.dtype.type(0), integer_math.divide(x1, np.where(zero, x2.dtype.type(1), x2)))


def _axpy(call: Call) -> Array:
    x1, x2 = call.array("x1"), call.array("x2")
    return np.asarray(x1 + np.asarray(call.number("alpha")).astype(x2.dtype) * x2)


def _add_n(call: Call) -> Array:
    return reduce(np.add, call.tensors("x"))


def _fused_mul_add(call: Call) -> Array:
    factor = call.array("x3")
    # one element in whatever rank gives the result no dims of its own
    return call.array("x1") * (factor.reshape(()) if factor.size == 1 else factor) + call.array("x2")


def _addcmul(call: Call) -> Array:
    return np.asarray(call.array("input_data") + call.array("value") * call.array("x1") * call.array("x2"))


def _addcdiv(call: Call) -> Array:
    return np.asarray(call.array("input_data") + call.array("value") * call.array("x1") / call.array("x2"))


def _lerp(call: Call) -> Array:
    return np.asarray(call.array("start") + call.array("weight") * (call.array("end") - call.array("start")))


def channel_axis(call: Call, rank: int) -> int:
    """Return the axis of the channels in the layout ``data_format``."""
    layout = call.text("data_format")
    if layout not in ("NHWC", "NDHWC", "NCHW", "NCDHW"):
        call.fail(f"data_format is {layout!r}", "use NHWC, NDHWC, NCHW or NCDHW")
    return rank - 1 if layout.endswith("C") or rank == 1 else 1


def _bias_add(call: Call) -> Array:
    x, bias = call.array("x"), call.array("bias")
    axis = channel_axis(call, x.ndim)
    return np.asarray(x + bias.reshape([-1 if i == axis else 1 for i in range(x.ndim)]))


def _clip_by_value(call: Call) -> Array:
    low, high = call.array("clip_value_min"), call.array("clip_value_max")
    return maximum(minimum(call.array("x"), high), low)


def _clip(call: Call) -> Array:
    x, low, high = call.array("x"), call.optional("min"), call.optional("max")
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def _select(call: Call) -> Array:
    condition, x1, x2 = call.array("condition"), call.array("x1"), call.array("x2")
    if condition.ndim == 1 and x1.ndim > 1:
        condition = condition.reshape(-1, *(1,) * (x1.ndim - 1))
    return np.where(condition, x1, x2)


def _select_v2(call: Call) -> Array:
    return np.where(call.array("condition"), call.array("then"), call.array("else"))


def _masked_fill(call: Call) -> Array:
    x = call.array("x")
    return np.where(call.array("mask"), call.array("value").astype(x.dtype), x)


def _hypot(x1: Array, x2: Array) -> Array:
    return np.asarray(np.hypot(x1, x2))


MEANINGS: tuple[Meaning, ...] = (
    binary("Add", np.add),
    binary("AddV2", np.add),
    Meaning("Mul", _mul),
    binary("Maximum", maximum),
    binary("Minimum", minimum),
    binary("Sub", np.subtract),
    binary("Div", integer_math.divide),
    binary("RealDiv", np.divide),
    binary("Atan2", np.arctan2),
    Meaning("Pow", _pow),
    binary("FloorDiv", integer_math.floor_divide),
    binary("TruncateDiv", integer_math.truncate_divide),
    binary("FloorMod", integer_math.floor_mod),
    binary("Mod", integer_math.truncate_mod),
    binary("TruncateMod", integer_math.truncate_mod),
    binary("SquaredDifference", lambda x1, x2: np.square(x1 - x2)),
    binary("Hypot", _hypot),
    binary("LogAddExp", np.logaddexp),
    binary("DivNoNan", _div_no_nan),
    Meaning("Axpy", _axpy),
    Meaning("AddN", _add_n),
    Meaning("FusedMulAddN", _fused_mul_add),
    Meaning("Addcmul", _addcmul),
    Meaning("Addcdiv", _addcdiv),
    Meaning("Lerp", _lerp),
    Meaning("BiasAdd", _bias_add),
    Meaning("ClipByValue", _clip_by_value),
    Meaning("Clip", _clip),
    Meaning("Select", _select, moves=True),
    Meaning("SelectV2", _select_v2, moves=True),
    Meaning("MaskedFill", _masked_fill, moves=True),
)
