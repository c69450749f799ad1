"""Shapes of views and of operators that make tensors from a shape."""

from autofuse_ir.dims import const, eq, ne, product

from autofuse_symshape.call import Call, shown
from autofuse_symshape.rules.model import Rule, Shapes, same_as

_ONE = const(1)


def _squeezed(call: Call, axes: tuple[int, ...] | None) -> Shapes:
    x = call.shape("x")
    if not axes:
        kept = []
        for dim in x:
            if call.oracle.holds(eq(dim, _ONE)):
                continue
            # Without axes the rank depends on the sizes: the program means the ones it declares.
            call.require(ne(dim, _ONE), f"squeezing {shown(x)} without axes: {dim} is 1 in some runs; name the axes")
            kept.append(dim)
        return (tuple(kept),)
    chosen = call.axes(axes, len(x))
    for axis in chosen:
        call.require(eq(x[axis], _ONE), f"axis {axis} of {shown(x)} is squeezed, but its size {x[axis]} is not 1")
    return (tuple([dim for axis, dim in enumerate(x) if axis not in chosen]),)


def _squeeze(call: Call) -> Shapes:
    return _squeezed(call, call.ints_attr("axis"))


def _squeeze_v3(call: Call) -> Shapes:
    return _squeezed(call, call.integers("axes") if call.has("axes") else None)


def _unsqueezed(call: Call, axes: tuple[int, ...]) -> Shapes:
    x = call.shape("x")
    chosen = call.axes(axes, len(x) + len(axes))
    dims = iter(x)
    return (tuple([_ONE if axis in chosen else next(dims) for axis in range(len(x) + len(axes))]),)


def _flatten(call: Call) -> Shapes:
    x, axis = call.shape("x"), call.int_attr("axis")
    if not -len(x) <= axis <= len(x):
        call.fail(f"axis {axis} is outside -{len(x)}..{len(x)} for {shown(x)}")
    axis = axis + len(x) if axis < 0 else axis
    return ((product(x[:axis]), product(x[axis:])),)


def _flatten_v2(call: Call) -> Shapes:
    x = call.shape("x")
    if not x:
        return ((_ONE,),)
    begin = call.axis(call.int_attr("axis"), len(x))
    end = call.axis(call.int_attr("end_axis"), len(x), "end_axis")
    if end < begin:
        call.fail(f"end_axis {end} is before axis {begin}")
    return ((*x[:begin], product(x[begin : end + 1]), *x[end + 1 :]),)


RULES: dict[str, Rule] = {
    "Squeeze": _squeeze,
    "SqueezeV3": _squeeze_v3,
    "Unsqueeze": lambda call: _unsqueezed(call, call.ints_attr("axes")),
    "UnsqueezeV3": lambda call: _unsqueezed(call, call.integers("axes")),
    "ExpandDims": lambda call: _unsqueezed(call, call.integers("axis")),
    "Flatten": _flatten,
    "FlattenV2": _flatten_v2,
    "Tril": same_as("x"),
    "Triu": same_as("x"),
    "Trilu": same_as("x"),
    "ReverseV2": same_as("x"),
    "ReverseSequence": same_as("x"),
    "Roll": same_as("x"),
}
