"""Loads and stores of a tile as copies of rows between GM and UB."""

from collections.abc import Callable

from attrs import frozen
from autofuse_ir.asc_graph import AccessDim, AscNode, Bounds
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.dims_c import c_text

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.literals import literal
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.cpu.access import Address, address, strides_of


@frozen
class Transfers:
    """Writes copies; ``gm`` names of global tensors by the ``Data`` or ``Output`` node."""

    nest: Nest
    layouts: Layouts

    def load(self, node: AscNode, to: str, gm: str) -> list[str]:
        """Return the lines that copy a tile into tensor ``to``: rows, or element by element what is none."""
        if not moves_rows(node, self.layouts):
            return self._elements(node, to, gm)
        return self._rows(node, lambda at, offset, rest: f"af_load({_at(to, at)}, {gm}, {offset}, {rest});")

    def store(self, node: AscNode, gm: str, source: str) -> list[str]:
        """Return the lines that copy tensor ``source`` out."""
        return self._rows(node, lambda at, offset, rest: f"af_store({gm}, {offset}, {_at(source, at)}, {rest});")

    def _rows(self, node: AscNode, call: Callable[[str, str, str], str]) -> list[str]:
        where = self._address(node)
        axes = self.layouts.axes_of(node)
        lines: list[str] = []
        local, offset = "", self._offset(where)
        depth = 0
        for position, axis in enumerate(axes[:-2]):
            index = self.nest.names.of(f"row {axis.name}", f"{axis.name}_i")
            lines.append(
                "  " * depth + f"for (uint32_t {index} = 0; {index} < {self.layouts.extent(axis)}; ++{index}) {{"
            )
            depth += 1
            local = _plus(local, _times(index, self.layouts.step(axes, position)))
            offset = _plus(offset, _times(index, self._size(where.step_along(axis.root))))
        columns, rows, stride, pitch = "1", "1", "1", "1"
        if axes:
            columns = stride = pitch = self.layouts.extent(axes[-1])
        if len(axes) > 1:
            rows, stride = self.layouts.extent(axes[-2]), self._size(where.step_along(axes[-2].root))
            pitch = self.layouts.pitch(axes)
        lines.append("  " * depth + call(local, offset or "0", f"{rows}, {columns}, {stride}, {pitch}"))
        lines += ["  " * level + "}" for level in reversed(range(depth))]
        return lines

    def _elements(self, node: AscNode, to: str, gm: str) -> list[str]:
        """The scalar unit reads each element: where steps along the innermost axis, or bounds, allow no copy."""
        assert node.access is not None
        axes = self.layouts.axes_of(node)
        lines: list[str] = []
        counted: dict[str, str] = {}
        place = ""
        for depth, axis in enumerate(axes):
            index = self.nest.names.of(f"row {axis.name}", f"{axis.name}_i")
            counted[axis.root] = index
            lines.append(
                "  " * depth + f"for (uint32_t {index} = 0; {index} < {self.layouts.extent(axis)}; ++{index}) {{"
            )
            place = _plus(place, _times(index, self.layouts.step(axes, depth)))
        pad = "  " * len(axes)
        indices = []
        for number, dim in enumerate(node.access.dims):
            name = self.nest.names.of(f"dim {node.name} {number}", f"d{number}")
            lines.append(f"{pad}const af_i64 {name} = {self._index(dim, counted)};")
            indices.append(name)
        terms = [_times(name, self._size(step)) for name, step in zip(indices, strides_of(node.access), strict=True)]
        value = f"{gm}.GetValue(static_cast<uint64_t>({' + '.join(terms) or '0'}))"
        if node.access.bounds is Bounds.FILL:
            fill = node.attr("fill", 0)
            assert isinstance(fill, (bool, int, float))
            sizes = [self._size(size) for size in node.access.memory]
            inside = [f"{name} >= 0 && {name} < {size}" for name, size in zip(indices, sizes, strict=True)]
            value = f"{' && '.join(inside)} ? {value} : {literal(fill, node.dtype)}"
        lines.append(f"{pad}{to}.SetValue({place or '0'}, {value});")
        lines += ["  " * level + "}" for level in reversed(range(len(axes)))]
        return lines

    def _index(self, dim: AccessDim, counted: dict[str, str]) -> str:
        """The index along one dim of the data at the point of the loops."""
        text = "" if dim.offset == const(0) else c_text(dim.offset, self.nest.sizes.__getitem__)
        if dim.axis is None or dim.step == const(0):
            return text or "0"
        point = self.nest.base(dim.axis) or ""
        if dim.axis in counted:
            point = _plus(point, f"static_cast<af_i64>({counted[dim.axis]})")
        return _plus(text, _times(point, self._size(dim.step))) if point else text or "0"

    def _address(self, node: AscNode) -> Address:
        assert node.access is not None
        if not moves_rows(node, self.layouts):
            raise CodegenError(
                "it writes along other than the innermost axis of its data, and copies move whole rows",
                where=f"node {node.name}",
                fix="keep the view out of the kernel",
            )
        return address(node.access)

    def _offset(self, where: Address) -> str:
        """The element at which the tile starts."""
        text = "" if where.constant == const(0) else c_text(where.constant, self.nest.sizes.__getitem__)
        for root, step in where.coefficients:
            base = self.nest.base(root)
            if base is not None:
                text = _plus(text, _times(base, self._size(step)))
        return text

    def _size(self, dim: Dim) -> str:
        return self.nest.size(dim)


def moves_rows(node: AscNode, layouts: Layouts) -> bool:
    """True where the innermost axis of the tile is that of the data: what copies between GM and UB can move.

    Raises ``CodegenError`` for gathers.
    """
    assert node.access is not None
    if node.access.bounds is Bounds.ERROR or any(dim.operand is not None for dim in node.access.dims):
        raise CodegenError(
            "gathers have no form on Ascend yet", where=f"node {node.name}", fix="keep the gather out of the kernel"
        )
    axes = layouts.axes_of(node)
    is_step = not axes or address(node.access).step_along(axes[-1].root) == const(1)
    return is_step and node.access.bounds is Bounds.INSIDE


def elements_of(node: AscNode) -> Dim:
    """Return the number of elements of the data that a Load or Store touches."""
    assert node.access is not None
    return product(node.access.memory) if node.access.memory else const(1)


def _at(tensor: str, offset: str) -> str:
    return f"{tensor}[{offset}]" if offset else tensor


def _times(index: str, step: str) -> str:
    if step == "1":
        return index
    left = f"({index})" if " + " in index or " - " in index else index
    return f"{left} * {step}"


def _plus(text: str, term: str) -> str:
    return f"{text} + {term}" if text else term
