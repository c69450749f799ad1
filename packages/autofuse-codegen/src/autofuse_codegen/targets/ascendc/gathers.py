"""Loads whose place the values of index operands say: rows that copies move, elements that the scalar unit reads."""

from collections.abc import Mapping

from autofuse_ir.asc_graph import AscNode, Bounds
from autofuse_ir.dims import const

from autofuse_codegen.targets.ascendc.boxes import RAISE, BoxWriter
from autofuse_codegen.targets.ascendc.literals import literal
from autofuse_codegen.targets.ascendc.loads import ValueText, fill_value, index_operands
from autofuse_codegen.targets.ascendc.places import dims_of, times


def rows_by_index(writer: BoxWriter, value: ValueText, nodes: Mapping[str, AscNode]) -> BoxWriter:
    """Write one copy for each point of the axes that the indices vary along; rows of two axes where they can."""
    writer.measure()
    axes, layouts = writer.axes, writer.layouts
    indexed = {axis for name in index_operands(writer.node) for axis in layouts.axes_of(nodes[name])}
    inner = axes[-1:] if len(axes) < 2 or axes[-2] in indexed else axes[-2:]
    for axis in axes[: len(axes) - len(inner)]:
        writer.loops.open(axis)
    conditions, terms = _operands(writer, value)
    columns = inner[-1] if inner else None
    writer.copy(
        writer.offset(*terms), [*writer.conditions(), *conditions], columns, inner[-2] if len(inner) > 1 else None
    )
    return writer


def elements(writer: BoxWriter, value: ValueText) -> BoxWriter:
    """The scalar unit reads each element: where steps along the innermost axis, or indices, allow no copy."""
    node, loops = writer.node, writer.loops
    assert node.access is not None
    for axis in writer.axes:
        loops.open(axis)
    inside: list[str] = []
    terms: list[str] = []
    for dim in dims_of(node):
        if dim.access.operand is not None:
            index = loops.operand(dim, value(node.inputs[1 + dim.access.operand], loops.counted))
        else:
            index = loops.index(dim.access)
        name = writer.nest.names.of(f"dim {node.name} {dim.number}", f"{node.name}_d{dim.number}")
        loops.put(f"const af_i64 {name} = {index};")
        inside.append(f"af_is_inside({name}, {writer.nest.size(dim.size)})")
        terms.append(times(name, writer.nest.size(dim.stride)))
    read = f"{writer.gm}.GetValue(static_cast<uint64_t>({' + '.join(terms) or '0'}))"
    place = loops.place(writer.axes) or "0"
    if node.access.bounds is Bounds.INSIDE or not inside:
        loops.put(f"{writer.to}.SetValue({place}, {read});")
        return writer
    holds = writer.nest.names.of(f"holds {node.name}", f"{node.name}_in")
    loops.put(f"const bool {holds} = {' && '.join(inside)};")
    if writer.raises:
        loops.put(f"if (!{holds}) {RAISE}")
    fill = literal(fill_value(node), node.dtype)
    loops.put(f"{writer.to}.SetValue({place}, {holds} ? {read} : {fill});")
    return writer


def _operands(writer: BoxWriter, value: ValueText) -> tuple[list[str], list[str]]:
    """Declare the indices that operands say; return what must hold for them, and their parts of the offset."""
    node = writer.node
    assert node.access is not None
    conditions: list[str] = []
    terms: list[str] = []
    for dim in dims_of(node):
        if dim.access.operand is None:
            continue
        name = writer.nest.names.of(f"dim {node.name} {dim.number}", f"{node.name}_d{dim.number}")
        index = writer.loops.operand(dim, value(node.inputs[1 + dim.access.operand], writer.loops.counted))
        writer.loops.put(f"const af_i64 {name} = {index};")
        if node.access.bounds is not Bounds.INSIDE:
            conditions.append(f"af_is_inside({name}, {writer.nest.size(dim.size)})")
        if dim.stride != const(0):
            terms.append(times(name, writer.nest.size(dim.stride)))
    if not conditions:
        return [], terms
    holds = writer.nest.names.of(f"found {node.name}", f"{node.name}_found")
    writer.loops.put(f"const bool {holds} = {' && '.join(conditions)};")
    if writer.raises:
        writer.loops.put(f"if (!{holds}) {RAISE}")
    return [holds], terms
