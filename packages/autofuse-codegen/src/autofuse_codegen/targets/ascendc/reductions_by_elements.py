"""Reductions of 64-bit integers, which the scalar unit joins one after the other: any order gives one result."""

from collections.abc import Iterable

from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.dtypes import DType, DTypeKind
from autofuse_ir.reduction import reduced_axes, tree_of

from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.lines import Item, Line, vector
from autofuse_codegen.targets.ascendc.literals import literal
from autofuse_codegen.targets.ascendc.operands import Tensor

JOINS_EACH = {"Sum": "af_each_sum", "Prod": "af_each_prod", "Max": "af_each_max", "Min": "af_each_min"}


def identity_of_integers(op: str, dtype: DType) -> int:
    """Return the integer that changes none that it is joined with."""
    lowest = -(1 << dtype.bits - 1) if dtype.kind is DTypeKind.SIGNED else 0
    return {"Sum": 0, "Prod": 1, "Max": lowest, "Min": lowest + (1 << dtype.bits) - 1}[op]


def reduce_by_elements(node: AscNode, source: Tensor, leaves: str | None, draft: Draft) -> list[Item]:
    """Return the lines that join the elements of this tile; the results so far stand in the partial results.

    ``leaves`` is where those of leaves go that blocks share, None where there are none.
    """
    layouts = draft.layouts
    axes, kept = layouts.axes_of(draft.nodes[node.inputs[0]]), layouts.axes_of(node)
    memory = draft.memory.accumulator_of(node.name).buffer.name
    partials, count = draft.partials(node), layouts.count(kept)
    index = {axis: layouts.names.of(f"each {node.name} {axis.name}", f"{axis.name}_i") for axis in axes}
    from_at = _sum(_times(index[axis], layouts.step(axes, at)) for at, axis in enumerate(axes))
    to_at = _sum(_times(index[axis], layouts.step(kept, at)) for at, axis in enumerate(kept))
    join = JOINS_EACH[node.op]
    one = f"{join}::one({partials}, {to_at}, {source.text}.GetValue({from_at}));"
    nothing = literal(identity_of_integers(node.op, node.dtype), node.dtype)
    fill = f"af_fill({partials}, {nothing}, {count});"
    total = draft.nest.size(_points(node, draft))
    reduced = tuple(axis for axis in axes if axis not in kept)
    if leaves is None:
        to = Tensor(draft.tensor(node), node.dtype, draft.memory.memory_of(node.name) or node.name)
        last = _number(node, draft, {a: f"static_cast<af_i64>({layouts.extent(a)}) - 1" for a in reduced})
        return [
            vector(f"if ({_number(node, draft, {})} == 0) {fill}", (), {memory}),
            Line("af_order<HardEvent::V_S>();", settles=True),
            *_loops(axes, index, [Line(one)], draft),
            Line("af_order<HardEvent::S_V>();"),
            vector(f"if ({last} + 1 == {total}) af_copy({to.text}, {partials}, {count});", (), {to.memory}),
        ]
    leaf = tree_of(node).leaf
    number = draft.names.of(f"number {node.name}", "number")
    counted = _number(node, draft, {a: f"static_cast<af_i64>({index[a]})" for a in reduced})
    body = [
        *_loops(kept, index, [Line(one)], draft),
        Line(f"const af_i64 {number} = {counted};"),
        Line(f"if (({number} + 1) % {leaf} == 0 || {number} + 1 == {total}) {{"),
        Line("af_order<HardEvent::S_V>();", depth=1),
        Line(f"{leaves}.take<{join}>({partials}, {count}, {number} / {leaf}, false);", depth=1),
        Line(fill, depth=1),
        Line("af_order<HardEvent::V_S>();", depth=1),
        Line("}"),
    ]
    begins = f"({_number(node, draft, {})}) % {leaf} == 0"  # or goes on with what the piece before it left
    return [
        vector(f"if ({begins}) {fill}", (), {memory}),
        Line("af_order<HardEvent::V_S>();", settles=True),
        *_loops(reduced, index, body, draft),
        Line("af_order<HardEvent::S_V>();"),
    ]


def _loops(axes: tuple[Axis, ...], index: dict[Axis, str], body: list[Line], draft: Draft) -> list[Line]:
    """``body`` for each point of ``axes``."""
    depth = len(axes)
    heads = [
        Line(f"for (uint32_t {index[a]} = 0; {index[a]} < {draft.layouts.extent(a)}; ++{index[a]}) {{", depth=at)
        for at, a in enumerate(axes)
    ]
    inside = [Line(each.text, each.reads, each.writes, each.settles, each.depth + depth) for each in body]
    return [*heads, *inside, *(Line("}", depth=at) for at in reversed(range(depth)))]


def _number(node: AscNode, draft: Draft, within: dict[Axis, str]) -> str:
    """The number of an element among those that are joined: that of the tile's first, and steps inside of the tile."""
    roots = reduced_axes(node)
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    terms = []
    for position, root in enumerate(roots):
        inside = product(sizes[name] for name in roots[position + 1 :])
        base = draft.nest.base(root)
        steps = [text for text in (base, *(t for axis, t in within.items() if axis.root == root)) if text is not None]
        if steps:
            terms.append(_times(" + ".join(steps), draft.nest.size(inside) if inside != const(1) else "1"))
    return _sum(terms)


def _times(text: str, step: str) -> str:
    return text if step == "1" else f"({text}) * {step}" if " " in text else f"{text} * {step}"


def _sum(terms: Iterable[str]) -> str:
    return " + ".join(terms) or "0"


def _points(node: AscNode, draft: Draft) -> Dim:
    sizes = {axis.name: axis.size for axis in draft.impl.axes}
    return product(sizes[name] for name in reduced_axes(node))
