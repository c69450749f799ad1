"""Nodes for operators that the emitter composes of several instructions, in pieces of a fixed number of elements.

Such a node states how: attribute ``composed`` is "pieces", with the bytes of local memory that the pieces take in
``scratch``, or "elements", one after the other by the scalar unit.
"""

from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr

from autofuse_schedule.legalise.chips import COMPARES
from autofuse_schedule.legalise.writer import Writer

PIECE = 512
"""Elements of a piece."""

_WORDS = PIECE * 4

_WIDE = {
    **dict.fromkeys(("Add", "Sub"), 7 * _WORDS),
    "Mul": 10 * _WORDS,
    **dict.fromkeys(("Minimum", "Maximum"), 11 * _WORDS),
    **dict.fromkeys(COMPARES, 9 * _WORDS),
    "Select": 10 * _WORDS,  # both of what it chooses from may be numbers
    **dict.fromkeys(("LeftShift", "RightShift"), 4 * _WORDS),
    "Cast": 0,
}
_SINGLE = {
    **dict.fromkeys(("TruncDiv", "FloorDiv", "Mod", "Fmod"), 10 * _WORDS),
    **dict.fromkeys(("LeftShift", "RightShift"), 6 * _WORDS),
    "Pow": 5 * _WORDS,
}


def by_pieces(writer: Writer, op: str, *inputs: str, dtype: DType) -> str:
    """Add ``op`` on 32- or 64-bit integers; ``dtype`` is that of the result."""
    bits = writer.dtype(inputs[-1]).bits if op != "Cast" else 64
    needed = (_WIDE if bits == 64 else _SINGLE)[op]
    attrs = (Attr("composed", "pieces"), Attr("scratch", needed))
    return writer.emit(op, *inputs, dtype=dtype, attrs=attrs)


def by_elements(writer: Writer, op: str, *inputs: str, dtype: DType) -> str:
    """Add ``op``, computed by the scalar unit."""
    return writer.emit(op, *inputs, dtype=dtype, attrs=(Attr("composed", "elements"),))
