"""Shapes of resizing by sizes or scales."""

import struct
from fractions import Fraction
from math import floor

from autofuse_ir.dims import Dim, const, floordiv, ge, le

from autofuse_symshape.call import Call, shown
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.known import Content, Element, Real, Shape
from autofuse_symshape.rules.model import Rule, Shapes

_EXACT = 2**24
"""Integers up to here are exact in float32, in which sizes are scaled."""
_LARGEST_ODD_FACTOR = 255


def _resize(call: Call) -> Shapes:
    x = call.shape("X")
    axes = call.axes(call.ints_attr("axes") or range(len(x)), len(x))
    if call.has("sizes"):
        sizes = call.sizes("sizes", 0)
        if not sizes:  # an empty list stands for a missing one in older models
            return (_scaled(call, x, axes),)
        if len(sizes) != len(axes):
            call.fail(f"{len(sizes)} sizes for {len(axes)} axes of {shown(x)}")
        return (_sized(call, x, axes, sizes),)
    return (_scaled(call, x, axes),)


def _sized(call: Call, x: Shape, axes: tuple[int, ...], sizes: Shape) -> Shape:
    policy = call.text_attr("keep_aspect_ratio_policy")
    for size in sizes:
        call.require(ge(size, 0), f"the size {size} in {shown(sizes)} is negative")
    result = list(x)
    if policy == "stretch":
        for axis, size in zip(axes, sizes, strict=True):
            result[axis] = size
        return tuple(result)
    whole = [(x[axis].constant_value, size.constant_value) for axis, size in zip(axes, sizes, strict=True)]
    known = [(dim, size) for dim, size in whole if dim is not None and size is not None and dim > 0]
    if len(known) != len(whole):  # the scale is a quotient of floats, known once the node has run
        return tuple([call.unbacked(0, axis) if axis in axes else dim for axis, dim in enumerate(x)])
    pick = min if policy == "not_larger" else max
    scale = pick(Fraction(size, dim) for dim, size in known)
    for axis, (dim, _) in zip(axes, known, strict=True):
        result[axis] = const(floor(dim * scale + Fraction(1, 2)))
    return tuple(result)


def _scaled(call: Call, x: Shape, axes: tuple[int, ...]) -> Shape:
    if not call.has("scales"):
        call.fail("neither sizes nor scales are given")
    content: Content | None = call.content("scales")
    if content is None:
        raise UnknownShape("scales")
    if len(content) != len(axes):
        call.fail(f"{len(content)} scales for {len(axes)} axes of {shown(x)}")
    result = list(x)
    for axis, scale in zip(axes, content, strict=True):
        size = _times(call, x[axis], scale)
        result[axis] = call.unbacked(0, axis) if size is None else size
    return tuple(result)


def _times(call: Call, dim: Dim, scale: Element | None) -> Dim | None:
    """``floor(dim * scale)`` as float32 computes it; None where rounding cannot be followed."""
    if not isinstance(scale, Real) or scale.rounded:
        return None
    factor, size = scale.numerator.constant_value, dim.constant_value
    if size is not None and factor is not None:
        product = struct.unpack("<f", struct.pack("<f", float(Fraction(size * factor, scale.denominator))))[0]
        return const(floor(product))
    if factor is None:
        return None
    if factor == scale.denominator:
        return dim
    odd = abs(factor)
    while odd and odd % 2 == 0:
        odd //= 2
    if odd > _LARGEST_ODD_FACTOR:
        return None
    call.require(le(dim * odd, _EXACT), f"{dim} is scaled in float32, which holds {dim * odd} only up to {_EXACT}")
    return floordiv(dim * factor, scale.denominator)


RULES: dict[str, Rule] = {
    "Resize": _resize,
    "Upsample": lambda call: (_scaled(call, call.shape("X"), tuple(range(len(call.shape("X"))))),),
}
