"""What the vector cores of each chip compute themselves: operators by element type, and conversions."""

from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

FUNCTIONS = (
    *("Exp", "Ln", "Sqrt", "Log2", "Log10", "Erf", "Erfc", "Sigmoid", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Div", "Fmod", "Pow"),
)
COMPARES = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge")

FLOATS = frozenset({dt.float16, dt.float32})
INTEGERS = frozenset(d for d in dt.TENSOR_DTYPES if d.is_integer)
WORDS = frozenset({dt.int16, dt.int32, dt.uint16, dt.uint32})
WIDE = frozenset({dt.int64, dt.uint64})
SAME_BITS = frozenset(
    {
        *((dt.int16, dt.uint16), (dt.uint16, dt.int16), (dt.int32, dt.uint32), (dt.uint32, dt.int32)),
        *((dt.int64, dt.uint64), (dt.uint64, dt.int64)),
    }
)
"""Conversions that change nothing in memory."""

_SIGNED = frozenset({dt.int16, dt.int32})

_CASTS = frozenset(
    {
        *((dt.uint8, dt.float16), (dt.int8, dt.float16), (dt.int16, dt.float16), (dt.int16, dt.float32)),
        *((dt.float16, dt.int8), (dt.float16, dt.uint8), (dt.float16, dt.int16), (dt.float16, dt.int32)),
        *((dt.float16, dt.float32), (dt.bfloat16, dt.float32), (dt.bfloat16, dt.int32)),
        *((dt.int32, dt.int16), (dt.int32, dt.float32), (dt.int32, dt.int64)),
        *((dt.float32, dt.float16), (dt.float32, dt.bfloat16)),
        *((dt.float32, dt.int16), (dt.float32, dt.int32), (dt.float32, dt.int64)),
        *((dt.int64, dt.int32), (dt.int64, dt.float32)),
    }
)


@frozen
class Chip:
    """Types of the operands (of ``Select``: what it selects) with an instruction or a short fixed sequence of them.

    Shifts are by a number; ``shifts_by_tensors``: by tensors as well. ``casts`` are pairs of one Cast instruction.
    Floats become integers towards zero and saturate.
    """

    native: dict[str, frozenset[DType]]
    casts: frozenset[tuple[DType, DType]]
    shifts_by_tensors: bool

    def computes(self, op: str, dtype: DType) -> bool:
        """Return whether an instruction computes ``op`` on ``dtype``."""
        return dtype in self.native.get(op, ())

    def converts(self, source: DType, to: DType) -> bool:
        """Return whether one instruction, or a copy, converts ``source`` to ``to``."""
        return (source, to) in self.casts or (source, to) in SAME_BITS


ARCHITECTURE_2201 = Chip(
    {
        **dict.fromkeys(FUNCTIONS, FLOATS),
        **dict.fromkeys(("Add", "Sub", "Mul"), FLOATS | WORDS),
        **dict.fromkeys(("Minimum", "Maximum", "Neg"), FLOATS | _SIGNED),
        **dict.fromkeys(("Ne", "Lt", "Le", "Gt", "Ge", "Abs"), FLOATS),
        **dict.fromkeys(("Floor", "Ceil", "Trunc", "Round"), frozenset({dt.float32})),
        "Eq": FLOATS | {dt.int32},
        "Select": FLOATS | WORDS | {dt.bfloat16},
        **dict.fromkeys(("LogicalAnd", "LogicalOr", "LogicalNot"), frozenset({dt.bool_})),
        **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseNot"), INTEGERS),
        **dict.fromkeys(("LeftShift", "RightShift"), WORDS),
    },
    _CASTS,
    shifts_by_tensors=False,
)
"""Atlas A2 and A3."""

_ALL = FLOATS | INTEGERS | {dt.bfloat16}

ARCHITECTURE_3510 = Chip(
    {
        **ARCHITECTURE_2201.native,
        **dict.fromkeys(("Add", "Sub", "Minimum", "Maximum", "Select", *COMPARES), _ALL),
        "Mul": _ALL - {dt.int8, dt.uint8},
        "Neg": FLOATS | _SIGNED | {dt.bfloat16, dt.int64},
        "Abs": FLOATS | _SIGNED | {dt.int8, dt.int64},
        **dict.fromkeys(("LeftShift", "RightShift"), INTEGERS),
        **dict.fromkeys(("Floor", "Ceil", "Trunc", "Round"), FLOATS | {dt.bfloat16}),
    },
    _CASTS
    | {
        *((dt.int8, dt.int16), (dt.int8, dt.int32), (dt.uint8, dt.uint16), (dt.uint8, dt.uint32)),
        *((dt.int16, dt.int32), (dt.uint16, dt.uint32), (dt.float16, dt.bfloat16), (dt.bfloat16, dt.float16)),
    },
    shifts_by_tensors=True,
)
"""Atlas 350: arithmetic, order and selection on integers of all widths and on bfloat16."""

CHIPS: dict[str, Chip] = {
    "ascend-a2": ARCHITECTURE_2201,
    "ascend-a3": ARCHITECTURE_2201,
    "ascend-350": ARCHITECTURE_3510,
}
"""By name of the target; others have what all chips have, that of the first."""


def chip_of(target: str) -> Chip:
    """Return what the chip of ``target`` computes."""
    return CHIPS.get(target, ARCHITECTURE_2201)
