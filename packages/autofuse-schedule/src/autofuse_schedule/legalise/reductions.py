"""Reductions and scans, in the types that vector cores join.

Whole numbers are joined in any order with one result, so narrow ones are joined in wider types: extremes of 8 bits in
half, sums of less than 32 bits in 32, of which the low ones are kept. 64 bits are joined in 32 where it is proved that
nothing leaves those.
"""

from attrs import evolve, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import AscKind, asc_op
from autofuse_ir.dims import Dim, eq, product, select
from autofuse_ir.dims_eval import bounds
from autofuse_ir.dtypes import DType, DTypeKind
from autofuse_ir.graph import Attr
from autofuse_ir.reduction import reduced_axes, tree_of

from autofuse_schedule.legalise.casts import cast
from autofuse_schedule.legalise.composed import by_pieces
from autofuse_schedule.legalise.writer import Writer

VECTOR_BYTES = 256
_FLIP = -(2**31)


@frozen
class Reductions:
    """Expresses reductions; ``sizes`` are those of the axes by name, ``ranges`` those of symbols."""

    writer: Writer
    sizes: dict[str, Dim]
    ranges: dict[str, tuple[int, int]]

    def express(self, node: AscNode, value: str) -> str | None:
        """Add what stands for ``node``, which joins ``value``; None where the chip cannot."""
        w, dtype, op = self.writer, self.writer.dtype(value), node.op
        if dtype == dt.bool_:
            return self._on_truths(node, value)
        if dtype.is_float:
            return self._on_floats(node, value)
        if dtype.bits == 64:
            return self._on_wide(node, value)
        is_extreme = op in ("Max", "Min")
        if dtype == dt.int32:
            return self._joined(node, value)
        if is_extreme and dtype == dt.uint32:  # in order as numbers with a sign
            lowest = w.scalar(_FLIP, dt.int32)
            moved = w.emit("Add", w.emit("Cast", value, dtype=dt.int32), lowest)
            return cast(w, w.emit("Add", self._joined(node, moved), lowest), dtype)
        between = dt.float16 if is_extreme and dtype.bits == 8 else dt.int32
        wide = cast(w, value, between)
        if wide is None:
            return None
        joined = self._joined(node, wide)
        if is_extreme and between == dt.int32 and self._may_be_empty(node):  # else the extreme of 32 bits, cut
            low, high = _range(dtype)
            limit = w.scalar(low if op == "Max" else high, between)
            joined = w.emit("Maximum" if op == "Max" else "Minimum", joined, limit)
        return cast(w, joined, dtype)

    def _may_be_empty(self, node: AscNode) -> bool:
        return bounds(self._count(node), self.ranges)[0] == 0

    def _joined(self, node: AscNode, value: str) -> str:
        """Add ``node`` on ``value`` of any type; rows have a partial result for each lane."""
        w = self.writer
        dtype = w.dtype(value)
        attrs = node.attrs
        if reduced_axes(node) and dtype.itemsize != node.dtype.itemsize and tree_of(node).partials > 1:
            partials = VECTOR_BYTES // dtype.itemsize
            attrs = tuple(Attr("partials", partials) if a.name == "partials" else a for a in attrs)
        if (value,) == node.inputs and dtype == node.dtype:
            return w.keep(node)
        return w.keep(evolve(node, name=w.fresh(), inputs=(value,), dtype=dtype, attrs=attrs))

    def _on_truths(self, node: AscNode, value: str) -> str | None:
        """Any is the largest of 0 and 1, All the smallest; of nothing, Any is false and All is true."""
        op = {"Any": "Max", "All": "Min"}.get(node.op, node.op)
        number = cast(self.writer, value, dt.float16)
        if number is None or op not in ("Max", "Min"):
            return None
        found = self._joined(evolve(node, op=op), number)
        return self.writer.emit("Gt", found, self.writer.scalar(0.0, dt.float16), dtype=dt.bool_)

    def _on_floats(self, node: AscNode, value: str) -> str | None:
        """In float32 what is rounded once, if the tree is that of float32; extremes of half are exact as they are."""
        w, dtype = self.writer, self.writer.dtype(value)
        if dtype == dt.float32 or (dtype == dt.float16 and node.op in ("Max", "Min")):
            return self._joined(node, value)
        if dtype == dt.float64:
            return None
        is_scan = not reduced_axes(node)
        if not is_scan and tree_of(node).partials not in (1, VECTOR_BYTES // dt.float32.itemsize):
            return None
        wide = cast(w, value, dt.float32)
        if wide is None:
            return None
        joined = w.keep(evolve(node, name=w.fresh(), inputs=(wide,), dtype=dt.float32))
        return cast(w, joined, dtype)

    def _on_wide(self, node: AscNode, value: str) -> str | None:
        """In 32 bits what fits there, else as they are: the scalar unit joins them."""
        dtype = self.writer.dtype(value)
        within = self._bounds(value)
        if within is not None and self._fits(node, within):
            narrow = self._narrow(value)
            if narrow is not None:
                return self._lengthened(node, self._joined(node, narrow), dtype)
        return self._joined(node, value)

    def _lengthened(self, node: AscNode, joined: str, dtype: DType) -> str | None:
        """``joined``, of 32 bits, in the 64 of ``dtype``; an extreme of nothing becomes that of 64 bits."""
        w = self.writer
        wide = cast(w, joined, dtype)
        if wide is None or node.op not in ("Max", "Min") or not self._may_be_empty(node):
            return wide
        at = 0 if node.op == "Max" else 1
        missing = select(eq(self._count(node), 0), _range(dtype)[at] - _range(dt.int32)[at], 0)
        return by_pieces(w, "Add", wide, w.size(missing, dtype), dtype=dtype)

    def _count(self, node: AscNode) -> Dim:
        """How many elements ``node`` joins into one."""
        return product(self.sizes[axis] for axis in reduced_axes(node))

    def _fits(self, node: AscNode, within: tuple[int, int]) -> bool:
        low, high = within
        if node.op in ("Sum", "CumSum"):
            axes = reduced_axes(node) or (str(node.attr("axis")),)
            count = bounds(product(self.sizes[axis] for axis in axes), self.ranges)[1]
            low, high = min(low, low * count), max(high, high * count)
        elif node.op not in ("Max", "Min"):
            return False
        return low >= -(2**31) and high < 2**31

    def _bounds(self, value: str) -> tuple[int, int] | None:
        """The least and the largest that ``value`` can be."""
        w = self.writer
        node, known = w.node(value), w.value(value)
        if isinstance(known, (bool, int)):
            return int(known), int(known)
        match node.op:
            case "AxisIndex":
                return 0, bounds(self.sizes[str(node.attr("axis"))], self.ranges)[1]
            case "IndexExpr":
                expression = node.attr("expression")
                assert isinstance(expression, Dim)
                return bounds(expression, self.ranges)
            case "Select" | "Minimum" | "Maximum":
                parts = [self._bounds(name) for name in node.inputs[-2:]]
                found = [part for part in parts if part is not None]
                if len(found) < 2:
                    return None
                return min(low for low, _ in found), max(high for _, high in found)
            case "Cast":
                inside = self._bounds(self._before_float(node.inputs[0]))
                if inside is not None and node.dtype.is_integer:
                    low, high = _range(node.dtype)
                    return inside if low <= inside[0] and inside[1] <= high else (low, high)
        return _range(node.dtype) if node.dtype.is_integer or node.dtype == dt.bool_ else None

    def _before_float(self, value: str) -> str:
        """What was converted to a float that holds all of its values exactly, to become an integer again."""
        w = self.writer
        node = w.node(value)
        if node.dtype.is_float and node.op == "Cast":
            source = w.dtype(node.inputs[0])
            if source == dt.bool_ or (source.is_integer and source.bits == 8):
                return node.inputs[0]
        return value

    def _narrow(self, value: str) -> str | None:
        """``value``, which fits, in 32 bits: where it is made, if that is simple."""
        w = self.writer
        node = w.node(value)
        if node.op == "Cast" and w.dtype(node.inputs[0]) == dt.int32:
            return node.inputs[0]
        if node.op == "Select":
            first, second = (self._narrow(name) for name in node.inputs[1:])
            if first is not None and second is not None:
                return w.emit("Select", node.inputs[0], first, second, dtype=dt.int32)
        return cast(w, value, dt.int32)


def _range(dtype: DType) -> tuple[int, int]:
    if dtype == dt.bool_:
        return 0, 1
    low = -(2 ** (dtype.bits - 1)) if dtype.kind is DTypeKind.SIGNED else 0
    return low, low + 2**dtype.bits - 1


def joins(op: str) -> bool:
    """True for reductions and scans."""
    rule = asc_op(op)
    return rule is not None and rule.kind in (AscKind.REDUCE, AscKind.SCAN)
