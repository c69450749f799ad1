"""Shapes of element-wise operators: equal, broadcast, or broadcast to one of the inputs."""

from autofuse_ir.dims import Dim, const, eq
from autofuse_ir.operators import Flag, all_operators

from autofuse_symshape.broadcast import broadcast, broadcast_onto
from autofuse_symshape.call import Call, shown
from autofuse_symshape.rules.model import Rule, Shapes


def broadcast_all(call: Call) -> Shapes:
    """All inputs broadcast to one shape, which every output has."""
    return (broadcast(call, call.given_shapes()),) * call.output_count


def _onto_first(call: Call) -> Shapes:
    """The other inputs broadcast to the first, whose shape the outputs have."""
    target, *others = call.given_shapes()
    for shape in others:
        broadcast_onto(call, target, shape, "an input")
    return (target,) * call.output_count


def _select(call: Call) -> Shapes:
    """Select does not broadcast, but a condition of rank 1 may choose rows, and one of rank 0 everything."""
    condition, x1, x2 = call.shape("condition"), call.shape("x1"), call.shape("x2")
    _equal(call, x1, x2, "x1 and x2")
    if len(condition) == 1 and len(x1) > 1:
        _equal(call, condition, x1[:1], "the condition and the rows of x1")
    elif condition:
        _equal(call, condition, x1, "the condition and x1")
    return (x1,)


def _equal(call: Call, a: tuple[Dim, ...], b: tuple[Dim, ...], what: str) -> None:
    if len(a) != len(b):
        call.fail(f"{what} have shapes {shown(a)} and {shown(b)} of different rank")
    for left, right in zip(a, b, strict=True):
        call.require(eq(left, right), f"{what} have shapes {shown(a)} and {shown(b)}, which must be equal")


def _bias_add(call: Call) -> Shapes:
    x, bias = call.shape("x"), call.shape_of_rank("bias", 1)
    if not x:
        call.fail("input 'x' needs a channel axis, but has rank 0")
    axis = 1 if call.text_attr("data_format").startswith("NC") and len(x) > 1 else -1
    call.require(eq(bias[0], x[axis]), f"a bias of shape {shown(bias)} does not fit the channels of {shown(x)}")
    return (x,)


def _fused_mul_add(call: Call) -> Shapes:
    x1, x2, x3 = call.shape("x1"), call.shape("x2"), call.shape("x3")
    for dim in x3:
        call.require(eq(dim, const(1)), f"x3 must hold one element, not {shown(x3)}")
    return (broadcast(call, (x1, x2)),)


def _assign(call: Call) -> Shapes:
    return (call.shape("ref"),)


_SPECIAL: dict[str, Rule] = {
    "Select": _select,
    "BiasAdd": _bias_add,
    "FusedMulAddN": _fused_mul_add,
    "PRelu": _onto_first,
    "ThresholdV2": _onto_first,
    "Clip": _onto_first,
    "ClipByValue": broadcast_all,
    "Assign": _assign,
    "AssignAdd": _assign,
}

RULES: dict[str, Rule] = {
    **{op.name: broadcast_all for op in all_operators() if op.has(Flag.ELEMENTWISE) and not op.has(Flag.IN_PLACE)},
    **_SPECIAL,
}
