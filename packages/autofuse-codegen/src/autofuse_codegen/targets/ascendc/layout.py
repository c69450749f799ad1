"""How the elements of a value lie in UB: rows along its innermost axis, each from a multiple of elements on."""

import re

from attrs import define, field
from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.dims import const
from autofuse_ir.schedule import ImplGraph

from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.nest import Nest


@define
class Layouts:
    """Names for extents, pitches and element counts of the shapes that occur, declared once per tile.

    ``granule`` is the number of elements that comparisons work on at a time.
    """

    impl: ImplGraph
    nest: Nest
    names: Names
    vectorised: tuple[Axis, ...]
    granule: int
    _declared: dict[str, str] = field(factory=dict)

    def axes_of(self, node: AscNode) -> tuple[Axis, ...]:
        """Return the vectorised axes that the value of ``node`` varies along."""
        position = {root: i for i, root in enumerate(self.impl.roots)}
        return tuple(a for a in self.vectorised if node.repeats[position[a.root]] != const(1))

    def extent(self, axis: Axis) -> str:
        """Return the number of points of ``axis`` in this tile."""
        size = axis.size.constant_value
        if size is not None and axis.kind is not AxisKind.TILE_INNER:
            return str(size)
        return self._declare(f"extent {axis.name}", f"{axis.name}_n", self.nest.extent(axis.name))

    def pitch(self, axes: tuple[Axis, ...]) -> str:
        """Return how many elements lie between the starts of two rows of a value over ``axes``."""
        last = self.extent(axes[-1])
        multiple = self.impl.row_multiple
        if len(axes) < 2 or multiple == 1:
            return last
        size = axes[-1].size.constant_value
        if size is not None and size % multiple == 0:
            return last
        return self._declare(
            f"pitch {axes[-1].name}", f"{axes[-1].name}_pitch", f"af_round_up({last}, {multiple})", cast=False
        )

    def rows(self, axes: tuple[Axis, ...]) -> str:
        """Return the number of rows of a value over ``axes``."""
        return self._product(tuple(self.extent(axis) for axis in axes[:-1]))

    def count(self, axes: tuple[Axis, ...]) -> str:
        """Return the number of elements of a value over ``axes``, gaps between rows included."""
        if not axes:
            return "1"
        factors = (*(self.extent(axis) for axis in axes[:-1]), self.pitch(axes))
        return self._product(factors)

    def row(self, axes: tuple[Axis, ...]) -> tuple[str, str]:
        """Return how many elements a row of a value over ``axes`` has, and how far apart rows start."""
        return (self.extent(axes[-1]), self.pitch(axes)) if axes else ("1", "1")

    def whole(self, axes: tuple[Axis, ...]) -> str:
        """Return that number rounded up to whole vectors, which every buffer holds."""
        count = self.count(axes)
        return self._declare(f"whole {count}", f"{count}_whole", f"af_round_up({count}, {self.granule})", cast=False)

    def step(self, axes: tuple[Axis, ...], at: int) -> str:
        """Return how far one step along ``axes[at]`` moves, in elements."""
        if at == len(axes) - 1:
            return "1"
        factors = (*(self.extent(axis) for axis in axes[at + 1 : -1]), self.pitch(axes))
        return self._product(factors)

    def points(self, axes: tuple[Axis, ...]) -> str:
        """Return the number of points of ``axes`` in this tile."""
        return self._product(tuple(self.extent(axis) for axis in axes))

    def declarations(self, body: str) -> tuple[str, ...]:
        """Return the lines that declare the names that ``body`` uses, and those that they need."""
        kept: list[str] = []
        text = body
        for name, line in reversed(self._declared.items()):
            if re.search(rf"\b{name}\b", text):
                kept.append(line)
                text += line
        return tuple(reversed(kept))

    def _product(self, factors: tuple[str, ...]) -> str:
        kept = tuple(f for f in factors if f != "1")
        if len(kept) < 2:
            return kept[0] if kept else "1"
        return self._declare(f"product {kept}", "_".join(kept), " * ".join(kept), cast=False)

    def _declare(self, key: str, wish: str, value: str, cast: bool = True) -> str:
        name = self.names.of(key, wish)
        if name not in self._declared:
            typed = f"static_cast<uint32_t>({value})" if cast else value
            self._declared[name] = f"const uint32_t {name} = {typed};"
        return name
