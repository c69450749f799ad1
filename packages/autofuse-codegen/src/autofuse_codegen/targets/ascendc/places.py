"""Places in GM and UB as expressions: indices of dims, spans inside of the data, and loops over axes of a tile."""

from attrs import define, field, frozen
from autofuse_ir.asc_graph import AccessDim, AscNode, Axis
from autofuse_ir.dims import Dim, const
from autofuse_ir.dims_c import c_text

from autofuse_codegen.kernel.addresses import strides_of
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import Line
from autofuse_codegen.targets.ascendc.nest import Nest


@frozen
class DimPlace:
    """Dim ``number`` of a load's data: how it is accessed, its size, and the elements that one step along it moves."""

    number: int
    access: AccessDim
    size: Dim
    stride: Dim


def dims_of(node: AscNode) -> tuple[DimPlace, ...]:
    """Return the dims of the data of Load ``node``, outer to inner."""
    access = node.access
    assert access is not None
    columns = zip(access.dims, access.memory, strides_of(access), strict=True)
    return tuple(DimPlace(number, *column) for number, column in enumerate(columns))


@define
class Loops:
    """Loops over axes of a tile, opened one inside of the other; ``counted`` has the index of each by root axis."""

    nest: Nest
    layouts: Layouts
    lines: list[Line] = field(factory=list)
    counted: dict[str, str] = field(factory=dict)
    depth: int = 0

    def open(self, axis: Axis, reads: frozenset[str] = frozenset(), first: str = "0") -> str:
        """Open the loop over ``axis`` from ``first`` on and return its index.

        ``reads``: memory that must be there before it begins.
        """
        index = self.nest.names.of(f"row {axis.name}", f"{axis.name}_i")
        self.put(f"for (uint32_t {index} = {first}; {index} < {self.layouts.extent(axis)}; ++{index}) {{", reads=reads)
        self.counted[axis.root] = index
        self.depth += 1
        return index

    def put(
        self,
        text: str,
        reads: frozenset[str] = frozenset(),
        writes: frozenset[str] = frozenset(),
        settles: bool = False,
    ) -> None:
        """Add a line inside of the loops; what the vector unit reads and writes by it as in `Line`."""
        self.lines.append(Line(text, reads, writes, settles, self.depth))

    def close(self) -> list[Line]:
        """Close all loops and return the lines."""
        while self.depth:
            self.depth -= 1
            self.put("}")
        return self.lines

    def place(self, axes: tuple[Axis, ...]) -> str:
        """Return the element of a value over ``axes`` at the point of the loops; 0 along axes without one."""
        text = ""
        for position, axis in enumerate(axes):
            if axis.root in self.counted:
                text = plus(text, times(self.counted[axis.root], self.layouts.step(axes, position)))
        return text

    def index(self, dim: AccessDim) -> str:
        """Return the index along one dim of the data at the point of the loops."""
        text = "" if dim.offset == const(0) else c_text(dim.offset, self.nest.sizes.__getitem__)
        if dim.axis is None or dim.step == const(0):
            return text or "0"
        point = self.nest.base(dim.axis) or ""
        if dim.axis in self.counted:
            point = plus(point, f"static_cast<af_i64>({self.counted[dim.axis]})")
        return plus(text, times(point, self.nest.size(dim.step))) if point else text or "0"

    def operand(self, dim: DimPlace, value: str) -> str:
        """Return the index along a dim that index ``value`` stands in."""
        scaled = times(f"static_cast<af_i64>({value})", self.nest.size(dim.access.step))
        if dim.access.offset == const(0):
            return scaled
        return plus(c_text(dim.access.offset, self.nest.sizes.__getitem__), scaled)


def times(index: str, step: str) -> str:
    """Return a product as text."""
    if step == "1":
        return index
    left = f"({index})" if " + " in index or " - " in index else index
    return f"{left} * {step}"


def plus(text: str, term: str) -> str:
    """Return a sum as text; an empty text is nothing."""
    return f"{text} + {term}" if text else term


def at(tensor: str, offset: str) -> str:
    """Return the part of ``tensor`` from element ``offset`` on."""
    return f"{tensor}[{offset}]" if offset and offset != "0" else tensor
