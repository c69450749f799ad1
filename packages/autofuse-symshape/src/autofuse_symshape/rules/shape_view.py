"""Shapes of views and of operators that make tensors from a shape."""

from fractions import Fraction
from math import ceil, floor

from autofuse_ir.dims import Dim, ceildiv, const, eq, floordiv, ge, gt, mod, ne, product, total

from autofuse_symshape.broadcast import broadcast, broadcast_onto
from autofuse_symshape.call import Call, shown
from autofuse_symshape.divisions import divided
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.known import Element, Real, Shape
from autofuse_symshape.rules.model import Rule, Shapes, along
from autofuse_symshape.simplify import ONE, ZERO, chosen, larger


def _squeezed(call: Call, axes: tuple[int, ...] | None) -> Shapes:
    x = call.shape("x")
    if not axes:
        kept = []
        for dim in x:
            if call.oracle.holds(eq(dim, ONE)):
                continue
            # Without axes the rank depends on the sizes: the program means the ones it declares.
            call.require(ne(dim, ONE), f"squeezing {shown(x)} without axes: {dim} is 1 in some runs; name the axes")
            kept.append(dim)
        return (tuple(kept),)
    chosen_axes = call.axes(axes, len(x))
    for axis in chosen_axes:
        call.require(eq(x[axis], ONE), f"axis {axis} of {shown(x)} is squeezed, but its size {x[axis]} is not 1")
    return (tuple([dim for axis, dim in enumerate(x) if axis not in chosen_axes]),)


def _squeeze_v3(call: Call) -> Shapes:
    return _squeezed(call, call.integers("axes") if call.has("axes") else None)


def _unsqueezed(call: Call, axes: tuple[int, ...]) -> Shapes:
    x = call.shape("x")
    rank = len(x) + len(axes)
    new = call.axes(axes, rank)
    dims = iter(x)
    return (tuple([ONE if axis in new else next(dims) for axis in range(rank)]),)


def _flatten(call: Call) -> Shapes:
    x, axis = call.shape("x"), call.int_attr("axis")
    if not -len(x) <= axis <= len(x):
        call.fail(f"axis {axis} is outside -{len(x)}..{len(x)} for {shown(x)}")
    axis = axis + len(x) if axis < 0 else axis
    return ((product(x[:axis]), product(x[axis:])),)


def _flatten_v2(call: Call) -> Shapes:
    x = call.shape("x")
    if not x:
        return ((ONE,),)
    begin = call.axis(call.int_attr("axis"), len(x))
    end = call.axis(call.int_attr("end_axis"), len(x), "end_axis")
    if end < begin:
        call.fail(f"end_axis {end} is before axis {begin}")
    return ((*x[:begin], product(x[begin : end + 1]), *x[end + 1 :]),)


def _shape(call: Call) -> Shapes:
    end = call.attr("end")
    rank = len(call.shape("x")[call.int_attr("start") : end if isinstance(end, int) else None])
    return ((const(rank),),)


def _gather_shapes(call: Call) -> Shapes:
    pairs = call.attr("axes")
    shapes = call.shapes("x")
    assert isinstance(pairs, tuple)
    for pair in pairs:
        if isinstance(pair, tuple) and not (
            0 <= pair[0] < len(shapes) and -len(shapes[pair[0]]) <= pair[1] < len(shapes[pair[0]])
        ):
            call.fail(f"{pair} names no dim of the inputs")
    return ((const(len(pairs)),),)


def sizes_given(call: Call, name: str) -> Shape:
    """The elements of a shape operand, none of which may be negative."""
    sizes = call.sizes(name)
    for size in sizes:
        call.require(ge(size, 0), f"the size {size} in {shown(sizes)} is negative")
    return sizes


def _expand(call: Call) -> Shapes:
    return (broadcast(call, (call.shape("x"), sizes_given(call, "shape"))),)


def _broadcast_to(call: Call) -> Shapes:
    target, x = call.sizes("shape"), call.shape("x")
    if len(x) > len(target):
        call.fail(f"{shown(x)} has a higher rank than {shown(target)}")
    skipped = len(target) - len(x)
    result = tuple([size if axis < skipped or size != -1 else x[axis - skipped] for axis, size in enumerate(target)])
    for size in result:
        call.require(ge(size, 0), f"the size {size} in {shown(target)} is negative")
    broadcast_onto(call, result, x, "the input")
    return (result,)


def _fill(call: Call) -> Shapes:
    return (sizes_given(call, "dims"),)


def _tile(call: Call) -> Shapes:
    x, repeats = call.shape("x"), call.sizes_of("multiples")
    if len(repeats) < len(x):
        call.fail(f"{len(repeats)} multiples for {shown(x)}")
    for count in repeats:
        call.require(ge(count, 0), f"the multiple {count} in {shown(repeats)} is negative")
    padded = (ONE,) * (len(repeats) - len(x)) + x
    return (tuple([dim * count for dim, count in zip(padded, repeats, strict=True)]),)


def _transpose(call: Call) -> Shapes:
    x, perm = call.shape("x"), call.ints_of("perm")
    if len(perm) != len(x):
        call.fail(f"perm {list(perm)} does not fit {shown(x)}")
    return (tuple([x[axis] for axis in call.axes(perm, len(x), "perm")]),)


def _blocks(call: Call, *, to_depth: bool) -> Shapes:
    x, block = call.shape_of_rank("x", 4), call.int_attr("block_size")
    last = call.text_attr("data_format") == "NHWC"
    n, c, h, w = (x[0], x[3], x[1], x[2]) if last else x
    if to_depth:
        for dim in (h, w):
            call.require(eq(mod(dim, block), 0), f"{dim} of {shown(x)} is no multiple of the block size {block}")
        c, h, w = c * block * block, floordiv(h, block), floordiv(w, block)
    else:
        call.require(eq(mod(c, block * block), 0), f"{c} channels are no multiple of the squared block size {block}")
        c, h, w = floordiv(c, block * block), h * block, w * block
    return ((n, h, w, c) if last else (n, c, h, w),)


def _eye(call: Call) -> Shapes:
    rows, columns = call.int_attr("num_rows"), call.int_attr("num_columns")
    return ((*call.dims_attr("batch_shape"), const(rows), const(columns or rows)),)


def _as_strided(call: Call) -> Shapes:
    return (sizes_given(call, "size"),)


def _range(call: Call) -> Shapes:
    """The number of steps from start to limit; a delta of unknown sign is decided at run time."""
    start, limit, delta = (_scalar(call, name) for name in ("start", "limit", "delta"))
    if isinstance(start, Real) and isinstance(limit, Real) and isinstance(delta, Real):
        return ((_float_count(call, start, limit, delta),),)
    if not isinstance(start, Dim) or not isinstance(limit, Dim) or not isinstance(delta, Dim):
        raise UnknownShape("Range")
    oracle = call.oracle
    call.require(ne(delta, 0), f"a range with step {delta} never ends")
    extent = limit - start
    if call.flag("is_closed"):
        extent = extent + chosen(oracle, gt(delta, 0), ONE, -ONE)
    steps = chosen(oracle, gt(delta, 0), _steps(extent, delta), _steps(-extent, -delta))
    return ((larger(oracle, ZERO, steps),),)


def _steps(extent: Dim, delta: Dim) -> Dim:
    return ZERO if delta == ZERO else divided(extent, delta, up=True)


def _scalar(call: Call, name: str) -> Element:
    if call.dtype(name).is_integer:
        return call.size(name)
    content = call.content(name)
    if content is None or len(content) != 1 or content[0] is None:
        raise UnknownShape(name)
    return content[0]


def _float_count(call: Call, start: Real, limit: Real, delta: Real) -> Dim:
    """Exact for constants; a symbolic limit with an integer start and step of 1 is counted as an integer."""
    numbers = [each.numerator.constant_value for each in (start, limit, delta)]
    first, last, step = numbers
    if first is not None and last is not None and step:
        extent = Fraction(last, limit.denominator) - Fraction(first, start.denominator)
        steps = extent / Fraction(step, delta.denominator)
        return const(max(0, floor(steps) + 1 if call.flag("is_closed") else ceil(steps)))
    if step is None or step <= 0 or limit.rounded or start.rounded or call.flag("is_closed"):
        raise UnknownShape("Range")
    common = limit.denominator * start.denominator * delta.denominator
    extent_of = limit.numerator * (common // limit.denominator) - start.numerator * (common // start.denominator)
    return larger(call.oracle, ZERO, ceildiv(extent_of, step * (common // delta.denominator)))


def _lin_space(call: Call) -> Shapes:
    return ((call.size("num", 0),),)


def _repeated(name: str, axis_of: int | None) -> Rule:
    def rule(call: Call) -> Shapes:
        x = call.shape("x")
        axis = call.axis(call.int_attr("axis") if axis_of is None else axis_of, len(x))
        repeats = call.sizes(name, 0)
        if len(repeats) == 1:
            size = x[axis] * repeats[0]
        else:
            message = f"{len(repeats)} repeats do not fit axis {axis} of {shown(x)}"
            call.require(eq(x[axis], len(repeats)), message)
            size = total(repeats)
        return ((*x[:axis], size, *x[axis + 1 :]),)

    return rule


def _matrix(call: Call) -> Shapes:
    x = call.shape("x")
    if len(x) < 2:
        call.fail(f"input 'x' of shape {shown(x)} must have rank 2 or more")
    return (x,)


def _roll(call: Call) -> Shapes:
    x, shifts, dims = call.shape("x"), call.dims_attr("shifts"), call.ints_attr("dims")
    for dim in dims:
        call.axis(dim, len(x), "dims")
    if len(shifts) != max(1, len(dims)):
        call.fail(f"{len(shifts)} shifts for {len(dims)} dims", "give one shift for each dim, or one and no dims")
    return (x,)


def _reverse_sequence(call: Call) -> Shapes:
    x = call.shape("x")
    call.axes((call.int_attr("seq_dim"), call.int_attr("batch_dim")), len(x), "seq_dim and batch_dim")
    return (x,)


RULES: dict[str, Rule] = {
    "Squeeze": lambda call: _squeezed(call, call.ints_attr("axis")),
    "SqueezeV3": _squeeze_v3,
    "Unsqueeze": lambda call: _unsqueezed(call, call.ints_attr("axes")),
    "UnsqueezeV3": lambda call: _unsqueezed(call, call.integers("axes")),
    "ExpandDims": lambda call: _unsqueezed(call, call.integers("axis")),
    "Flatten": _flatten,
    "FlattenV2": _flatten_v2,
    "Shape": _shape,
    "Size": lambda call: ((),),
    "GatherShapes": _gather_shapes,
    "Expand": _expand,
    "BroadcastTo": _broadcast_to,
    "Fill": _fill,
    "Tile": _tile,
    "TileD": _tile,
    "Transpose": _transpose,
    "TransposeD": _transpose,
    "DepthToSpace": lambda call: _blocks(call, to_depth=False),
    "SpaceToDepth": lambda call: _blocks(call, to_depth=True),
    "Tril": _matrix,
    "Triu": _matrix,
    "Trilu": _matrix,
    "Eye": _eye,
    "EyeLike": lambda call: (call.shape_of_rank("x", 2),),
    "ReverseV2": along("x", "axis"),
    "ReverseSequence": _reverse_sequence,
    "Roll": _roll,
    "AsStrided": _as_strided,
    "Range": _range,
    "LinSpace": _lin_space,
    "Repeat": _repeated("repeat_times", 0),
    "RepeatInterleave": _repeated("repeats", None),
}
