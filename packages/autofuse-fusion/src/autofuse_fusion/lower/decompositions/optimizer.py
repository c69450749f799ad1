"""Assignments and optimizer steps."""

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul, one_minus, quotient, sub
from autofuse_fusion.lower.writer import Tensor


def _gradient_descent(call: Call) -> Tensor:
    return sub(call, call.tensor("var"), mul(call, call.tensor("alpha"), call.tensor("delta")))


def _adagrad(call: Call) -> tuple[Tensor, ...]:
    grad, accum = call.tensor("grad"), call.tensor("accum")
    if call.flag("update_slots"):
        accum = add(call, accum, mul(call, grad, grad))
    step = quotient(call, mul(call, call.tensor("lr"), grad), call.apply("Sqrt", accum))
    return sub(call, call.tensor("var"), step), accum


def _adam(call: Call) -> tuple[Tensor, ...]:
    """One step of Adam (Kingma and Ba, 2015) with bias correction in the learning rate."""
    grad, beta1, beta2 = call.tensor("grad"), call.tensor("beta1"), call.tensor("beta2")
    m, v = call.tensor("m"), call.tensor("v")
    m = add(call, m, mul(call, one_minus(call, beta1), sub(call, grad, m)))
    v = add(call, v, mul(call, one_minus(call, beta2), sub(call, mul(call, grad, grad), v)))
    corrected = mul(call, call.tensor("lr"), call.apply("Sqrt", one_minus(call, call.tensor("beta2_power"))))
    rate = quotient(call, corrected, one_minus(call, call.tensor("beta1_power")))
    direction = m
    if call.flag("use_nesterov"):
        direction = add(call, mul(call, m, beta1), mul(call, one_minus(call, beta1), grad))
    step = quotient(call, mul(call, rate, direction), add(call, call.tensor("epsilon"), call.apply("Sqrt", v)))
    return sub(call, call.tensor("var"), step), m, v


LOWERINGS: tuple[Lowering, ...] = (
    Lowering("Assign", lambda call: call.tensor("value"), moves=True, unread=("ref",)),
    Lowering("AssignAdd", lambda call: add(call, call.tensor("ref"), call.tensor("value"))),
    Lowering("ApplyGradientDescent", _gradient_descent),
    Lowering("ApplyAdagradD", _adagrad),
    Lowering("ApplyAdamD", _adam),
)
