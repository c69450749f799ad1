"""The meaning of assignments and optimizer steps; the inputs are not changed, the outputs are their new values."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.call import Call, Meaning


def _assign(call: Call) -> Array:
    ref, value = call.array("ref"), call.array("value")
    if call.flag("validate_shape") and ref.shape != value.shape:
        call.fail(f"a value of shape {list(value.shape)} is assigned to shape {list(ref.shape)}")
    return value


def _adagrad(call: Call) -> tuple[Array, Array]:
    grad, accum = call.array("grad"), call.array("accum")
    accum = accum + grad * grad if call.flag("update_slots") else accum
    return np.asarray(call.array("var") - call.array("lr") * grad / np.sqrt(accum)), np.asarray(accum)


def _adam(call: Call) -> tuple[Array, Array, Array]:
    """One step of Adam (Kingma and Ba, 2015) with bias correction in the learning rate."""
    names = ("var", "m", "v", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad")
    var, m, v, power1, power2, lr, beta1, beta2, epsilon, grad = (call.array(name) for name in names)
    m = m + (1 - beta1) * (grad - m)
    v = v + (1 - beta2) * (grad * grad - v)
    rate = lr * np.sqrt(1 - power2) / (1 - power1)
    direction = m * beta1 + (1 - beta1) * grad if call.flag("use_nesterov") else m
    return np.asarray(var - rate * direction / (epsilon + np.sqrt(v))), np.asarray(m), np.asarray(v)


MEANINGS: tuple[Meaning, ...] = (
    Meaning("Assign", _assign, moves=True),
    Meaning("AssignAdd", lambda call: call.array("ref") + call.array("value")),
    Meaning("ApplyGradientDescent", lambda call: call.array("var") - call.array("alpha") * call.array("delta")),
    Meaning("ApplyAdagradD", _adagrad),
    Meaning("ApplyAdamD", _adam),
)
