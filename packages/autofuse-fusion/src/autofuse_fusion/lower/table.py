"""The lowering of every operator that has one, by name. The set of operators that kernels can hold is this table."""

from autofuse_fusion.lower.call import Lowering
from autofuse_fusion.lower.decompositions import (
    activation,
    arg,
    batch_norm,
    binary,
    compare_logic,
    elementwise,
    gradient,
    norm,
    optimizer,
    quantise,
    reduce,
    scan,
    shape_view,
    softmax,
    thin_products,
)

_LOWERINGS: tuple[Lowering, ...] = (
    *elementwise.LOWERINGS,
    *activation.LOWERINGS,
    *gradient.LOWERINGS,
    *binary.LOWERINGS,
    *compare_logic.LOWERINGS,
    *shape_view.LOWERINGS,
    *optimizer.LOWERINGS,
    *reduce.LOWERINGS,
    *arg.LOWERINGS,
    *scan.LOWERINGS,
    *softmax.LOWERINGS,
    *norm.LOWERINGS,
    *batch_norm.LOWERINGS,
    *quantise.LOWERINGS,
    *thin_products.LOWERINGS,
)
_BY_NAME = {lowering.name: lowering for lowering in (*_LOWERINGS, *shape_view.PLACED)}

VIEWS = frozenset(
    (
        *("Reshape", "Squeeze", "SqueezeV3", "Unsqueeze", "UnsqueezeV3", "ExpandDims", "Flatten", "FlattenV2"),
        *("Identity", "StopGradient", "TensorMove"),
    )
)
"""Operators whose result is their first input under another shape: kernels read it where it lies."""

REINTERPRETED = frozenset(("Bitcast",))
"""Operators whose result has the bytes of their input, which kernels read as another dtype."""


ONE_SWEEP = frozenset(
    [
        "AddRmsNorm",
        "ConfusionSoftmaxGrad",
        "DynamicQuantizeLinear",
        "LogSoftmaxGrad",
        "LpNormalization",
        "RmsNorm",
        "SoftmaxGrad",
        "SoftmaxGradExt",
    ]
)
"""Composites whose rows wait for reductions that do not wait for one another; those of others wait for two in turn."""

TRANSCENDENTAL = frozenset(
    [
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Atan2",
        "Cos",
        "Cosh",
        "Sin",
        "Sinh",
        "Tan",
        "Tanh",
        "Erf",
        "Erfc",
        "Exp",
        "Expm1",
        "Log",
        "Log1p",
        "Pow",
    ]
)
"""Operators whose element costs a polynomial."""


def all_lowerings() -> tuple[Lowering, ...]:
    """Return every lowering."""
    return _LOWERINGS


def lowering_of(op: str) -> Lowering | None:
    """Return how operator ``op`` is written in AscIR, or None."""
    return _BY_NAME.get(op)
