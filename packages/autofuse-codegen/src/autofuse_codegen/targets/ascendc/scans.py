"""Scans along an axis of the tile, which may have a piece of it."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.operands import Tensor

SCANS = {"CumSum": "false", "CumProd": "true"}
"""Operators, and whether they join by products."""


@frozen
class Running:
    """What the lines of a scan have come to: ``tensor`` in ``memory``; ``is_first`` says that nothing came before."""

    tensor: str
    memory: str
    is_first: str

    def at(self, place: str) -> str:
        """Return the argument for the lines from element ``place`` on ("": the first)."""
        return f", {{{self.tensor}{f'[{place}]' if place else ''}, {self.is_first}, true}}"


def scan(node: AscNode, value: Tensor, to: Tensor, draft: Draft) -> list[Line]:
    """Return the lines that scan ``value`` along the axis that ``node`` states."""
    layouts, running = draft.layouts, _running(node, draft)
    axes = layouts.axes_of(node)
    is_exclusive, is_reverse = node.attr("exclusive") is True, node.attr("reverse") is True
    joined = f"{SCANS[node.op]}, {str(is_exclusive).lower()}, {str(is_reverse).lower()}"
    along = next((i for i, axis in enumerate(axes) if axis.root == node.attr("axis")), None)
    count, rows = layouts.count(axes), "af_scan_each" if is_each(to) else "af_scan_rows"
    more = "" if running is None else running.at("")
    if along is None:  # a single element
        return [_write(f"{rows}<{joined}>({to.text}, {value.text}, 1, {count}{more});", value, to, running)]
    if along == len(axes) - 1:
        shape = f"{layouts.rows(axes)}, {layouts.extent(axes[-1])}, {layouts.pitch(axes)}"
        text = f"af_scan_columns<{joined}>({to.text}, {value.text}, {shape}, {SCRATCH}{more});"
        written = () if is_each(to) else (to.memory, *_memory(running))
        return [vector(text, (), written, settles=True)]  # it waits for the vector unit before it reads
    shape = f"{layouts.extent(axes[along])}, {layouts.step(axes, along)}"
    if along == 0:
        return [_write(f"{rows}<{joined}>({to.text}, {value.text}, {shape}{more});", value, to, running)]
    index, step = layouts.names.of(f"scan {node.name}", "i"), layouts.step(axes, along - 1)
    part = f"[{index} * {step}]"
    more = "" if running is None else running.at(f"{index} * {layouts.step(axes, along)}")
    line = _write(f"{rows}<{joined}>({to.text}{part}, {value.text}{part}, {shape}{more});", value, to, running)
    return [
        Line(f"for (uint32_t {index} = 0; {index} < {layouts.points(axes[:along])}; ++{index}) {{", line.reads),
        Line(line.text, line.reads, line.writes, line.settles, 1),
        Line("}"),
    ]


def _running(node: AscNode, draft: Draft) -> Running | None:
    """What the lines have come to in earlier tiles; None where each tile has all of them."""
    if not draft.memory.has_accumulator(node.name):
        return None
    layouts, root = draft.layouts, str(node.attr("axis"))
    axes = {axis.root: axis for axis in layouts.axes_of(node)}
    start = draft.nest.base(root) or "0"
    first = f"{start} == 0"
    if node.attr("reverse") is True:
        size = draft.nest.size(draft.nest.axes[root].size)
        extent = layouts.extent(axes[root]) if root in axes else "1"
        first = f"{start} + {extent} == {size}"
    return Running(draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name, first)


def is_each(to: Tensor) -> bool:
    """True where the scalar unit joins the elements: there is no vector arithmetic of 64 bits."""
    return to.dtype.bits == 64


def _memory(running: Running | None) -> tuple[str, ...]:
    return () if running is None else (running.memory,)


def _write(text: str, value: Tensor, to: Tensor, running: Running | None) -> Line:
    if is_each(to):
        return vector(text, (), (), settles=True)
    return vector(text, {value.memory, *_memory(running)}, {to.memory, *_memory(running)})
