"""Where a Load reads and a Store writes: a layout as an access map of the tensor's memory."""

from autofuse_ir.asc_graph import AccessDim, AccessMap, Axis
from autofuse_ir.dims import Dim, const, eq, select

from autofuse_fusion.axes import Layout
from autofuse_fusion.size_facts import SizeFacts

_STILL = AccessDim(None, const(0), const(0))


def access_map(axes: tuple[Axis, ...], layout: Layout, shape: tuple[Dim, ...], sizes: SizeFacts) -> AccessMap:
    """Return the map of a tensor of ``shape`` that lies on ``axes`` as ``layout`` says.

    Its memory has the tensor's own dims, one axis each, where the axes allow; where a dim is cut into several axes, or
    several dims are walked as one, it has the dims of the axes: the same elements in the same row-major order.
    """
    walked = [(axis, size) for axis, size in zip(axes, layout, strict=True) if size is not None]
    dims: list[AccessDim] = []
    left = list(reversed(walked))
    for dim in shape:
        if left and sizes.equal(left[-1][1], dim):
            dims.append(_along(*left.pop()))
        elif sizes.is_one(dim):
            dims.append(_STILL)
        else:
            left.append(walked[0])
            break
    if left:
        return AccessMap(tuple(size for _, size in walked), tuple(_along(axis, size) for axis, size in walked))
    return AccessMap(shape, tuple(dims))


def _along(axis: Axis, size: Dim) -> AccessDim:
    """Return the walk along ``axis`` of a dim of ``size``: step 1, or 0 where the run finds that the dim is 1."""
    step = const(1) if size == axis.size else select(eq(size, 1), 0, 1)
    return AccessDim(axis.name, step, const(0))
