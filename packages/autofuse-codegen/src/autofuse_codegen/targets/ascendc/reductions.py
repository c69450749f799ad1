"""Reductions of a tile, by the tree of `autofuse_ir.reduction`: the same bits as on every other target."""

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import ceildiv, const
from autofuse_ir.loops import walked_roots
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Location, Phase

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Item, vector
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.operands import Tensor
from autofuse_codegen.targets.ascendc.reduction_forms import JOINS, by_lines, by_rows, by_whole_rows, identity
from autofuse_codegen.targets.ascendc.reduction_places import (
    at_offset,
    is_spread,
    leaves_in,
    level_of,
    repeated,
    total_of,
)
from autofuse_codegen.targets.ascendc.reductions_by_elements import JOINS_EACH, identity_of_integers, reduce_by_elements


def opened_by(impl: ImplGraph, phase: Phase, axis: str) -> list[AscNode]:
    """Return the reductions of ``phase`` that get their elements in the iterations of loop ``axis`` and all inside."""
    nodes = {node.name: node for node in impl.nodes}
    spread = {p.node for p in impl.placements if p.location is Location.WORKSPACE}
    found = []
    for name in (name for segment in phase.segments for name in segment.nodes):
        if nodes[name].op not in REDUCTIONS or name in spread:
            continue
        roots = frozenset(reduced_axes(nodes[name]))
        walking = [
            loop for loop in phase.loops if loop != phase.block and walked_roots(loop, impl.axes, impl.roots) & roots
        ]
        if walking[:1] == [axis]:
            found.append(nodes[name])
    return found


def opening(node: AscNode, draft: Draft) -> list[Item]:
    """Return what stands before the first piece of ``node``: its value where no element ever comes."""
    return [] if is_spread(node, draft) else _empty(node, node, draft)


def _empty(node: AscNode, reduction: AscNode, draft: Draft) -> list[Item]:
    """What gives ``node`` the value of a reduction of nothing, where there may be nothing."""
    total = total_of(reduction, draft)
    if total.constant_value:
        return []
    known = identity_of_integers if node.dtype.is_integer else identity
    empty = 0 if reduction.op == "Sum" else known(reduction.op, node.dtype)
    to = Tensor(draft.tensor(node), node.dtype, draft.memory.memory_of(node.name) or node.name)
    count = draft.layouts.count(draft.layouts.axes_of(node))
    text = f"if ({draft.nest.size(total)} == 0) af_fill({to.text}, {literal(empty, node.dtype)}, {count});"
    return [vector(text, (), {to.memory})]


def reduce(node: AscNode, source: Tensor, draft: Draft) -> list[Item]:
    """Return the lines that join the elements of this tile of ``source``."""
    layouts = draft.layouts
    axes, kept = layouts.axes_of(draft.nodes[node.inputs[0]]), layouts.axes_of(node)
    reduced = tuple(axis for axis in axes if axis not in kept)
    lines = [] if node.name in draft.opened else opening(node, draft)
    if node.dtype.bits == 64:
        dense = (layouts.extent(kept[-1]) if kept else "1", layouts.rows(kept), layouts.pitch(kept) if kept else "1")
        leaves = leaves_in(node, node, draft, "", dense) if is_spread(node, draft) else None
        return [*lines, *reduce_by_elements(node, source, leaves, draft)]
    if node.op not in JOINS:
        raise _no_form(node)
    if axes and axes[-1:] == kept[-1:]:
        return [*lines, *by_whole_rows(node, source, draft, axes, kept)]
    is_one_row = axes == (*kept, *reduced) and len(reduced_axes(node)) == 1
    if not axes or (tree_of(node).partials > 1 and is_one_row):
        return [*lines, *by_rows(node, source, draft, kept, reduced)]
    return [*lines, *by_lines(node, source, draft, axes, kept)]


def join(node: AscNode, draft: Draft) -> list[Item]:
    """Return the lines that join the results of the leaves of the reduction that ``node`` reads."""
    reduction = draft.nodes[node.inputs[0]]
    layouts, kept = draft.layouts, draft.layouts.axes_of(node)
    to = Tensor(draft.tensor(node), node.dtype, draft.memory.memory_of(node.name) or node.name)
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    outside = kept[:-1]
    index = layouts.names.of(f"copy {node.name}", "i")
    row = layouts.pitch(kept) if outside else ""
    at = f"{index} * {row}" if outside else ""
    level = level_of(node, draft)
    sink = f"af_stack<{type_name(node.dtype)}>{{{at_offset(to.text, at)}, {at_offset(partials, at)}, {level}}}"
    inner = next((axis.size for axis in draft.impl.axes if kept and axis.name == kept[-1].root), const(1))
    first = f"static_cast<af_i64>({index}) * {draft.nest.size(inner)}" if outside else ""
    count = layouts.extent(kept[-1]) if kept else "1"
    leaves = leaves_in(reduction, node, draft, first, (count, "1", count))
    queue = draft.memory.staging
    number = draft.nest.size(ceildiv(total_of(reduction, draft), const(tree_of(reduction).leaf)))
    text = f"af_join_leaves<{_joins(reduction)}>({sink}, {leaves}, {number}, {queue.name}, t->{queue.size_field});"
    line = vector(text, (), {to.memory, memory})
    return [*_empty(node, reduction, draft), *repeated(line, index, outside, draft)]


def _joins(node: AscNode) -> str:
    return (JOINS_EACH if node.dtype.bits == 64 else JOINS)[node.op]


def _no_form(node: AscNode) -> CodegenError:
    return CodegenError(
        f"{node.op} of elements of type {node.dtype.name} has no form on Ascend along these axes",
        where=f"node {node.name}",
        fix="keep the reduction out of the kernel",
    )
