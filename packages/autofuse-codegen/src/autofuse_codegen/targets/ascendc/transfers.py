"""Loads and stores of a tile between GM and UB."""

from collections.abc import Mapping

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const, product

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.boxes import BoxWriter, box
from autofuse_codegen.targets.ascendc.gathers import elements, rows_by_index, waited_for
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import Line
from autofuse_codegen.targets.ascendc.loads import LoadForm, RowText, ValueText, load_form, moves_rows
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.places import at
from autofuse_codegen.targets.ascendc.staged import staged


@frozen
class Transfers:
    """Writes loads and stores.

    ``nodes`` are those of the kernel by name; ``value`` is the text of an index at a point, ``row`` that of a row.
    """

    nest: Nest
    layouts: Layouts
    nodes: Mapping[str, AscNode]
    value: ValueText
    row: RowText

    def load(self, node: AscNode, to: str, memory: str, gm: str) -> list[Line]:
        """Return the lines that get a tile of global tensor ``gm`` into tensor ``to``, which lies in ``memory``."""
        writer = BoxWriter(node, to, memory, gm, self.nest, self.layouts)
        match load_form(node, self.nodes, self.layouts):
            case LoadForm.ROWS | LoadForm.BOX:
                box(writer)
            case LoadForm.ROW_BY_INDEX:
                rows_by_index(writer, self.value, self.nodes)
            case LoadForm.STAGED:
                staged(writer)
            case LoadForm.ELEMENTS:
                elements(writer, self.value, self.row)
        return waited_for(writer.loops.close())

    def store(self, node: AscNode, gm: str, source: str) -> list[Line]:
        """Return the lines that copy tensor ``source`` out."""
        if not moves_rows(node, self.layouts):
            raise CodegenError(
                "it writes along other than the innermost axis of its data, and copies move whole rows",
                where=f"node {node.name}",
                fix="keep the view out of the kernel",
            )
        writer = BoxWriter(node, source, "", gm, self.nest, self.layouts)
        axes = writer.axes
        for axis in axes[:-2]:
            writer.loops.open(axis)
        shape = writer.shape(axes[-1] if axes else None, axes[-2] if len(axes) > 1 else None)
        part = at(source, writer.loops.place(axes))
        writer.loops.put(f"af_store({gm}, {writer.offset()}, {part}, {shape});")
        return writer.loops.close()


def elements_of(node: AscNode) -> Dim:
    """Return the number of elements of the data that a Load or Store touches."""
    assert node.access is not None
    return product(node.access.memory) if node.access.memory else const(1)
