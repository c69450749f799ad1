"""Loads and stores of a tile as copies of rows between GM and UB."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis, Bounds
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.dims_c import c_text

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.cpu.access import Address, address


@frozen
class Transfers:
    """Writes copies; ``gm`` names of global tensors by the ``Data`` or ``Output`` node."""

    nest: Nest
    layouts: Layouts

    def load(self, node: AscNode, to: str, gm: str) -> list[str]:
        """Return the lines that copy a tile into tensor ``to``."""
        return self._rows(node, lambda at, offset, rest: f"af_load({_at(to, at)}, {gm}, {offset}, {rest});")

    def store(self, node: AscNode, gm: str, source: str) -> list[str]:
        """Return the lines that copy tensor ``source`` out."""
        return self._rows(node, lambda at, offset, rest: f"af_store({gm}, {offset}, {_at(source, at)}, {rest});")

    def _rows(self, node: AscNode, call) -> list[str]:  # type: ignore[no-untyped-def]
        where = self._address(node)
        axes = self.layouts.axes_of(node)
        lines: list[str] = []
        local, offset = "", self._offset(where, node)
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

    def _address(self, node: AscNode) -> Address:
        assert node.access is not None
        if node.access.bounds is not Bounds.INSIDE or len(node.inputs) > 1:
            raise CodegenError(
                "loads outside of their data, and gathers, have no form on Ascend yet",
                where=f"node {node.name}",
                fix="keep the view out of the kernel",
            )
        where = address(node.access)
        axes = self.layouts.axes_of(node)
        if axes and where.step_along(axes[-1].root) != const(1):
            raise CodegenError(
                f"it steps by {where.step_along(axes[-1].root)} elements along its innermost axis {axes[-1].root}, and "
                "copies move whole rows",
                where=f"node {node.name}",
                fix="keep the view out of the kernel",
            )
        return where

    def _offset(self, where: Address, node: AscNode) -> str:
        """The element at which the tile starts."""
        text = "" if where.constant == const(0) else c_text(where.constant, self.nest.sizes.__getitem__)
        for root, step in where.coefficients:
            base = self.nest.base(root)
            if base is not None:
                text = _plus(text, _times(base, self._size(step)))
        del node
        return text

    def _size(self, dim: Dim) -> str:
        return self.nest.size(dim)


def elements_of(node: AscNode) -> Dim:
    """Return the number of elements of the data that a Load or Store touches."""
    assert node.access is not None
    return product(node.access.memory) if node.access.memory else const(1)


def axis_sizes(axes: tuple[Axis, ...]) -> Dim:
    """Return the points of ``axes`` together."""
    return product(axis.size for axis in axes)


def _at(tensor: str, offset: str) -> str:
    return f"{tensor}[{offset}]" if offset else tensor


def _times(index: str, step: str) -> str:
    if step == "1":
        return index
    left = f"({index})" if " + " in index or " - " in index else index
    return f"{left} * {step}"


def _plus(text: str, term: str) -> str:
    return f"{text} + {term}" if text else term
