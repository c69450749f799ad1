"""Assignment and optimizer steps: outputs are the like-named inputs, updated."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.OPTIMIZER
_LOCK = "use_locking: bool = False"

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.ELEMENTWISE, Flag.IN_PLACE),
        f"Assign[T: all](ref: T, value: T; validate_shape: bool = True, {_LOCK}) -> ref: T",
        f"AssignAdd[T: number](ref: T, value: T; {_LOCK}) -> ref: T",
    ),
    *declare(
        _FAMILY,
        (Flag.VECTOR, Flag.ELEMENTWISE, Flag.COMPOSITE, Flag.IN_PLACE),
        f"ApplyGradientDescent[T: number](var: T, alpha: T, delta: T; {_LOCK}) -> var: T  # var - alpha * delta",
        f"ApplyAdagradD[T: float](var: T, accum: T, lr: T, grad: T; update_slots: bool = True, {_LOCK})"
        " -> var: T, accum: T  # accum + grad**2 (with update_slots); var - lr * grad / sqrt(accum)",
        "ApplyAdamD[T: float](var: T, m: T, v: T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T,"
        f" epsilon: T, grad: T; {_LOCK}, use_nesterov: bool = False) -> var: T, m: T, v: T",
    ),
)
