"""Where the elements of a reduction stand: in the tile, among all that are joined, and where its results go."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.asc_ops import REDUCTIONS
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.reduction import reduced_axes

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Item, Line
from autofuse_codegen.targets.ascendc.literals import type_name
from autofuse_codegen.targets.ascendc.vector_unit import BLOCK_BYTES


@frozen
class Around:
    """Loops around what one call joins; offsets of its source, and of its results in UB and in global memory.

    ``dense`` counts the results of the tile, ``shared`` those of all tiles. ``start`` is the number of its first
    element among those that are joined.
    """

    axes: tuple[Axis, ...]
    indices: tuple[str, ...]
    source: str
    result: str
    dense: str
    shared: str
    start: str


def around_of(node: AscNode, draft: Draft, axes: tuple[Axis, ...], kept: tuple[Axis, ...], number: int) -> Around:
    """Return the first ``number`` of ``axes`` as loops."""
    layouts = draft.layouts
    source, result, dense, shared, start = "", "", "", "", _start(node, draft)
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    indices = []
    for position, axis in enumerate(axes[:number]):
        index = layouts.names.of(f"copy {node.name} {axis.name}", f"{axis.name}_i")
        indices.append(index)
        source = plus(source, f"{index} * {layouts.step(axes, position)}")
        if axis in kept:
            at = kept.index(axis)
            result = plus(result, f"{index} * {layouts.step(kept, at)}")
            dense = plus(dense, f"{index} * {layouts.points(kept[at + 1 :])}")
            inside = product(sizes[inner.root] for inner in kept[at + 1 :])
            shared = plus(shared, f"static_cast<af_i64>({index}) * {draft.nest.size(inside)}")
        else:
            start = plus(start, _number(node, draft, axis, index))
    return Around(axes[:number], tuple(indices), source, result, dense, shared, start or "0")


def looped(line: Line, around: Around, draft: Draft) -> list[Item]:
    """Return ``line`` in the loops of ``around``."""
    lines: list[Item] = []
    for depth, (axis, index) in enumerate(zip(around.axes, around.indices, strict=True)):
        head = f"for (uint32_t {index} = 0; {index} < {draft.layouts.extent(axis)}; ++{index}) {{"
        lines.append(Line(head, line.reads if depth == 0 else frozenset(), depth=depth))
    lines.append(Line(line.text, line.reads, line.writes, line.settles, len(around.axes)))
    return [*lines, *(Line("}", depth=depth) for depth in reversed(range(len(around.axes))))]


def _start(node: AscNode, draft: Draft) -> str:
    """The number of the first element of the tile."""
    text = ""
    for root in reduced_axes(node):
        base = draft.nest.base(root)
        if base is not None:
            inside = _inside(node, draft, root)
            text = plus(text, base if inside == const(1) else f"({base}) * {draft.nest.size(inside)}")
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


def total_of(node: AscNode, draft: Draft) -> Dim:
    """Return the number of elements that ``node`` joins to one."""
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    return product(sizes[name] for name in reduced_axes(node))


def part_of(node: AscNode, draft: Draft, reduced: tuple[Axis, ...]) -> str:
    """Return where the elements of this tile stand among all that the node joins."""
    total = draft.nest.size(total_of(node, draft))
    return f"af_part{{{_start(node, draft) or '0'}, {draft.layouts.points(reduced)}, {total}}}"


def leaves_in(reduction: AscNode, node: AscNode, draft: Draft, first: str, shape: tuple[str, str, str]) -> str:
    """Return the results of leaves in global memory, from element ``first`` of the tile's results on.

    ``shape`` is that of the results of a leaf: columns, rows, pitch.
    """
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    kept = [root for root in draft.impl.roots if reduction.repeats[draft.impl.roots.index(root)] != const(1)]
    base = first
    for position, root in enumerate(kept):
        start = draft.nest.base(root)
        if start is not None:
            inside = product(sizes[name] for name in kept[position + 1 :])
            base = plus(base, start if inside == const(1) else f"({start}) * {draft.nest.size(inside)}")
    step = draft.nest.size(product(sizes[name] for name in kept))
    stride = draft.nest.size(sizes[kept[-1]]) if kept else "1"
    places = f"{draft.leaves(reduction)}, {base or '0'}, {step}, {stride}, {', '.join(shape)}"
    return f"af_leaves<{type_name(node.dtype)}>{{{places}}}"


def level_of(node: AscNode, draft: Draft) -> str:
    """Return how far the levels of the stack of ``node`` are apart."""
    kept, block = draft.layouts.axes_of(node), BLOCK_BYTES // node.dtype.itemsize
    results = draft.layouts.count(kept)
    return f"af_round_up({results}, {block})" if kept else str(block)


def sink_of(
    node: AscNode, draft: Draft, around: Around, partials: str, shape: tuple[str, str, str], level: str
) -> tuple[str, tuple[str, ...]]:
    """Return where values of leaves go, and which memory that is.

    ``partials`` is the number of elements of all partial results, behind which the stack lies, its levels ``level``
    apart; ``shape`` as above.
    """
    if is_spread(node, draft):
        return leaves_in(node, node, draft, around.shared, shape), ()
    to = draft.tensor(node)
    stack = f"{draft.partials(node)}[{plus(partials, around.result)}]"
    text = f"af_stack<{type_name(node.dtype)}>{{{at_offset(to, around.result)}, {stack}, {level}}}"
    return text, (draft.memory.memory_of(node.name) or node.name,)


def is_spread(node: AscNode, draft: Draft) -> bool:
    """Return whether it is a reduction whose leaves blocks share."""
    return node.op in REDUCTIONS and draft.memory.leaves_of(node.name) is not None


def repeated(line: Line, index: str, axes: tuple[Axis, ...], draft: Draft) -> list[Item]:
    """Return ``line`` for each point of ``axes``, counted by ``index``."""
    if not axes:
        return [line]
    head = f"for (uint32_t {index} = 0; {index} < {draft.layouts.points(axes)}; ++{index}) {{"
    return [Line(head, line.reads), Line(line.text, line.reads, line.writes, line.settles, 1), Line("}")]


def plus(text: str, term: str) -> str:
    """Return the text of a sum; "" stands for 0."""
    return f"{text} + {term}" if text and term else text or term


def at_offset(tensor: str, offset: str) -> str:
    """Return the text of ``tensor`` from ``offset`` on; "" stands for 0."""
    return f"{tensor}[{offset}]" if offset else tensor


def times(text: str, factor: int) -> str:
    """Return the text of a product."""
    return str(factor) if text == "1" else f"{text} * {factor}"
