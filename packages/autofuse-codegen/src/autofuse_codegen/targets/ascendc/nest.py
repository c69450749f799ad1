"""Loops around the tiles of a phase, and the indices and extents that follow from them."""

from attrs import define, evolve, field
from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.dims_c import c_text
from autofuse_ir.ranges import range_inner, range_parts
from autofuse_ir.schedule import ImplGraph

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.names import Names

_INNER = (AxisKind.TILE_INNER, AxisKind.BLOCK_INNER)
_OUTER = (AxisKind.TILE_OUTER, AxisKind.BLOCK_OUTER)


@define
class Nest:
    """What is known inside the loops: for each axis the expression of its index."""

    impl: ImplGraph
    names: Names
    sizes: dict[str, str]
    known: dict[str, str] = field(factory=dict)

    @property
    def axes(self) -> dict[str, Axis]:
        """All axes by name."""
        return {axis.name: axis for axis in self.impl.axes}

    def size(self, dim: Dim) -> str:
        """Return a size as an expression that can stand in a product."""
        text = c_text(dim, self.sizes.__getitem__)
        return text if _is_operand(text) else f"({text})"

    def begin(self, name: str) -> str:
        """Return the first index of the loop over axis ``name``."""
        axis = self.axes[name]
        if (limits := self._limits(name)) is not None:
            return limits[0]
        if axis.kind is AxisKind.TILE_OUTER and (limits := self._limits(axis.parents[0])) is not None:
            return f"{limits[0]} / {self.size(self._other(axis).size)}"
        return "0"

    def entered(self, name: str) -> tuple["Nest", str, tuple[str, ...]]:
        """Return what is known inside the loop over axis ``name``: the end of the loop, and lines that name the rest.

        Its own index has the name that ``names`` has for it.
        """
        inner = evolve(self, known={**self.known, name: self.index_of(name)})
        return inner, self._bound(name), tuple(inner._derive())

    def index_of(self, name: str) -> str:
        """Return what the index along axis ``name`` is called."""
        return self.names.of(f"axis {name}", name)

    def extent(self, axis_name: str) -> str:
        """Return how far the vectorised axis goes in this tile: less than its size in the last one.

        What many tiles have in common is made outside of the loop over them, as long as a whole one.
        """
        axis = self.axes[axis_name]
        if axis.kind is not AxisKind.TILE_INNER or self._other(axis).name not in self.known:
            return c_text(axis.size, self.sizes.__getitem__)
        outer, root = self._other(axis), self.axes[axis.parents[0]]
        if (limits := self._limits(axis_name)) is not None:
            return f"{limits[1]} - {limits[0]}"
        rest = f"{self.size(root.size)} - {self._index(outer.name)} * {self.size(axis.size)}"
        return f"af_min({self.size(axis.size)}, {rest})"

    def base(self, root: str) -> str | None:
        """Return the index along root axis ``root`` at which the tile starts; None for 0."""
        if root in self.known:
            return self.known[root]
        for axis in self.impl.axes:
            if axis.kind is AxisKind.TILE_INNER and axis.parents == (root,):
                if (limits := self._limits(axis.name)) is not None:
                    return limits[0]
                return f"{self._index(self._other(axis).name)} * {self.size(axis.size)}"
        return None

    def _index(self, name: str) -> str:
        if name not in self.known:
            raise CodegenError(
                f"the loop over {name} does not stand around its tile",
                where=f"kernel {self.impl.name}, Ascend C",
                fix="schedule the outer half as an enclosing loop",
            )
        return self.known[name]

    def _bound(self, name: str) -> str:
        axis = self.axes[name]
        if (limits := self._limits(name)) is not None:
            return limits[1]
        if axis.kind is AxisKind.TILE_OUTER and (limits := self._limits(axis.parents[0])) is not None:
            return f"af_ceildiv({limits[1]}, {self.size(self._other(axis).size)})"
        if axis.kind in _INNER and self._other(axis).name in self.known:
            parent = self.axes[axis.parents[0]]
            rest = f"{self.size(parent.size)} - {self.known[self._other(axis).name]} * {self.size(axis.size)}"
            return f"af_min({self.size(axis.size)}, {rest})"
        return self.size(axis.size)

    def _derive(self) -> list[str]:
        lines: list[str] = []
        progress = True
        while progress:
            progress = False
            for axis in self.impl.axes:
                for name, value in self._follows(axis):
                    index = self.names.of(f"axis {name}", name)
                    self.known[name] = index
                    lines.append(f"const af_i64 {index} = {value};")
                    progress = True
                for name, first, end in self._limited(axis):
                    for what, value in (("from", first), ("to", end)):
                        self.known[f"{name} {what}"] = self.names.of(f"{what} {name}", f"{name}_{what}")
                        lines.append(f"const af_i64 {self.known[f'{name} {what}']} = {value};")
                    progress = True
        return lines

    def _limits(self, name: str) -> tuple[str, str] | None:
        """The first index of axis ``name`` in the range around it, or of the root of a piece, and the end."""
        first, end = self.known.get(f"{name} from"), self.known.get(f"{name} to")
        return None if first is None or end is None else (first, end)

    def _limited(self, axis: Axis) -> list[tuple[str, str, str]]:
        """Limits that follow from the index of ``axis``: of the parts of a range, and of a piece of one of them."""
        if axis.name not in self.known:
            return []
        if axis.kind is AxisKind.TILE_OUTER and (around := self._limits(axis.parents[0])) is not None:
            piece = self._other(axis)
            if self._limits(piece.name) is not None:
                return []
            first = f"{self.known[axis.name]} * {self.size(piece.size)}"
            return [
                (piece.name, f"af_max({first}, {around[0]})", f"af_min({first} + {self.size(piece.size)}, {around[1]})")
            ]
        if axis.kind is not AxisKind.RANGE_OUTER:
            return []
        size = self.size(range_inner(self.axes, axis).size)
        first = f"{self.known[axis.name]} * {size}"
        end = f"af_min({self.size(self.axes[axis.parents[0]].size)}, {first} + {size})"
        for part, inside in range_parts(self.axes, self.impl.roots, axis):
            if self._limits(part.name) is None:
                if inside == const(1):
                    return [(part.name, f"af_max(0, {first})", f"af_min({self.size(part.size)}, {end})")]
                step = self.size(inside)
                last = f"af_min({self.size(part.size)}, af_ceildiv({end}, {step}))"
                return [(part.name, f"af_max(0, {first}) / {step}", last)]
            if part.name not in self.known:
                return []
            passed = f" - {self.known[part.name]}" + ("" if inside == const(1) else f" * {self.size(inside)}")
            first, end = first + passed, end + passed
        return []

    def _follows(self, axis: Axis) -> list[tuple[str, str]]:
        """Indices that follow from those known, by what ``axis`` was made from or into."""
        if axis.name in self.known:
            if axis.kind is not AxisKind.MERGED or any(part in self.known for part in axis.parents):
                return []
            return self._parts(axis)
        halves = [h for h in self.impl.axes if h.kind in (*_INNER, *_OUTER) and h.parents == (axis.name,)]
        if len(halves) == 2 and all(half.name in self.known for half in halves):
            inner = next(half for half in halves if half.kind in _INNER)
            outer = next(half for half in halves if half is not inner)
            return [(axis.name, f"{self.known[outer.name]} * {self.size(inner.size)} + {self.known[inner.name]}")]
        return []

    def _parts(self, merged: Axis) -> list[tuple[str, str]]:
        found = []
        parts = [self.axes[name] for name in merged.parents]
        for position, part in enumerate(parts):
            inside = product(p.size for p in parts[position + 1 :])
            value = self.known[merged.name]
            if const(0) in (inside, part.size):  # a loop of nothing
                found.append((part.name, "0"))
                continue
            if inside != const(1):
                value = f"{value} / {self.size(inside)}"
            if position:
                value = f"{value} % {self.size(part.size)}"
            found.append((part.name, value))
        return found

    def _other(self, axis: Axis) -> Axis:
        wanted = _OUTER if axis.kind in _INNER else _INNER
        return next(a for a in self.impl.axes if a.kind in wanted and a.parents == axis.parents)


def _is_operand(text: str) -> bool:
    """True for a name, a number, or one call: what no operator around it can tear apart."""
    head, opened, rest = text.partition("(")
    if not head.replace("_", "").isalnum():
        return False
    depth = 1
    for position, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return position == len(rest) - 1
    return not opened
