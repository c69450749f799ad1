"""Cycles of the copies between global and local memory that one tile takes on an Ascend chip.

One copy takes a start of its own, and moves its bytes at a rate that cores share, less where it is short. Rows that
are apart in global memory are moved by whole lines, and each costs a little for the gap behind it. The numbers are
those of the original's cost model (`docs/reference/ascend_status.md`), as the target states them.
"""

from enum import Enum

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Axis, Bounds
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, dim_min, eq, floordiv, le, lt, mod, product, select
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import CostTerm

from autofuse_tiling.model.speeds import SCALE
from autofuse_tiling.model.walks import Walk

STAGE_COLUMNS = 64
"""Lines that are copied into a stage together."""
STAGE_CALLS = 8
"""Instructions, and waits as long as those, before the first elements of a plane are gathered from a stage."""
PICKED = 256
"""Indices that become places in a stage together: ``AF_PICKED`` of ``af_npu_pick.h``."""
PICKED_CALLS = 20
"""Instructions, and waits as long as those, between the copies of two rows that such elements are from."""
STAGE_READ_BYTES = 1800
"""Bytes that are copied while the scalar unit reads one element of global memory: ``AF_STAGE_READ`` of
``af_npu_stage.h``."""


@frozen
class Copies:
    """The copies of one tile: ``count`` of them, ``bytes / of`` in all, ``rows`` with ``gap`` bytes behind each."""

    count: Dim
    bytes: Dim
    of: Dim
    rows: Dim
    gap: Dim


def copy_terms(walk: Walk, node: AscNode, target: TargetSpec, blocks: Dim) -> tuple[CostTerm, ...]:
    """Return the cycles of Load or Store ``node`` in all tiles of ``walk``, with ``blocks`` cores at work."""
    op = "load" if node.op == "Load" else "store"
    copies = copies_of(walk, node, target)
    modulus = const(round(target.quantity("gap_modulus_bytes")))
    tiles = walk.tiles
    return (
        CostTerm(float(SCALE), copies.bytes * tiles, _rate(op, copies, target, blocks) * copies.of),
        CostTerm(target.quantity(f"{op}_cycles"), copies.count * tiles, const(1)),
        CostTerm(target.quantity(f"{op}_gap_cycles"), copies.rows * mod(copies.gap, modulus) * tiles, const(1)),
    )


def pipe_heads(walks: tuple[Walk, ...], target: TargetSpec, blocks: Dim) -> tuple[CostTerm, ...]:
    """Return what pipes take once, before their first bytes are there, or their first results."""
    loads = [(walk, node) for walk in walks for node in walk.nodes if node.op == "Load"]
    once = ("vector_pipe_cycles", "write_pipe_cycles")
    terms = [CostTerm(target.quantity(name), const(1), const(1)) for name in once]
    if not loads:
        return tuple(terms)
    is_short = _is_short(copies_of(*loads[0], target), target)
    for name, times in (("", const(1)), ("_per_core", blocks)):
        for middle, counts in (("_small", is_short), ("", const(1) - is_short)):
            terms.append(CostTerm(target.quantity(f"read_pipe{middle}_cycles{name}"), counts * times, const(1)))
    return tuple(terms)


def picked_terms(walk: Walk, target: TargetSpec, by_vector: bool = False) -> tuple[CostTerm, ...]:
    """Return the cycles in which elements of Loads are picked one by one, which copies wait for.

    ``by_vector``: those of the vector unit alone, which gathers words from a stage; the scalar unit picks others.
    """
    terms: list[CostTerm] = []
    local, far = target.quantity("scalar_local_cycles"), target.quantity("scalar_global_cycles")
    for node in walk.nodes:
        if node.op != "Load" or (form := _picking(walk, node)) is _Picking.NONE:
            continue
        elements, tiles = walk.elements(node), walk.tiles
        if form is _Picking.ROW:
            if not by_vector:
                rows = floordiv(elements, dim_max(walk.axes[-1].size, const(1)))
                calls = rows * ceildiv(walk.axes[-1].size, const(PICKED)) * PICKED_CALLS
                terms.append(CostTerm(target.quantity("gather_cycles"), elements * tiles, const(1)))
                terms.append(CostTerm(target.quantity("gather_call_cycles"), calls * tiles, const(1)))
        elif form is _Picking.VECTOR:
            rows = product(axis.size for axis in walk.axes[:-1] if walk.varies(node, axis.root))
            terms.append(CostTerm(target.quantity("gather_cycles"), elements * tiles, const(1)))
            planes = product(axis.size for axis in walk.axes[:-2] if walk.varies(node, axis.root))
            calls = (rows + planes * STAGE_CALLS) * tiles
            terms.append(CostTerm(target.quantity("gather_call_cycles"), calls, const(1)))
        elif not by_vector:
            each = 2 * local if form is _Picking.STAGE else local + far
            terms.append(CostTerm(each, elements * tiles, const(1)))
    return tuple(terms)


class _Picking(Enum):
    """Who picks the elements of a Load: nobody (copies move rows), or a unit that reads a stage or global memory.

    ``ROW``: the vector unit, which waits for the row that they are from.
    """

    NONE = 0
    VECTOR = 1
    STAGE = 2
    GLOBAL = 3
    ROW = 4


def _picking(walk: Walk, node: AscNode) -> _Picking:
    axes = [axis for axis in walk.axes if walk.varies(node, axis.root)]
    if not axes or node.access is None:
        return _Picking.NONE
    nodes = {each.name: each for each in walk.impl.nodes}
    if any(walk.varies(nodes[name], axes[-1].root) for name in node.inputs[1:]):
        if not node.attr("scratch"):
            return _Picking.GLOBAL
        dim, index = node.access.dims[-1], nodes[node.inputs[1]]
        is_plain = dim.offset == const(0) and dim.step == const(1) and axes[-1] is walk.axes[-1]
        is_words = node.dtype.itemsize in (2, 4) and index.dtype.is_integer and index.dtype.itemsize in (4, 8)
        return _Picking.ROW if is_plain and is_words else _Picking.STAGE
    if _stride(node, axes[-1].root) == const(1):
        return _Picking.NONE
    if not node.attr("scratch"):
        return _Picking.GLOBAL
    return _Picking.VECTOR if node.dtype.itemsize in (2, 4) else _Picking.STAGE


def _is_short(copies: Copies, target: TargetSpec) -> Dim:
    """Return 1 where one copy has so few bytes that it moves them at a lower rate, else 0."""
    short = const(round(target.quantity("load_small_below_bytes")))
    each = floordiv(copies.bytes, dim_max(copies.of * copies.count, const(1)))
    return select(lt(each, short), const(1), const(0))


def _rate(op: str, copies: Copies, target: TargetSpec, blocks: Dim) -> Dim:
    """Return the bytes per cycle of a core, times ``SCALE``: a share of what all have, and what one has alone."""
    cores = dim_min(dim_max(blocks, const(1)), const(target.cores))

    def rate(name: str) -> Dim:
        shared, alone = (round(target.quantity(f"{name}{end}") * SCALE) for end in ("", "_alone"))
        return const(shared) + floordiv(const(alone), cores)

    whole = rate(f"{op}_bytes_per_cycle")
    if op == "store":
        return whole
    return select(eq(_is_short(copies, target), const(1)), rate("load_small_bytes_per_cycle"), whole)


def copies_of(walk: Walk, node: AscNode, target: TargetSpec) -> Copies:
    """Return the copies that one tile of ``walk`` takes for Load or Store ``node``.

    Where a Load leaves its data nothing moves: along each axis, data of that many elements are shared by all tiles.
    """
    itemsize = node.dtype.itemsize
    axes = [axis for axis in walk.axes if walk.varies(node, axis.root)]
    if node.access is None or not axes:
        return Copies(const(1), const(itemsize), const(1), const(0), const(0))
    if node.attr("scratch") and len(node.inputs) == 1 and walk.varies_along_strips(node):
        found = _staged(walk, node, axes, target)
    elif len(node.inputs) > 1 and node.op == "Load":
        found = _indexed(walk, node, axes)
    else:
        found = _rows(walk, node, axes, target)
    return _inside(walk, node, found)


def _indexed(walk: Walk, node: AscNode, axes: list[Axis]) -> Copies:
    """Rows at indices; or the rows that elements at indices are from, where they fit a stage, or those elements."""
    assert node.access is not None
    itemsize, elements = node.dtype.itemsize, walk.elements(node)
    count, room = product(axis.size for axis in axes[:-1]), node.attr("scratch")
    if _picking(walk, node) is not _Picking.ROW or not isinstance(room, int):
        return Copies(count, elements * itemsize, const(1), const(0), const(0))
    row = node.access.memory[-1] * itemsize
    is_staged = le(row, dim_min(const(room), axes[-1].size * STAGE_READ_BYTES))
    moved = select(is_staged, count * row, elements * itemsize)
    return Copies(select(is_staged, count, elements), moved, const(1), const(0), const(0))


def _rows(walk: Walk, node: AscNode, axes: list[Axis], target: TargetSpec) -> Copies:
    """Two axes at a time; each row is a line at least where they are apart."""
    itemsize, columns = node.dtype.itemsize, axes[-1].size
    plain = walk.elements(node) * itemsize
    if len(axes) == 1:
        return Copies(const(1), plain, const(1), const(0), const(0))
    rows = product(axis.size for axis in axes[:-1])
    apart = _stride(node, axes[-2].root) - columns
    lines = rows * dim_max(columns * itemsize, const(target.cache_line_bytes))
    is_whole = eq(apart, const(0))
    gap = dim_max(apart, const(0)) * itemsize
    return Copies(product(axis.size for axis in axes[:-2]), select(is_whole, plain, lines), const(1), rows, gap)


def _staged(walk: Walk, node: AscNode, axes: list[Axis], target: TargetSpec) -> Copies:
    """Spans between neighbours, or lines along the axis that they lie on, some at a time."""
    assert node.access is not None
    itemsize, elements, strip = node.dtype.itemsize, walk.elements(node), axes[-1]
    line = target.cache_line_bytes
    dims = [dim for size, dim in zip(node.access.memory, node.access.dims, strict=True) if size != const(1)]
    if dims and dims[-1].axis == strip.root:
        step = min(abs(dims[-1].step.constant_value or 1), max(1, line // itemsize))
        count = product(axis.size for axis in axes[:-1])
        return Copies(count, elements * (itemsize * step), const(1), const(0), const(0))
    runs = [axis for axis in axes if dims and axis.root == dims[-1].axis]
    run = product(axis.size for axis in runs)
    planes = product(axis.size for axis in axes[:-1] if axis not in runs)
    room = node.attr("scratch")
    assert isinstance(room, int), "checks.check_asc_graph finds others"
    together = dim_min(ceildiv(strip.size, const(8)) * 8, const(STAGE_COLUMNS))
    block = 32 // itemsize
    most = dim_max(floordiv(const(room - 64) - together * 4, together * (itemsize * block)), const(1)) * block
    pieces = ceildiv(run, most)
    lines = planes * strip.size
    gap = dim_max(_stride(node, strip.root) - dim_min(run, most), const(0)) * itemsize
    return Copies(
        planes * ceildiv(strip.size, const(STAGE_COLUMNS)) * pieces,
        lines * dim_max(run * itemsize, pieces * line),
        const(1),
        lines * pieces,
        gap,
    )


def _stride(node: AscNode, root: str) -> Dim:
    """Elements of the data from one point of axis ``root`` to the next; 0 where it does not move."""
    assert node.access is not None
    stride, found = const(1), const(0)
    for size, dim in reversed(list(zip(node.access.memory, node.access.dims, strict=True))):
        if dim.axis == root:
            found = found + stride * dim.step
        stride = stride * size
    return found


def _inside(walk: Walk, node: AscNode, copies: Copies) -> Copies:
    if node.op != "Load" or node.access is None or node.access.bounds is not Bounds.FILL:
        return copies
    sizes = {axis.name: axis.size for axis in walk.impl.axes}
    moved, of = copies.bytes, const(1)
    for extent, dim in zip(node.access.memory, node.access.dims, strict=True):
        if dim.axis is not None and extent != sizes[dim.axis]:
            moved = moved * dim_min(extent, sizes[dim.axis])
            of = of * dim_max(sizes[dim.axis], const(1))
    return Copies(copies.count, moved, of, copies.rows, copies.gap)
