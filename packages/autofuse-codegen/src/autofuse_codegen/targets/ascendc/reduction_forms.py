"""Forms of reductions, by how the elements of a tile lie: in rows, in rows that become one, or in lines with gaps.

Each row has a vector of partial results; where whole rows are joined with one another, a partial result is a row.
"""

import math

from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import tree_of

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Item, Line, vector
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.operands import Tensor
from autofuse_codegen.targets.ascendc.reduction_places import (
    around_of,
    at_offset,
    level_of,
    looped,
    part_of,
    sink_of,
    times,
    total_of,
)
from autofuse_codegen.targets.ascendc.vector_unit import VECTOR_BYTES

JOINS = {"Sum": "af_join_sum", "Prod": "af_join_prod", "Max": "af_join_max", "Min": "af_join_min"}


def by_rows(
    node: AscNode, source: Tensor, draft: Draft, kept: tuple[Axis, ...], reduced: tuple[Axis, ...]
) -> list[Item]:
    """Return the lines for rows of reduced elements: each becomes one result."""
    layouts = draft.layouts
    kind, lanes = type_name(node.dtype), VECTOR_BYTES // node.dtype.itemsize
    rows = layouts.extent(kept[-1]) if kept else "1"
    pitch = layouts.pitch((*kept, *reduced)) if kept or reduced else "1"
    around = around_of(node, draft, (*kept, *reduced), kept, len(kept[:-1]))
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    sink, written = sink_of(
        node, draft, around, times(layouts.points(kept), lanes), (rows, "1", rows), level_of(node, draft)
    )
    mine = f"({around.dense}) * {lanes}" if around.dense else ""
    text = (
        f"af_reduce_rows<{JOINS[node.op]}>({sink}, {at_offset(source.text, around.source)}, {rows}, {pitch}, "
        f"{part_of(node, draft, reduced)}, {tree_of(node).leaf}, {_identity(node)}, {at_offset(partials, mine)}, "
        f"{SCRATCH}.ReinterpretCast<{kind}>());"
    )
    return looped(_joined(text, {*written, memory}, node, draft), around, draft)


def by_whole_rows(
    node: AscNode, source: Tensor, draft: Draft, axes: tuple[Axis, ...], kept: tuple[Axis, ...]
) -> list[Item]:
    """Return the lines for whole rows along the innermost axes, which are kept: they are joined with one another."""
    layouts, tree = draft.layouts, tree_of(node)
    inside = next((i for i in range(len(axes)) if axes[i:] == kept[len(kept) - len(axes) + i :]), len(axes))
    # Around the rows that lie one behind the other there may be more axes, kept ones and reduced ones.
    around = around_of(node, draft, axes, kept, max(0, inside - 1))
    suffix = axes[inside:]
    elements = layouts.step(axes, inside - 1) if inside else layouts.count(axes)
    count = layouts.extent(axes[inside - 1]) if inside else "1"
    results = layouts.count(kept) if len(kept) > 1 else layouts.pitch((axes[0], kept[-1]))
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    shape = (layouts.extent(suffix[-1]), layouts.rows(suffix), layouts.pitch((axes[0], suffix[-1])))
    sink, written = sink_of(node, draft, around, times(results, tree.partials), shape, results)
    function, width, step = "af_reduce_down", "", ""
    if tree.partials > 1:
        function, width, step = "af_reduce_across", f"{tree.partials}, ", f", {results}"
    text = (
        f"{function}<{JOINS[node.op]}>({sink}, {at_offset(source.text, around.source)}, {elements}, "
        f"af_part{{{around.start}, {count}, {draft.nest.size(total_of(node, draft))}}}, {tree.leaf}, {width}"
        f"{_identity(node)}, {at_offset(partials, around.result)}{step});"
    )
    return looped(_joined(text, {*written, memory}, node, draft), around, draft)


def by_lines(node: AscNode, source: Tensor, draft: Draft, axes: tuple[Axis, ...], kept: tuple[Axis, ...]) -> list[Item]:
    """Return the lines for elements along the innermost axes, which are reduced, of results along a kept one."""
    layouts, tree = draft.layouts, tree_of(node)
    lanes = tree.partials if tree.partials == 1 else VECTOR_BYTES // node.dtype.itemsize
    at = axes.index(kept[-1]) if kept else -1
    around = around_of(node, draft, axes, kept, max(at, 0))
    block = axes[at + 1 :]
    rows, stride = (layouts.extent(axes[at]), layouts.step(axes, at)) if kept else ("1", layouts.count(axes))
    shape = f"{rows}, {stride}, {layouts.points(block[:-1])}, {layouts.extent(block[-1])}, {layouts.pitch(axes)}"
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    held = times(layouts.points(kept), lanes) if lanes > 1 else level_of(node, draft)
    sink, written = sink_of(node, draft, around, held, (rows, "1", rows), level_of(node, draft))
    scratch = draft.memory.scratch
    assert scratch is not None, "reductions work in scratch"
    function = "af_reduce_lines" if lanes > 1 else "af_reduce_one_by_one"
    mine = f"({around.dense}) * {lanes}" if around.dense and lanes > 1 else around.result
    text = (
        f"{function}<{JOINS[node.op]}>({sink}, {at_offset(source.text, around.source)}, {shape}, "
        f"{around.start}, {draft.nest.size(total_of(node, draft))}, {tree.leaf}, {_identity(node)}, "
        f"{at_offset(partials, mine)}, {SCRATCH}{f', t->{scratch.size_field}' if lanes > 1 else ''});"
    )
    return looped(_joined(text, {*written, memory, SCRATCH}, node, draft), around, draft)


def _joined(text: str, writes: set[str], node: AscNode, draft: Draft) -> Line:
    """A line that waits for the vector unit before it reads what it joins, if that is anything."""
    return vector(text, (), writes, settles=bool(total_of(node, draft).constant_value))


def _identity(node: AscNode) -> str:
    return literal(identity(node.op, node.dtype), node.dtype)


def identity(op: str, dtype: DType) -> bool | int | float:
    """Return what changes no element that it is joined with."""
    match op:
        case "Sum":
            return -0.0 if dtype.is_float else 0
        case "Prod":
            return 1
        case _ if dtype.is_float:
            return -math.inf if op == "Max" else math.inf
        case _:
            low = -(1 << dtype.bits - 1)
            return low if op == "Max" else -low - 1
