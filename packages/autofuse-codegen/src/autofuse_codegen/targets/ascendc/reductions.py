"""Reductions of a tile, by the tree of `autofuse_ir.reduction`: the same bits as on every other target.

Rows that are joined whole each have a vector of partial results; where whole rows are joined with one another, each
partial result is a row.
"""

import math

from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import Dim, product
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Location, Phase

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Item, Line, vector
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.operands import Tensor

JOINS = {"Sum": "af_join_sum", "Prod": "af_join_prod", "Max": "af_join_max", "Min": "af_join_min"}
VECTOR_BYTES, BLOCK_BYTES = 256, 32


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


def opened_by(impl: ImplGraph, phase: Phase, axis: str) -> list[AscNode]:
    """Return the reductions of ``phase`` that get their elements in the iterations of loop ``axis`` and all inside."""
    nodes = {node.name: node for node in impl.nodes}
    spread = {p.node for p in impl.placements if p.location is Location.WORKSPACE}
    found = []
    for name in (name for segment in phase.segments for name in segment.nodes):
        if nodes[name].op not in REDUCTIONS or name in spread:
            continue
        roots = frozenset(reduced_axes(nodes[name]))
        walking = [loop for loop in phase.loops if loop != phase.block and _roots_of(impl, loop) & roots]
        if walking[:1] == [axis]:
            found.append(nodes[name])
    return found


def _roots_of(impl: ImplGraph, axis: str) -> frozenset[str]:
    """The roots whose index depends on that of ``axis``."""
    if axis in impl.roots:
        return frozenset({axis})
    made = next(each for each in impl.axes if each.name == axis)
    if made.kind is AxisKind.ORIGINAL:
        return frozenset()
    return frozenset().union(*(_roots_of(impl, parent) for parent in made.parents))


def opening(node: AscNode, draft: Draft) -> list[Item]:
    """Return what stands before the first piece of ``node``: its value where no element ever comes."""
    total = _total(node, draft)
    if total.constant_value:
        return []
    empty = 0 if node.op == "Sum" else identity(node.op, node.dtype)
    to = Tensor(draft.tensor(node), node.dtype, draft.memory.memory_of(node.name) or node.name)
    count = draft.layouts.count(draft.layouts.axes_of(node))
    text = f"if ({draft.nest.size(total)} == 0) af_fill({to.text}, {literal(empty, node.dtype)}, {count});"
    return [vector(text, (), {to.memory})]


def reduce(node: AscNode, source: Tensor, to: Tensor, draft: Draft) -> list[Item]:
    """Return the lines that join the elements of this tile of ``source``."""
    layouts = draft.layouts
    axes, kept = layouts.axes_of(draft.nodes[node.inputs[0]]), layouts.axes_of(node)
    reduced = tuple(axis for axis in axes if axis not in kept)
    lines = [] if node.name in draft.opened else opening(node, draft)
    if node.op not in JOINS:
        raise _no_form(node)
    if tree_of(node).partials > 1 and axes == (*kept, *reduced) and len(reduced) == 1:
        return [*lines, *_rows(node, source, to, draft, kept, reduced)]
    raise _no_form(node)


def _no_form(node: AscNode) -> CodegenError:
    return CodegenError(
        f"{node.op} of elements of type {node.dtype.name} has no form on Ascend along these axes",
        where=f"node {node.name}",
        fix="keep the reduction out of the kernel",
    )


def _rows(
    node: AscNode, source: Tensor, to: Tensor, draft: Draft, kept: tuple[Axis, ...], reduced: tuple[Axis, ...]
) -> list[Item]:
    """Each row of reduced elements becomes one result."""
    layouts = draft.layouts
    kind = type_name(node.dtype)
    lanes, block = VECTOR_BYTES // node.dtype.itemsize, BLOCK_BYTES // node.dtype.itemsize
    results = layouts.count(kept)
    partials = draft.partials(node)
    memory = draft.memory.accumulator_of(node.name).buffer.name
    level = f"af_round_up({results}, {block})" if results != "1" else str(block)
    rows = layouts.extent(kept[-1]) if kept else "1"
    pitch = layouts.pitch((*kept, *reduced))
    part = _part(node, draft, reduced)
    places = [to.text, source.text, partials, f"{partials}[{_times(results, lanes)}]"]
    outside = kept[:-1]
    index = ""
    if outside:
        index = layouts.names.of(f"copy {node.name}", "i")
        steps = (layouts.pitch(kept), f"{rows} * {pitch}", f"{layouts.pitch(kept)} * {lanes}")
        places[:3] = [f"{place}[{index} * {step}]" for place, step in zip(places, steps, strict=False)]
        places[3] = f"{partials}[{results} * {lanes} + {index} * {layouts.pitch(kept)}]"
    text = (
        f"af_reduce_rows<{JOINS[node.op]}>({places[0]}, {places[1]}, {rows}, {pitch}, {part}, {tree_of(node).leaf}, "
        f"{literal(identity(node.op, node.dtype), node.dtype)}, {places[2]}, {places[3]}, {level}, "
        f"{SCRATCH}.ReinterpretCast<{kind}>());"
    )
    line = vector(text, (), {to.memory, memory}, settles=True)
    if not outside:
        return [line]
    head = f"for (uint32_t {index} = 0; {index} < {layouts.points(outside)}; ++{index}) {{"
    return [Line(head), Line(line.text, line.reads, line.writes, line.settles, 1), Line("}")]


def _part(node: AscNode, draft: Draft, reduced: tuple[Axis, ...]) -> str:
    """Where the elements of this tile stand among all that the node joins."""
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    roots = reduced_axes(node)
    terms = []
    for position, root in enumerate(roots):
        base = draft.nest.base(root)
        if base is None:
            continue
        inside = product(sizes[name] for name in roots[position + 1 :])
        terms.append(base if position + 1 == len(roots) else f"({base}) * {draft.nest.size(inside)}")
    start, total = " + ".join(terms) or "0", draft.nest.size(_total(node, draft))
    return f"af_part{{{start}, {draft.layouts.points(reduced)}, {total}}}"


def _total(node: AscNode, draft: Draft) -> Dim:
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    return product(sizes[name] for name in reduced_axes(node))


def _times(text: str, factor: int) -> str:
    return str(factor) if text == "1" else f"{text} * {factor}"
