"""Scans along an axis of the tile."""

from autofuse_ir.asc_graph import AscNode

from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.operands import Tensor

SCANS = {"CumSum": "false", "CumProd": "true"}
"""Operators, and whether they join by products."""


def scan(node: AscNode, value: Tensor, to: Tensor, layouts: Layouts) -> list[Line]:
    """Return the lines that scan ``value`` along the axis that ``node`` states."""
    axes = layouts.axes_of(node)
    is_exclusive, is_reverse = node.attr("exclusive") is True, node.attr("reverse") is True
    joined = f"{SCANS[node.op]}, {str(is_exclusive).lower()}, {str(is_reverse).lower()}"
    along = next((i for i, axis in enumerate(axes) if axis.root == node.attr("axis")), None)
    count, rows = layouts.count(axes), "af_scan_each" if is_each(to) else "af_scan_rows"
    if along is None:  # a single element
        return [_write(f"{rows}<{joined}>({to.text}, {value.text}, 1, {count});", value, to)]
    if along == len(axes) - 1:
        shape = f"{layouts.rows(axes)}, {layouts.extent(axes[-1])}, {layouts.pitch(axes)}"
        text = f"af_scan_columns<{joined}>({to.text}, {value.text}, {shape}, {SCRATCH});"
        written = () if is_each(to) else (to.memory,)
        return [vector(text, (), written, settles=True)]  # it waits for the vector unit before it reads
    shape = f"{layouts.extent(axes[along])}, {layouts.step(axes, along)}"
    if along == 0:
        return [_write(f"{rows}<{joined}>({to.text}, {value.text}, {shape});", value, to)]
    index, step = layouts.names.of(f"scan {node.name}", "i"), layouts.step(axes, along - 1)
    part = f"[{index} * {step}]"
    line = _write(f"{rows}<{joined}>({to.text}{part}, {value.text}{part}, {shape});", value, to)
    return [
        Line(f"for (uint32_t {index} = 0; {index} < {layouts.points(axes[:along])}; ++{index}) {{", line.reads),
        Line(line.text, line.reads, line.writes, line.settles, 1),
        Line("}"),
    ]


def is_each(to: Tensor) -> bool:
    """True where the scalar unit joins the elements: there is no vector arithmetic of 64 bits."""
    return to.dtype.bits == 64


def _write(text: str, value: Tensor, to: Tensor) -> Line:
    if is_each(to):
        return vector(text, (), (), settles=True)
    return vector(text, {value.memory}, {to.memory})
