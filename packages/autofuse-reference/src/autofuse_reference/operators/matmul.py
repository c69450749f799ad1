"""The meaning of matrix multiplications."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.activation import scalar
from autofuse_reference.operators.call import Call, Function, Meaning
from autofuse_reference.operators.quantise import cast_quantised


def _product(a: Array, b: Array, bias: Array | None) -> Array:
    product = np.matmul(a, b)
    return np.asarray(product if bias is None else product + bias)


def _transposed(x: Array, flag: bool) -> Array:
    return np.swapaxes(x, -1, -2) if flag else x


def _matmul(first: str, second: str) -> Function:
    def apply(call: Call) -> Array:
        a = _transposed(call.array("x1"), call.flag(first))
        b = _transposed(call.array("x2"), call.flag(second))
        return _product(a, b, call.optional("bias") if call.op.input("bias") else None)

    return apply


def _gemm(call: Call) -> Array:
    a, b, c = _transposed(call.array("A"), call.flag("transA")), call.array("B"), call.optional("C")
    product = np.matmul(a, _transposed(b, call.flag("transB")))
    if call.number("alpha") != 1.0:
        product = (product * scalar(product, call.number("alpha"))).astype(product.dtype)
    if c is None:
        return np.asarray(product)
    return np.asarray(product + (c if call.number("beta") == 1.0 else (c * scalar(c, call.number("beta")))))


def centred(call: Call, values: str, zero_point: str, axis: int | None = None) -> Array:
    """Return quantised input ``values`` minus its zero point (a scalar, or one per index of ``axis``), as int32."""
    x, zero = call.array(values).astype(np.int32), call.optional(zero_point)
    if zero is None:
        return x
    offset = zero.astype(np.int32)
    if offset.ndim == 1 and offset.size > 1 and axis is not None:
        offset = offset.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    return np.asarray(x - (offset.reshape(()) if offset.size == 1 else offset))


def _matmul_integer(call: Call) -> Array:
    return np.asarray(np.matmul(centred(call, "A", "a_zero_point", -2), centred(call, "B", "b_zero_point", -1)))


def _qlinear_matmul(call: Call) -> Array:
    product = np.matmul(centred(call, "a", "a_zero_point", -2), centred(call, "b", "b_zero_point", -1))
    scale = call.array("a_scale") * call.array("b_scale") / call.array("y_scale")
    return cast_quantised(product.astype(scale.dtype) * scale, call.array("y_zero_point"))


def _einsum(call: Call) -> Array:
    arrays = call.tensors("x")
    result = np.einsum(call.text("equation").replace(" ", ""), *arrays)
    return np.asarray(result, arrays[0].dtype)


MEANINGS: tuple[Meaning, ...] = (
    Meaning("MatMul", _matmul("transpose_x1", "transpose_x2")),
    Meaning("MatMulV2", _matmul("transpose_x1", "transpose_x2")),
    Meaning("MatMulV3", _matmul("transpose_x1", "transpose_x2")),
    Meaning("BatchMatMul", _matmul("adj_x1", "adj_x2")),
    Meaning("BatchMatMulV2", _matmul("adj_x1", "adj_x2")),
    Meaning("BatchMatMulV3", _matmul("adj_x1", "adj_x2")),
    Meaning("Einsum", _einsum),
    Meaning("Gemm", _gemm),
    Meaning("MatMulInteger", _matmul_integer),
    Meaning("QLinearMatMul", _qlinear_matmul),
)
