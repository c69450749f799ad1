"""Bytes that caches move for a Load or Store: whole lines, of which a walk across rows uses an element at a time."""

from attrs import frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, ceildiv, const, dim_min, le, product, select
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
