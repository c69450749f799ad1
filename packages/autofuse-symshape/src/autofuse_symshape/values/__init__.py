"""Contents that are followed through shape arithmetic."""

from attrs import evolve
from autofuse_ir.errors import IrError

from autofuse_symshape.call import Call
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.known import MAX_CONTENT, static
from autofuse_symshape.scope import Scope
from autofuse_symshape.values import movement, pointwise, reduce
from autofuse_symshape.values.layout import Sizes
from autofuse_symshape.values.model import Follow, Kernel

__all__ = ["KERNELS", "follow"]

KERNELS: dict[str, Kernel] = {**pointwise.KERNELS, **movement.KERNELS, **reduce.KERNELS}
"""Value kernels by operator name."""


def follow(call: Call, scope: Scope) -> None:
    """Note what is known of the contents that the node of ``call`` makes."""
    kernel = KERNELS.get(call.op.name)
    if kernel is None:
        return
    shapes = tuple([_followed(scope, name) for name in call.node.outputs])
    if shapes[0] is None:
        return
    first = call.node.outputs[0]
    guarded = any(name in scope.wanted for name in call.node.outputs)
    try:
        contents = kernel(Follow(call, scope.known[first].dtype, shapes, guarded=guarded))
    except (UnknownShape, IrError):  # not known, or beyond int64: not followed
        return
    for name, shape, content in zip(call.node.outputs, shapes, contents, strict=False):
        if shape is None or content is None:
            continue
        if 0 in shape or any(element is not None for element in content):  # of no elements, all are known
            scope.known[name] = evolve(scope.known[name], content=content)


def _followed(scope: Scope, name: str) -> Sizes | None:
    """The sizes of output ``name`` where they are static and few enough to follow."""
    shape = static(scope.known[name].shape) if name else None
    if shape is None:
        return None
    count = 1
    for size in shape:
        count *= size
    return shape if count <= MAX_CONTENT else None
