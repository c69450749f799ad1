"""Collects the nodes that stand for one operator."""

import math
import operator
import struct
from collections.abc import Callable
from typing import TypeAlias

from attrs import define, evolve, field
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const
from autofuse_ir.dtypes import DType, DTypeKind
from autofuse_ir.graph import Attr, AttrValue
from autofuse_ir.strides import dense_strides

from autofuse_schedule.legalise.chips import Chip

Number: TypeAlias = bool | int | float

_COMPARES: dict[str, Callable[..., bool]] = {
    "Eq": operator.eq,
    "Ne": operator.ne,
    "Lt": operator.lt,
    "Le": operator.le,
    "Gt": operator.gt,
    "Ge": operator.ge,
}

_MANTISSA: dict[DType, tuple[int, int]] = {
    dt.float16: (11, -24),
    dt.bfloat16: (8, -133),
    dt.float32: (24, -149),
}
"""Bits of the significand, and the exponent of the smallest positive number."""

_LARGEST = {
    dt.float16: 65504.0,
    dt.bfloat16: 255.0 * 2.0**120,
    dt.float32: (2.0 - 2.0**-23) * 2.0**127,
}


@define
class Writer:
    """Adds nodes to a graph. Equal computations are shared; names start with that of the node they stand for."""

    rank: int
    chip: Chip
    nodes: list[AscNode] = field(factory=list)
    stem: str = ""
    source: tuple[str, ...] = ()
    _by_name: dict[str, AscNode] = field(factory=dict)
    _same: dict[object, str] = field(factory=dict)

    def node(self, name: str) -> AscNode:
        """Return the node that makes value ``name``."""
        return self._by_name[name]

    def dtype(self, name: str) -> DType:
        """Return the element type of value ``name``."""
        return self._by_name[name].dtype

    def keep(self, node: AscNode) -> str:
        """Add ``node`` as it is."""
        self.nodes.append(node)
        self._by_name[node.name] = node
        return node.name

    def emit(self, op: str, *inputs: str, dtype: DType | None = None, attrs: tuple[Attr, ...] = ()) -> str:
        """Add element-wise ``op``; without ``dtype`` the result has that of the first input."""
        result = dtype or self.dtype(inputs[0])
        folded = self._folded(op, inputs)
        if folded is not None:
            return folded
        key = (op, inputs, result, attrs)
        if key not in self._same:
            columns = zip(*(self._by_name[name].repeats for name in inputs), strict=True)
            repeats = tuple(next((each for each in column if each != const(1)), const(1)) for column in columns)
            node = AscNode(self.fresh(), op, inputs, result, repeats, dense_strides(repeats), attrs, source=self.source)
            self._same[key] = self.keep(node)
        return self._same[key]

    def _folded(self, op: str, inputs: tuple[str, ...]) -> str | None:
        """Return the value of truths that are known, where ``op`` needs no more than those."""
        values = [self.value(name) for name in inputs]
        match op, values:
            case "LogicalNot", [bool(known)]:
                return self.scalar(not known, dt.bool_)
            case (("LogicalAnd" | "LogicalOr"), [bool(known), _]):
                return inputs[1] if known == (op == "LogicalAnd") else inputs[0]
            case (("LogicalAnd" | "LogicalOr"), [_, bool(known)]):
                return inputs[0] if known == (op == "LogicalAnd") else inputs[1]
            case "Select", [bool(known), _, _]:
                return inputs[1] if known else inputs[2]
            case _ if op in _COMPARES and all(isinstance(value, (bool, int, float)) for value in values):
                return self.scalar(bool(_COMPARES[op](*values)), dt.bool_)
        return None

    def scalar(self, value: Number, dtype: DType) -> str:
        """Add the constant ``value``, rounded to ``dtype``."""
        rounded = convert(value, dtype)
        key = ("Scalar", struct.pack("<d", rounded) if isinstance(rounded, float) else rounded, dtype)
        if key not in self._same:
            ones, zeros = (const(1),) * self.rank, (const(0),) * self.rank
            attrs: tuple[Attr, ...] = (Attr("value", rounded),)
            self._same[key] = self.keep(AscNode(self.fresh(), "Scalar", (), dtype, ones, zeros, attrs))
        return self._same[key]

    def expression(self, name: str, dtype: DType) -> str:
        """Add expression of sizes ``name`` as a number of integer type ``dtype``."""
        key = ("IndexExpr", name, dtype)
        if key not in self._same:
            self._same[key] = self.keep(evolve(self._by_name[name], name=self.fresh(), dtype=dtype))
        return self._same[key]

    def size(self, expression: Dim, dtype: DType) -> str:
        """Add ``expression`` of sizes as a number of integer type ``dtype``."""
        key = ("IndexExpr", expression, dtype)
        if key not in self._same:
            ones, zeros = (const(1),) * self.rank, (const(0),) * self.rank
            attrs: tuple[Attr, ...] = (Attr("expression", expression),)
            self._same[key] = self.keep(AscNode(self.fresh(), "IndexExpr", (), dtype, ones, zeros, attrs))
        return self._same[key]

    def value(self, name: str) -> AttrValue | None:
        """Return the number of constant ``name``, None for what is none."""
        node = self._by_name[name]
        return node.attr("value") if node.op == "Scalar" else None

    def fresh(self) -> str:
        """Return a name that no node has."""
        number = 1
        while f"{self.stem}_{number}" in self._by_name:
            number += 1
        return f"{self.stem}_{number}"


def convert(value: Number, dtype: DType) -> Number:
    """Return ``value`` as a constant of ``dtype``: floats rounded once to nearest even, integers wrapped.

    Floats become integers towards zero and saturate; NaN gives 0. Anything but 0 is a true bool.
    """
    if dtype.kind is DTypeKind.BOOL:
        return bool(value != 0)
    if dtype.is_float:
        return round_to(float(value), dtype)
    signed = dtype.kind is DTypeKind.SIGNED
    low = -(2 ** (dtype.bits - 1)) if signed else 0
    high = low + 2**dtype.bits - 1
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        return low if value <= low else high if value >= high else int(value)
    wrapped: int = (int(value) - low) % 2**dtype.bits + low
    return wrapped


def round_to(value: float, dtype: DType) -> float:
    """Return ``value`` rounded once to the float type ``dtype``."""
    if value == 0.0 or dtype == dt.float64 or not math.isfinite(value):
        return value
    bits, smallest = _MANTISSA[dtype]
    if abs(value) > 2.0 * _LARGEST[dtype]:
        return math.copysign(math.inf, value)
    unit = max(math.frexp(value)[1] - bits, smallest)
    rounded = math.copysign(math.ldexp(round(math.ldexp(value, -unit)), unit), value)
    return rounded if abs(rounded) <= _LARGEST[dtype] else math.copysign(math.inf, value)
