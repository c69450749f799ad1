"""What is known of the values of random graphs: their dtypes, how their dims broadcast, and which of them are exact."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen
from autofuse_fusion.lower.table import TRANSCENDENTAL, VIEWS
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.operators import Flag, Operator, operator, promote
from autofuse_ir.operators.model import Fixed, FloatOf, FromAttr, Promote, Result

Places = tuple[frozenset[int | str], ...]

_JUMPS_OR_POLES = """
    Acos Acosh Asin Atan2 Atanh Tan Log Log1p Sqrt Rsqrt Reciprocal Pow Div RealDiv DivNoNan Addcdiv HardShrink
    ThresholdedRelu ThresholdV2 Shrink ReluGrad LeakyReluGrad AbsGrad RsqrtGrad SqrtGrad ReciprocalGrad LogicalAnd
    LogicalOr LogicalXor LogicalNot ApplyAdagradD ApplyAdamD FloorDiv FloorMod Mod TruncateMod TruncateDiv
"""
"""Operators that amplify a small change of their input without bound."""

JUMPS_OR_POLES = frozenset(_JUMPS_OR_POLES.split())


@frozen
class Known:
    """A value: its dtype, its dims aligned to the right (sets of the dims that broadcast there), and its view.

    Values of one view (0: none was taken) broadcast to each other. ``loose``: some operator before it is not exact.
    """

    name: str
    dtype: DType
    dims: Places
    view: int = 0
    loose: bool = False


def result_dtype(op: Operator, result: Result, read: tuple[Known, ...], attrs: Mapping[str, Any]) -> DType:
    """Return the dtype of output ``result`` of ``op`` on the values ``read``."""
    match result.rule:
        case Fixed(dtype):
            return dtype
        case FromAttr(attr, _):
            return next(d for d in dt.TENSOR_DTYPES if d.ascend_code == attrs[attr])
        case Promote(_):
            return promote(read[0].dtype, read[1].dtype)
        case FloatOf(_):
            return read[0].dtype if read[0].dtype.is_float else dt.float32
        case _:  # that of the data, which stands last where a condition stands first
            return read[-1].dtype if op.name in ("Select", "SelectV2") else read[0].dtype


def widens_to(narrow: Places, wide: Places) -> bool:
    """Return whether every dim of ``narrow`` is 1 or that of ``wide``, whatever the sizes."""
    pairs = zip(narrow[::-1], wide[::-1], strict=False)
    return len(narrow) <= len(wide) and all(d == e or not d for d, e in pairs)


def joined(a: Places, b: Places) -> Places:
    """Return the dims of what two values broadcast to."""
    rank = max(len(a), len(b))
    one: Places = (frozenset(),)
    wide_a, wide_b = (one * (rank - len(places)) + places for places in (a, b))
    return tuple(x | y for x, y in zip(wide_a, wide_b, strict=True))


def is_inexact(op: str, dtype: DType, rounds_halves: bool) -> bool:
    """Return whether an element of ``op`` in ``dtype`` is defined up to some ULP only.

    Those of 16-bit floats are exact where the program rounds them after every operator (``rounds_halves``).
    """
    if not dtype.is_float:
        return False
    if op in TRANSCENDENTAL or operator(op).has(Flag.COMPOSITE) or op in ("Rsqrt", "Round"):
        return True
    return dtype.bits == 16 and not rounds_halves and op not in VIEWS
