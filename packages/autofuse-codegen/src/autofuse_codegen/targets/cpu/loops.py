"""Loop nests over an ImplGraph's axes: bounds with tails, and root indices from loop indices.

Nothing is assumed about the order of loops: an index is derived as soon as what it depends on is known, and the loop
that completes a split gets the bound that keeps its parent inside. Of the parent of a range, a loop goes through what
lies in the range.
"""

from collections.abc import Callable

from attrs import define
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.ranges import range_inner, range_parts

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.kernel.names import Names
from autofuse_codegen.kernel.program import Binary, Call, Declare, Expression, For, Integer, Name, Size, Statement

INNER = (AxisKind.TILE_INNER, AxisKind.BLOCK_INNER)
SPLIT = (*INNER, AxisKind.TILE_OUTER, AxisKind.BLOCK_OUTER)


@define
class Nest:
    """What is known while a nest is written: the index of each axis, as an expression."""

    axes: dict[str, Axis]
    names: Names
    known: dict[str, Expression]
    roots: tuple[str, ...] = ()

    def bound(self, axis_name: str) -> Expression:
        """Return how many iterations the loop over ``axis_name`` has, given what is known."""
        axis = self.axes[axis_name]
        if (limits := self.limits(axis_name)) is not None:
            return Binary("-", limits[1], limits[0])
        if axis.kind not in SPLIT:
            return Size(axis.size)
        other = self._other_half(axis)
        if other.name not in self.known:
            return Size(axis.size)
        parent = self.axes[axis.parents[0]]
        if axis.kind in INNER:
            rest = Binary("-", Size(parent.size), Binary("*", self.known[other.name], Size(axis.size)))
            return Call("af_min", (Size(axis.size), rest))
        rest = Binary("-", Size(parent.size), self.known[other.name])
        return Call("af_ceildiv", (rest, Size(other.size)))

    def enter(self, axis_name: str, index: Expression) -> tuple[Statement, ...]:
        """Note that ``axis_name`` has ``index`` and return declarations of every index that follows from it."""
        self.known[axis_name] = index
        found: list[Statement] = []
        progress = True
        while progress:
            progress = False
            for axis in self.axes.values():
                new = self._derive(axis)
                found += new
                progress = progress or bool(new)
        return tuple(found)

    def loops(
        self, order: tuple[str, ...], body: Callable[[], tuple[Statement, ...]], backwards: bool = False
    ) -> tuple[Statement, ...]:
        """Return the nest over ``order`` (outer to inner) around what ``body`` returns inside of it.

        ``backwards``: the loops run from the last index to the first.
        """
        if not order:
            return body()
        axis, rest = order[0], order[1:]
        begin, end = self.limits(axis) or (Integer(0), self.bound(axis))
        index = self.names.of(f"axis {axis}", axis)
        counter = self.names.of(f"counter {axis}", f"{axis}_from_end") if backwards else index
        before = dict(self.known)
        first: tuple[Statement, ...] = ()
        if backwards:
            last = Binary("-", end, Integer(1))
            first = (Declare("af_i64", index, Binary("-", last, Name(counter))),)
        derived = self.enter(axis, Name(index))
        inside = (*first, *derived, *self.loops(rest, body, backwards))
        self.known = before
        return (For(counter, begin, end, Integer(1), inside),)

    def base_of(self, axis_name: str) -> Expression | None:
        """Return the root index at which the strips along vectorised axis ``axis_name`` start; None for 0."""
        axis = self.axes[axis_name]
        if (limits := self.limits(axis_name)) is not None:
            return limits[0]
        if axis.kind is not AxisKind.TILE_INNER:
            return None
        outer = self._other_half(axis)
        if outer.name not in self.known:
            raise CodegenError(
                f"strips run along {axis_name} before its outer half {outer.name} is known",
                where="CPU emitter",
                fix="schedule the outer half as an enclosing loop",
            )
        return Binary("*", self.known[outer.name], Size(axis.size))

    def first_of_range(self) -> Expression | None:
        """Return the number of the first point of the range around, among those that are cut into ranges."""
        for axis in self.axes.values():
            if axis.kind is AxisKind.RANGE_OUTER and axis.name in self.known:
                return Binary("*", self.known[axis.name], Size(range_inner(self.axes, axis).size))
        return None

    def limits(self, axis_name: str) -> tuple[Expression, Expression] | None:
        """Return the first index of axis ``axis_name`` in the range around it and the end; None without a range."""
        found = self.known.get(f"{axis_name} from"), self.known.get(f"{axis_name} to")
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def _derive(self, axis: Axis) -> list[Statement]:
        if axis.kind is AxisKind.RANGE_OUTER and axis.name in self.known:
            return self._limit(axis)
        if axis.name in self.known and axis.kind is AxisKind.MERGED:
            parts = tuple(self.axes[p] for p in axis.parents)
            if any(part.name in self.known for part in parts):
                return []
            return [self._part(axis, parts, i) for i in range(len(parts))]
        if axis.name not in self.known:
            halves = [a for a in self.axes.values() if a.kind in SPLIT and a.parents == (axis.name,)]
            if len(halves) == 2 and all(h.name in self.known for h in halves):
                inner = next(h for h in halves if h.kind in INNER)
                outer = next(h for h in halves if h is not inner)
                index = Binary("+", Binary("*", self.known[outer.name], Size(inner.size)), self.known[inner.name])
                return [self._declare(axis, index)]
        return []

    def _limit(self, outer: Axis) -> list[Statement]:
        """Where the next part of what is cut into ranges begins and ends, once those outside of it are known."""
        size = Size(range_inner(self.axes, outer).size)
        first: Expression = Binary("*", self.known[outer.name], size)
        end: Expression = Call("af_min", (Size(self.axes[outer.parents[0]].size), Binary("+", first, size)))
        for part, inside in range_parts(self.axes, self.roots, outer):
            if self.limits(part.name) is None:
                return self._declare_limits(part, inside, first, end)
            if part.name not in self.known:
                return []
            passed = self.known[part.name] if inside == const(1) else Binary("*", self.known[part.name], Size(inside))
            first, end = Binary("-", first, passed), Binary("-", end, passed)
        return []

    def _declare_limits(self, part: Axis, inside: Dim, first: Expression, end: Expression) -> list[Statement]:
        found: list[Statement] = []
        first = Call("af_max", (Integer(0), first))
        if inside != const(1):
            first, end = Binary("/", first, Size(inside)), Call("af_ceildiv", (end, Size(inside)))
        for what, limit in (("from", first), ("to", Call("af_min", (Size(part.size), end)))):
            name = self.names.of(f"{what} {part.name}", f"{part.name}_{what}")
            self.known[f"{part.name} {what}"] = Name(name)
            found.append(Declare("af_i64", name, limit))
        return found

    def _part(self, merged: Axis, parts: tuple[Axis, ...], position: int) -> Statement:
        inner: Dim = product(p.size for p in parts[position + 1 :])
        index = self.known[merged.name]
        if inner != const(1):
            index = Binary("/", index, Size(inner))
        if position:
            index = Binary("%", index, Size(parts[position].size))
        return self._declare(parts[position], index)

    def _declare(self, axis: Axis, index: Expression) -> Statement:
        name = self.names.of(f"axis {axis.name}", axis.name)
        self.known[axis.name] = Name(name)
        return Declare("af_i64", name, index)

    def _other_half(self, axis: Axis) -> Axis:
        return next(
            a for a in self.axes.values() if a.kind in SPLIT and a.parents == axis.parents and a.name != axis.name
        )
