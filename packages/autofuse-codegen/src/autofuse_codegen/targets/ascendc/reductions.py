"""Reductions of a tile, by the tree of `autofuse_ir.reduction`: the same bits as on every other target.

Rows that are joined whole each have a vector of partial results; where whole rows are joined with one another, each
partial result is a row.
"""

import math

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis, AxisKind
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import Dim, ceildiv, const, product
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import reduced_axes, tree_of
from autofuse_ir.schedule import ImplGraph, Location, Phase

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Item, Line, vector
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.operands import Tensor
from autofuse_codegen.targets.ascendc.reductions_by_elements import JOINS_EACH, identity_of_integers, reduce_by_elements

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
    return [] if is_spread(node, draft) else _empty(node, node, draft)


def _empty(node: AscNode, reduction: AscNode, draft: Draft) -> list[Item]:
    """What gives ``node`` the value of a reduction of nothing, where there may be nothing."""
    total = _total(reduction, draft)
    if total.constant_value:
        return []
    known = identity_of_integers if node.dtype.is_integer else identity
    empty = 0 if reduction.op == "Sum" else known(reduction.op, node.dtype)
    to = Tensor(draft.tensor(node), node.dtype, draft.memory.memory_of(node.name) or node.name)
    count = draft.layouts.count(draft.layouts.axes_of(node))
    text = f"if ({draft.nest.size(total)} == 0) af_fill({to.text}, {literal(empty, node.dtype)}, {count});"
    return [vector(text, (), {to.memory})]


def is_spread(node: AscNode, draft: Draft) -> bool:
    """True for a reduction whose leaves blocks share."""
    return node.op in REDUCTIONS and draft.memory.leaves_of(node.name) is not None


def reduce(node: AscNode, source: Tensor, draft: Draft) -> list[Item]:
    """Return the lines that join the elements of this tile of ``source``."""
    layouts = draft.layouts
    axes, kept = layouts.axes_of(draft.nodes[node.inputs[0]]), layouts.axes_of(node)
    reduced = tuple(axis for axis in axes if axis not in kept)
    lines = [] if node.name in draft.opened else opening(node, draft)
    if node.dtype.bits == 64:
        dense = (layouts.extent(kept[-1]) if kept else "1", layouts.rows(kept), layouts.pitch(kept) if kept else "1")
        leaves = _leaves(node, node, draft, "", dense) if is_spread(node, draft) else None
        return [*lines, *reduce_by_elements(node, source, leaves, draft)]
    if node.op not in JOINS:
        raise _no_form(node)
    if axes[-1:] == kept[-1:]:
        return [*lines, *_down(node, source, draft, axes, kept)]
    if tree_of(node).partials > 1 and axes == (*kept, *reduced) and len(reduced_axes(node)) == 1:
        return [*lines, *_rows(node, source, draft, kept, reduced)]
    return [*lines, *_lines(node, source, draft, axes, kept)]


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
    level = _level(node, draft)
    sink = f"af_stack<{type_name(node.dtype)}>{{{_at(to.text, at)}, {_at(partials, at)}, {level}}}"
    first = f"{index} * {layouts.extent(kept[-1])}" if outside else ""
    count = layouts.extent(kept[-1]) if kept else "1"
    leaves = _leaves(reduction, node, draft, first, (count, "1", count))
    queue = draft.memory.staging
    number = draft.nest.size(ceildiv(_total(reduction, draft), const(tree_of(reduction).leaf)))
    text = f"af_join_leaves<{_joins(reduction)}>({sink}, {leaves}, {number}, {queue.name}, t->{queue.size_field});"
    line = vector(text, (), {to.memory, memory})
    return [*_empty(node, reduction, draft), *_repeated(line, index, outside, draft)]


def _joins(node: AscNode) -> str:
    return (JOINS_EACH if node.dtype.bits == 64 else JOINS)[node.op]


def _leaves(reduction: AscNode, node: AscNode, draft: Draft, first: str, shape: tuple[str, str, str]) -> str:
    """The results of leaves in global memory: of a tile, from element ``first``, ``shape`` (columns, rows, pitch)."""
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    kept = [root for root in draft.impl.roots if reduction.repeats[draft.impl.roots.index(root)] != const(1)]
    base = first
    for position, root in enumerate(kept):
        start = draft.nest.base(root)
        if start is not None:
            inside = product(sizes[name] for name in kept[position + 1 :])
            base = _plus(base, start if inside == const(1) else f"({start}) * {draft.nest.size(inside)}")
    step = draft.nest.size(product(sizes[name] for name in kept))
    return f"af_leaves<{type_name(node.dtype)}>{{{draft.leaves(reduction)}, {base or '0'}, {step}, {', '.join(shape)}}}"


def _level(node: AscNode, draft: Draft) -> str:
    """How far the levels of the stack of ``node`` are apart."""
    kept, block = draft.layouts.axes_of(node), BLOCK_BYTES // node.dtype.itemsize
    results = draft.layouts.count(kept)
    return f"af_round_up({results}, {block})" if kept else str(block)


def _repeated(line: Line, index: str, axes: tuple[Axis, ...], draft: Draft) -> list[Item]:
    """``line`` for each point of ``axes``, counted by ``index``."""
    if not axes:
        return [line]
    head = f"for (uint32_t {index} = 0; {index} < {draft.layouts.points(axes)}; ++{index}) {{"
    return [Line(head, line.reads), Line(line.text, line.reads, line.writes, line.settles, 1), Line("}")]


def _no_form(node: AscNode) -> CodegenError:
    return CodegenError(
        f"{node.op} of elements of type {node.dtype.name} has no form on Ascend along these axes",
        where=f"node {node.name}",
        fix="keep the reduction out of the kernel",
    )


@frozen
class _Around:
    """Loops around what one call joins; offsets of its source, and of its results in UB and in global memory.

    ``start`` is the number of its first element among those that are joined.
    """

    axes: tuple[Axis, ...]
    indices: tuple[str, ...]
    source: str
    result: str
    dense: str
    start: str


def _around(node: AscNode, draft: Draft, axes: tuple[Axis, ...], kept: tuple[Axis, ...], number: int) -> _Around:
    """The first ``number`` of ``axes`` as loops."""
    layouts = draft.layouts
    source, result, dense, start = "", "", "", _start(node, draft)
    indices = []
    for position, axis in enumerate(axes[:number]):
        index = layouts.names.of(f"copy {node.name} {axis.name}", f"{axis.name}_i")
        indices.append(index)
        source = _plus(source, f"{index} * {layouts.step(axes, position)}")
        if axis in kept:
            at = kept.index(axis)
            result = _plus(result, f"{index} * {layouts.step(kept, at)}")
            dense = _plus(dense, f"{index} * {layouts.points(kept[at + 1 :])}")
        else:
            start = _plus(start, _number(node, draft, axis, index))
    return _Around(axes[:number], tuple(indices), source, result, dense, start or "0")


def _looped(line: Line, around: _Around, draft: Draft) -> list[Item]:
    """``line`` in the loops of ``around``."""
    lines: list[Item] = []
    for depth, (axis, index) in enumerate(zip(around.axes, around.indices, strict=True)):
        head = f"for (uint32_t {index} = 0; {index} < {draft.layouts.extent(axis)}; ++{index}) {{"
        lines.append(Line(head, line.reads if depth == 0 else frozenset(), depth=depth))
    lines.append(Line(line.text, line.reads, line.writes, line.settles, len(around.axes)))
    return [*lines, *(Line("}", depth=depth) for depth in reversed(range(len(around.axes))))]


def _rows(node: AscNode, source: Tensor, draft: Draft, kept: tuple[Axis, ...], reduced: tuple[Axis, ...]) -> list[Item]:
    """Each row of reduced elements becomes one result."""
    layouts = draft.layouts
    kind, lanes = type_name(node.dtype), VECTOR_BYTES // node.dtype.itemsize
    rows = layouts.extent(kept[-1]) if kept else "1"
    pitch = layouts.pitch((*kept, *reduced))
    around = _around(node, draft, (*kept, *reduced), kept, len(kept[:-1]))
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    sink, written = _sink(
        node, draft, around, _times(layouts.points(kept), lanes), (rows, "1", rows), _level(node, draft)
    )
    mine = f"({around.dense}) * {lanes}" if around.dense else ""
    text = (
        f"af_reduce_rows<{JOINS[node.op]}>({sink}, {_at(source.text, around.source)}, {rows}, {pitch}, "
        f"{_part(node, draft, reduced)}, {tree_of(node).leaf}, {_identity(node)}, {_at(partials, mine)}, "
        f"{SCRATCH}.ReinterpretCast<{kind}>());"
    )
    return _looped(_joined(text, {*written, memory}, node, draft), around, draft)


def _joined(text: str, writes: set[str], node: AscNode, draft: Draft) -> Line:
    """A line that waits for the vector unit before it reads what it joins, if that is anything."""
    return vector(text, (), writes, settles=bool(_total(node, draft).constant_value))


def _sink(
    node: AscNode, draft: Draft, around: _Around, partials: str, shape: tuple[str, str, str], level: str
) -> tuple[str, tuple[str, ...]]:
    """Where values of leaves go, and which memory that is.

    ``partials`` is the number of elements of all partial results, behind which the stack lies, its levels ``level``
    apart; ``shape`` as above.
    """
    if is_spread(node, draft):
        return _leaves(node, node, draft, around.dense, shape), ()
    to = draft.tensor(node)
    stack = f"{draft.partials(node)}[{_plus(partials, around.result)}]"
    text = f"af_stack<{type_name(node.dtype)}>{{{_at(to, around.result)}, {stack}, {level}}}"
    return text, (draft.memory.memory_of(node.name) or node.name,)


def _identity(node: AscNode) -> str:
    return literal(identity(node.op, node.dtype), node.dtype)


def _down(node: AscNode, source: Tensor, draft: Draft, axes: tuple[Axis, ...], kept: tuple[Axis, ...]) -> list[Item]:
    """Whole rows along the innermost axes, which are kept, are joined with one another."""
    layouts, tree = draft.layouts, tree_of(node)
    inside = next((i for i in range(len(axes)) if axes[i:] == kept[len(kept) - len(axes) + i :]), len(axes))
    # Around the rows that lie one behind the other there may be more axes, kept ones and reduced ones.
    around = _around(node, draft, axes, kept, max(0, inside - 1))
    suffix = axes[inside:]
    elements = layouts.step(axes, inside - 1) if inside else layouts.count(axes)
    count = layouts.extent(axes[inside - 1]) if inside else "1"
    results = layouts.count(kept) if len(kept) > 1 else layouts.pitch((axes[0], kept[-1]))
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    shape = (layouts.extent(suffix[-1]), layouts.rows(suffix), layouts.pitch((axes[0], suffix[-1])))
    sink, written = _sink(node, draft, around, _times(results, tree.partials), shape, results)
    function, width, step = "af_reduce_down", "", ""
    if tree.partials > 1:
        function, width, step = "af_reduce_across", f"{tree.partials}, ", f", {results}"
    text = (
        f"{function}<{JOINS[node.op]}>({sink}, {_at(source.text, around.source)}, {elements}, "
        f"af_part{{{around.start}, {count}, {draft.nest.size(_total(node, draft))}}}, {tree.leaf}, {width}"
        f"{_identity(node)}, {_at(partials, around.result)}{step});"
    )
    return _looped(_joined(text, {*written, memory}, node, draft), around, draft)


def _lines(node: AscNode, source: Tensor, draft: Draft, axes: tuple[Axis, ...], kept: tuple[Axis, ...]) -> list[Item]:
    """Elements along the innermost axes, which are reduced, of all results along the last kept axis."""
    layouts, tree = draft.layouts, tree_of(node)
    lanes = tree.partials if tree.partials == 1 else VECTOR_BYTES // node.dtype.itemsize
    at = axes.index(kept[-1]) if kept else -1
    around = _around(node, draft, axes, kept, max(at, 0))
    block = axes[at + 1 :]
    rows, stride = (layouts.extent(axes[at]), layouts.step(axes, at)) if kept else ("1", layouts.count(axes))
    shape = f"{rows}, {stride}, {layouts.points(block[:-1])}, {layouts.extent(block[-1])}, {layouts.pitch(axes)}"
    partials, memory = draft.partials(node), draft.memory.accumulator_of(node.name).buffer.name
    held = _times(layouts.points(kept), lanes) if lanes > 1 else _level(node, draft)
    sink, written = _sink(node, draft, around, held, (rows, "1", rows), _level(node, draft))
    scratch = draft.memory.scratch
    assert scratch is not None, "reductions work in scratch"
    function = "af_reduce_lines" if lanes > 1 else "af_reduce_one_by_one"
    mine = f"({around.dense}) * {lanes}" if around.dense and lanes > 1 else around.result
    text = (
        f"{function}<{JOINS[node.op]}>({sink}, {_at(source.text, around.source)}, {shape}, "
        f"{around.start}, {draft.nest.size(_total(node, draft))}, {tree.leaf}, {_identity(node)}, "
        f"{_at(partials, mine)}, {SCRATCH}{f', t->{scratch.size_field}' if lanes > 1 else ''});"
    )
    return _looped(_joined(text, {*written, memory, SCRATCH}, node, draft), around, draft)


def _part(node: AscNode, draft: Draft, reduced: tuple[Axis, ...]) -> str:
    """Where the elements of this tile stand among all that the node joins."""
    total = draft.nest.size(_total(node, draft))
    return f"af_part{{{_start(node, draft) or '0'}, {draft.layouts.points(reduced)}, {total}}}"


def _start(node: AscNode, draft: Draft) -> str:
    """The number of the first element of the tile."""
    text = ""
    for root in reduced_axes(node):
        base = draft.nest.base(root)
        if base is not None:
            inside = _inside(node, draft, root)
            text = _plus(text, base if inside == const(1) else f"({base}) * {draft.nest.size(inside)}")
    return text


def _number(node: AscNode, draft: Draft, axis: Axis, index: str) -> str:
    """How far one step along ``axis``, a reduced one, goes in the numbers of elements, times ``index``."""
    inside = _inside(node, draft, axis.root)
    return f"static_cast<af_i64>({index})" + ("" if inside == const(1) else f" * {draft.nest.size(inside)}")


def _inside(node: AscNode, draft: Draft, root: str) -> Dim:
    """The number of elements that one step along ``root`` passes."""
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    roots = reduced_axes(node)
    return product(sizes[name] for name in roots[roots.index(root) + 1 :])


def _total(node: AscNode, draft: Draft) -> Dim:
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    return product(sizes[name] for name in reduced_axes(node))


def _plus(text: str, term: str) -> str:
    return f"{text} + {term}" if text and term else text or term


def _at(tensor: str, offset: str) -> str:
    return f"{tensor}[{offset}]" if offset else tensor


def _times(text: str, factor: int) -> str:
    return str(factor) if text == "1" else f"{text} * {factor}"
