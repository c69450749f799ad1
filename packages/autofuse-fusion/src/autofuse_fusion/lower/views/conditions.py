"""Adds positions and what they are compared with: where an index lies, decided when compiling as far as it can be."""

from attrs import define
from autofuse_ir.dims import Dim, const, ge, le, lt
from autofuse_ir.dtypes import DType, bool_, int32, int64
from autofuse_ir.facts import Guard, GuardKind
from autofuse_reference.arrays import to_array

from autofuse_fusion.index_map import Place, Position, at
from autofuse_fusion.lower.views.nodes import NodeWriter, Shape

_ONE = const(1)


@define(eq=False)
class ConditionWriter(NodeWriter):
    """Writes indices along dims, comparisons of them, and choices by these."""

    def index(self, shape: Shape, dim: int, step: Dim = _ONE, offset: Dim | None = None) -> str:
        """Return ``offset + step * index`` along ``dim`` of ``shape``, as an integer that holds it."""
        shift = const(0) if offset is None else offset
        ends = (shift, shift + step * shape[dim])
        dtype = self.counting(*ends)
        wide = tuple([size if k == dim else _ONE for k, size in enumerate(shape)])
        return self.leaf(Position(at(dim, step, shift)), wide, dtype)

    def counting(self, *ends: Dim) -> DType:
        """Return an integer type that holds ``ends``: 32 bits where that is proved, or where the target has no more.

        Then the run has to make sure.
        """
        far = [end for end in ends if not self.values.sizes.fits_int32(end)]
        if not far:
            return int32
        if not self.is_narrow:
            return int64
        for end in far:
            message = f"an index up to {end}: kernels of this target count in 32 bits"
            guard = Guard(GuardKind.ASSERT, le(end, 2**31 - 1), self.node.name, message)
            if guard not in self.values.guards:
                self.values.guards.append(guard)
        return int32

    def of_one_dtype(self, first: str, second: str) -> tuple[str, str]:
        """Return two integers in a dtype that holds both."""
        a, b = self.values.fact(first).dtype, self.values.fact(second).dtype
        return (first, second) if a == b else (self.cast(first, int64), self.cast(second, int64))

    def compare(self, op: str, index: str, bound: Dim) -> str:
        """Return where ``index`` is Less than a size, or GreaterEqual; a constant where that is known of all of it."""
        known = self.known_comparison(op, index, bound)
        if known is not None:
            return self.number(known, bool_)
        index, bound = self.from_zero(index, bound)
        return self.emit(op, (index, self.size(bound, self.values.fact(index).dtype)), self.shape_of(index), bool_)

    def known_comparison(self, op: str, index: str, bound: Dim) -> bool | None:
        """Return how ``index`` compares with ``bound`` at all points, where it is a position and that is one answer."""
        leaf = self.values.leaves.get(index)
        return self._compared(op, leaf.place, self.shape_of(index), bound) if isinstance(leaf, Position) else None

    def from_zero(self, index: str, bound: Dim) -> tuple[str, Dim]:
        """Return ``index`` and a size it is compared with; counted from 0 where it is a position along a dim.

        Comparisons with pieces of pieces ask for one index so.
        """
        fact, leaf, fits = self.values.fact(index), self.values.leaves.get(index), self.values.sizes.fits_int32
        if not isinstance(leaf, Position) or fact.dtype != int32 or len(leaf.place.dims) != 1:
            return index, bound
        (dim,), shape = leaf.place.dims, self.shape_of(index)
        far = bound - leaf.place.offset
        if leaf.place != at(dim, _ONE, leaf.place.offset) or not fits(far) or not fits(shape[dim]):
            return index, bound
        return self.leaf(Position(at(dim)), shape, int32), far

    def _compared(self, op: str, place: Place, shape: Shape, bound: Dim) -> bool | None:
        """Return how an index compares with ``bound`` at all points, where that is proved and one answer."""
        low = high = place.offset
        for dim, step in place.terms:
            known = step.constant_value
            if known is None:
                return None
            low, high = (low, high + step * (shape[dim] - 1)) if known > 0 else (low + step * (shape[dim] - 1), high)
        holds = self.values.sizes.oracle.holds
        if holds(lt(high, bound)):
            return op == "Less"
        return op != "Less" if holds(ge(low, bound)) else None

    def truth(self, value: str) -> bool | None:
        """Return what ``value`` is at all points, where it is a constant."""
        data = self.values.constants.get(value)
        return (
            bool(to_array(data).reshape(()))
            if data is not None and data.dtype == bool_ and self.is_scalar(value)
            else None
        )

    def both(self, first: str | None, second: str) -> str:
        """Return where both hold."""
        if first is None or self.truth(first) is True or self.truth(second) is False:
            return second
        if self.truth(second) is True or self.truth(first) is False:
            return first
        return self.emit("LogicalAnd", (first, second), self._wider(first, second), bool_)

    def chosen(self, condition: str, if_true: str, if_false: str, shape: Shape, name: str | None = None) -> str:
        """Return ``if_true`` where ``condition`` holds, else ``if_false``; one of them where that is known."""
        known = self.truth(condition)
        if known is not None:
            return if_true if known else if_false
        return self.emit("SelectV2", (condition, if_true, if_false), shape, self.values.fact(if_true).dtype, name)

    def inside(self, own: Shape, shape: Shape, places: tuple[Place, ...]) -> str | None:
        """Return where ``places``, over the dims ``shape``, lie in a tensor of shape ``own``; None where all do."""
        found: str | None = None
        for size, place in zip(own, places, strict=True):
            wide = tuple([each if dim in place.dims else _ONE for dim, each in enumerate(shape)])
            index = self.leaf(Position(place), wide, self.counting(size))
            for test in (self.compare("GreaterEqual", index, const(0)), self.compare("Less", index, size)):
                found = self.both(found, test)
        return None if found is None or self.truth(found) is True else found

    def _wider(self, first: str, second: str) -> Shape:
        a, b = self.shape_of(first), self.shape_of(second)
        return tuple([other if one == 1 else one for one, other in zip(a, b, strict=True)])
