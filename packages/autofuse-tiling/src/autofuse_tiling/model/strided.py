"""Bytes that caches move for a Load or Store: whole lines, of which a walk across rows uses an element at a time."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode, Bounds
from autofuse_ir.dims import Dim, ceildiv, const, dim_max, dim_min, le, product, select
from autofuse_ir.target import TargetSpec

from autofuse_tiling.model.walks import Walk


@frozen
class Traffic:
    """``bytes`` of memory traffic for one tile, and ``scattered`` elements that do not come a vector at a time."""

    bytes: Dim
    scattered: Dim


def traffic_of(walk: Walk, node: AscNode, target: TargetSpec) -> Traffic:
    """Return what one tile of ``walk`` moves on a CPU for Load or Store ``node``.

    Rows of neighbours move what they hold. Where strips go across them, each element is on a line of its own. Rows of
    the loop right around the strips that share lines are loaded together, if the target holds on to that many lines:
    then a line serves all its elements in the tile.
    """
    itemsize = node.dtype.itemsize
    elements = walk.elements(node)
    plain = Traffic(elements * itemsize, const(0))
    if node.access is None or not walk.varies_along_strips(node):
        return plain
    strip = walk.axes[-1].root
    dims = [dim for size, dim in zip(node.access.memory, node.access.dims, strict=True) if size != const(1)]
    if not dims or all(dim.axis != strip for dim in dims):
        return plain  # an index operand decides, or nothing
    line = target.cache_line_bytes
    if dims[-1].axis == strip:
        step = abs(dims[-1].step.constant_value or 1)
        spread = min(step, max(1, line // itemsize))
        return Traffic(elements * (itemsize * spread), elements if step > 1 else const(0))
    runs = [axis for axis in walk.axes if axis.root == dims[-1].axis]
    run = product(axis.size for axis in runs)
    lines = product(axis.size for axis in walk.axes if axis.root != dims[-1].axis and walk.varies(node, axis.root))
    apart = elements * line
    if not runs or runs[-1] is not walk.axes[-2]:
        return Traffic(apart, elements)
    shared = lines * ceildiv(run * itemsize, const(line)) * line
    held = le(walk.axes[-1].size, const(round(target.quantity("crossed_lines"))))
    return Traffic(dim_min(select(held, shared, apart), apart), elements)


def transferred(walk: Walk, node: AscNode, target: TargetSpec) -> tuple[Dim, Dim]:
    """Return the bytes that copy engines move for one tile of Load or Store ``node``, as a fraction.

    Where a Load leaves its data nothing moves: along each axis, data of that many elements are shared by all tiles. One
    that goes through a stage moves lines along the axis of its neighbours, of which each is a whole one to pay for; so
    does each piece of a row, of several.
    """
    bytes_moved, of = walk.elements(node) * node.dtype.itemsize, const(1)
    if node.attr("scratch") and len(node.inputs) == 1 and walk.varies_along_strips(node):
        bytes_moved = _staged(walk, node, target.cache_line_bytes)
    elif walk.varies_along_strips(node):
        rows = product(axis.size for axis in walk.axes[:-1] if walk.varies(node, axis.root))
        bytes_moved = dim_max(bytes_moved, rows * walk.is_cut * target.cache_line_bytes)
    if node.op != "Load" or node.access is None or node.access.bounds is not Bounds.FILL:
        return bytes_moved, of
    sizes = {axis.name: axis.size for axis in walk.impl.axes}
    for extent, dim in zip(node.access.memory, node.access.dims, strict=True):
        if dim.axis is not None and extent != sizes[dim.axis]:
            bytes_moved = bytes_moved * dim_min(extent, sizes[dim.axis])
            of = of * dim_max(sizes[dim.axis], const(1))
    return bytes_moved, of


def _staged(walk: Walk, node: AscNode, line: int) -> Dim:
    """Bytes that are copied into a stage: spans between neighbours, or lines along the axis that they lie on."""
    assert node.access is not None
    itemsize, elements, strip = node.dtype.itemsize, walk.elements(node), walk.axes[-1].root
    dims = [dim for size, dim in zip(node.access.memory, node.access.dims, strict=True) if size != const(1)]
    if dims and dims[-1].axis == strip:
        return elements * (itemsize * min(abs(dims[-1].step.constant_value or 1), max(1, line // itemsize)))
    runs = [axis for axis in walk.axes if dims and axis.root == dims[-1].axis]
    lines = product(axis.size for axis in walk.axes if axis not in runs and walk.varies(node, axis.root))
    return lines * ceildiv(product(axis.size for axis in runs) * itemsize, const(line)) * line
