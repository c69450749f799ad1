"""Broadcasts along one axis."""

from autofuse_ir.asc_graph import AscNode, Axis

from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.operands import Number, Operand, Tensor

SCRATCH = "scratch"


def broadcast(node: AscNode, source: AscNode, operand: Operand, to: Tensor, layouts: Layouts) -> list[Line]:
    """Return the lines that repeat ``operand``, the value of ``source``, along the axis that ``node`` adds."""
    outer = layouts.axes_of(node)
    inner = layouts.axes_of(source)
    if isinstance(operand, Number):
        return [vector(f"af_fill({to.text}, {operand.text}, {layouts.count(outer)});", (), {to.memory})]
    added = [axis for axis in outer if axis not in inner]
    if not added:  # along a loop: every tile has the same
        text = f"af_copy({to.text}, {operand.text}, {layouts.count(outer)});"
        return [vector(text, {operand.memory}, {to.memory})]
    (axis,) = added
    at = outer.index(axis)
    if at == len(outer) - 1:
        return _columns(node, operand, to, layouts)
    return _rows(node, operand, to, layouts, at)


def _rows(node: AscNode, operand: Tensor, to: Tensor, layouts: Layouts, at: int) -> list[Line]:
    """Everything inside of the new axis is one row."""
    axes = layouts.axes_of(node)
    extent = layouts.extent(axes[at])
    elements = layouts.step(axes, at)
    outside = axes[:at]
    if not outside:
        text = f"af_repeat_row({to.text}, {operand.text}, {extent}, {elements});"
        return [vector(text, {operand.memory}, {to.memory})]
    count = layouts.step(axes, at - 1)
    index = layouts.names.of(f"copy {node.name}", "i")
    text = f"af_repeat_row({to.text}[{index} * {count}], {operand.text}[{index} * {elements}], {extent}, {elements});"
    return _loop(layouts, axes[:at], index, vector(text, {operand.memory}, {to.memory}))


def _columns(node: AscNode, operand: Tensor, to: Tensor, layouts: Layouts) -> list[Line]:
    """Each element becomes a row."""
    axes = layouts.axes_of(node)
    pitch = layouts.pitch(axes)
    column = axes[:-1]
    rows = layouts.extent(column[-1])
    if len(column) == 1:
        return [_spread(operand, to, "", "", f"{rows}, {pitch}")]
    # Rows of the column start at whole blocks: they are taken one by one.
    index = layouts.names.of(f"copy {node.name}", "i")
    target, source = f"[{index} * {rows} * {pitch}]", f"[{index} * {layouts.pitch(column)}]"
    return _loop(layouts, column[:-1], index, _spread(operand, to, target, source, f"{rows}, {pitch}"))


def _spread(operand: Tensor, to: Tensor, target: str, source: str, sizes: str) -> Line:
    places = f"{to.text}{target}, {operand.text}{source}, {sizes}"
    match to.dtype.bits:
        case 8:
            text, reads = f"af_spread_bytes({places}, {SCRATCH});", (operand.memory,)
        case 64:
            return vector(f"af_spread_pairs({places});", (), {to.memory}, settles=True)
        case _:
            room = f"{SCRATCH}.ReinterpretCast<{type_name(to.dtype)}>()"
            text, reads = f"af_spread_words({places}, {room});", (operand.memory,)
    return vector(text, reads, {to.memory}, settles=True)


def _loop(layouts: Layouts, axes: tuple[Axis, ...], index: str, line: Line) -> list[Line]:
    end = layouts.points(axes)
    return [
        Line(f"for (uint32_t {index} = 0; {index} < {end}; ++{index}) {{", line.reads),
        Line(line.text, line.reads, line.writes, line.settles, 1),
        Line("}"),
    ]
