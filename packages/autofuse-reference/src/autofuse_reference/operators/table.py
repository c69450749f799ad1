"""The NumPy function of every operator that has one, by name."""

from autofuse_ir.operators import Flag, operator

from autofuse_reference.errors import EvaluationError
from autofuse_reference.operators import (
    activation,
    batch_norm,
    binary,
    compare_logic,
    concat_split_slice_pad,
    elementwise,
    gather,
    gradient,
    loss,
    matmul,
    norm,
    optimizer,
    quantise,
    random,
    reduce,
    scatter,
    shape_view,
    windows,
)
from autofuse_reference.operators.call import Meaning

_MEANINGS: tuple[Meaning, ...] = (
    *elementwise.MEANINGS,
    *activation.MEANINGS,
    *gradient.MEANINGS,
    *binary.MEANINGS,
    *compare_logic.MEANINGS,
    *reduce.MEANINGS,
    *shape_view.MEANINGS,
    *concat_split_slice_pad.MEANINGS,
    *gather.MEANINGS,
    *scatter.MEANINGS,
    *norm.MEANINGS,
    *batch_norm.MEANINGS,
    *loss.MEANINGS,
    *optimizer.MEANINGS,
    *quantise.MEANINGS,
    *matmul.MEANINGS,
    *windows.MEANINGS,
    *random.MEANINGS,
)
_BY_NAME = {meaning.name: meaning for meaning in _MEANINGS}


def all_meanings() -> tuple[Meaning, ...]:
    """Return the meaning of every operator the reference can evaluate."""
    return _MEANINGS


def has_meaning(name: str) -> bool:
    """True when the reference can evaluate operator ``name``."""
    return name in _BY_NAME


def meaning(name: str) -> Meaning:
    """Return the NumPy function of operator ``name``; an error when only another backend can run it."""
    found = _BY_NAME.get(name)
    if found is None:
        kind = "a host operator" if operator(name).has(Flag.HOST) else "an operator"
        raise EvaluationError(
            f"{name} is {kind} that the NumPy reference cannot evaluate",
            where="autofuse_reference",
            fix="run it with a host backend (autofuse-onnx brings ONNX Runtime)",
        )
    return found
