"""Shapes of concatenation, splits and padding."""

from autofuse_ir.dims import Cond, Dim, all_of, any_of, const, dim_max, eq, floordiv, ge, le, lt, mod, total

from autofuse_symshape.call import Call, shown
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.model import Rule, Shapes
from autofuse_symshape.simplify import ONE, chosen


def _concat(call: Call) -> Shapes:
    shapes, axis = call.shapes("x"), call.ints_of("concat_dim")[0]
    axis = call.axis(axis, len(shapes[0]), "concat_dim")
    merged = _aligned(call, shapes, axis)
    return ((*merged[:axis], total([shape[axis] for shape in shapes]), *merged[axis + 1 :]),)


def _aligned(call: Call, shapes: tuple[Shape, ...], but: int | None) -> list[Dim]:
    """The common dims of ``shapes``, which must be equal except on axis ``but``."""
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        call.fail(f"shapes {_listed(shapes)} do not have the same rank")
    merged = list(shapes[0])
    for shape in shapes[1:]:
        for axis, dim in enumerate(shape):
            if axis != but and dim != merged[axis]:
                message = f"shapes {_listed(shapes)} differ on axis {axis}"
                merged[axis] = call.require_equal(merged[axis], dim, message)
    return merged


def _listed(shapes: tuple[Shape, ...]) -> str:
    return ", ".join(shown(shape) for shape in shapes)


def _pack(call: Call) -> Shapes:
    shapes = call.shapes("x")
    axis = call.axis(call.int_attr("axis"), len(shapes[0]) + 1)
    merged = _aligned(call, shapes, None)
    return ((*merged[:axis], const(len(shapes)), *merged[axis:]),)


def _unpack(call: Call) -> Shapes:
    x, count = call.shape("x"), call.int_attr("num")
    axis = call.axis(call.int_attr("axis"), len(x))
    call.require(eq(x[axis], count), f"axis {axis} of {shown(x)} must have size {count}")
    return ((*x[:axis], *x[axis + 1 :]),) * call.output_count


def _split(call: Call) -> Shapes:
    x, count = call.shape("x"), call.int_attr("num_split")
    axis = call.axis(call.ints_of("split_dim")[0], len(x), "split_dim")
    if count < 1:
        call.fail(f"num_split is {count}")
    call.require(eq(mod(x[axis], count), 0), f"axis {axis} of {shown(x)} has no {count} equal pieces")
    return ((*x[:axis], floordiv(x[axis], count), *x[axis + 1 :]),) * call.output_count


def _split_sizes(call: Call) -> Shapes:
    x, sizes = call.shape("x"), call.sizes_of("size_splits")
    axis = call.axis(call.ints_of("split_dim")[0], len(x), "split_dim")
    if len(sizes) != call.output_count:
        call.fail(f"{len(sizes)} sizes for {call.output_count} outputs")
    if sum(size == -1 for size in sizes) > 1:
        call.fail(f"the sizes {shown(sizes)} leave more than one piece open")
    rest = x[axis] - total([chosen(call.oracle, eq(size, -1), const(0), size) for size in sizes])
    pieces = [chosen(call.oracle, eq(size, -1), rest, size) for size in sizes]
    described = f"pieces {shown(pieces)} do not make up axis {axis} of {shown(x)}"
    for piece in pieces:
        call.require(ge(piece, 0), described)
    call.require(eq(total(pieces), x[axis]), described)
    return tuple([(*x[:axis], piece, *x[axis + 1 :]) for piece in pieces])


def _multislice_concat(call: Call) -> Shapes:
    x = call.shape("x")
    if not x:
        call.fail("input 'x' needs an axis, but has rank 0")
    begins, sizes = call.ints_attr("slice_begin"), call.ints_attr("silce_size")
    for begin, size in zip(begins, sizes, strict=True):
        call.require(
            le(const(begin + size), x[-1]), f"slice {begin}..{begin + size} leaves the last axis of {shown(x)}"
        )
    results: list[Shape] = []
    place = 0
    for count in call.ints_attr("concat_size"):
        results.append((*x[:-1], const(sum(sizes[place : place + count]))))
        place += count
    return tuple(results)


_MODES = ("constant", "reflect", "edge", "symmetric", "circular", "wrap")


def _padded(call: Call, pairs: list[tuple[Dim, Dim]], mode: str = "constant") -> Shapes:
    x = call.shape("x")
    if len(pairs) != len(x):
        call.fail(f"{len(pairs)} pairs of paddings for {shown(x)}")
    if mode not in _MODES:
        call.fail(f"the padding mode is {mode!r}", f"use one of {', '.join(_MODES)}")
    result = []
    for dim, (before, after) in zip(x, pairs, strict=True):
        size = dim + before + after
        cut = dim_max(0, -before) + dim_max(0, -after)
        call.require(ge(dim, cut), f"paddings {before} and {after} cut more than {dim} of {shown(x)}")
        if mode == "reflect":
            for pad in (before, after):
                call.require(_reflects(pad, dim), f"{pad} reflected elements need more than {dim} of {shown(x)}")
        elif mode != "constant" and size != dim:
            call.require(_extends(before, after, dim), f"a dim of size 0 of {shown(x)} has nothing to pad with")
        result.append(size)
    return (tuple(result),)


def _reflects(pad: Dim, dim: Dim) -> Cond:
    return any_of(le(pad, 0), lt(pad, dim))


def _extends(before: Dim, after: Dim, dim: Dim) -> Cond:
    return any_of(all_of(le(before, 0), le(after, 0)), ge(dim, ONE))


def _pad(call: Call) -> Shapes:
    flat = call.sizes("paddings")
    return _padded(call, list(zip(flat[::2], flat[1::2], strict=True)))


def _pad_d(call: Call) -> Shapes:
    rows = call.attr("paddings")
    assert isinstance(rows, tuple)
    return _padded(call, [(const(row[0]), const(row[1])) for row in rows if isinstance(row, tuple)])


def _pad_v3(call: Call) -> Shapes:
    flat = call.sizes("paddings")
    half = len(flat) // 2
    halves = (flat[::2], flat[1::2]) if call.flag("paddings_contiguous") else (flat[:half], flat[half:])
    return _padded(call, list(zip(*halves, strict=True)), call.text_attr("mode"))


RULES: dict[str, Rule] = {
    **dict.fromkeys(("Concat", "ConcatD", "ConcatV2", "ConcatV2D"), _concat),
    "MultisliceConcat": _multislice_concat,
    "Pack": _pack,
    "Unpack": _unpack,
    "Split": _split,
    "SplitD": _split,
    "SplitV": _split_sizes,
    "SplitVD": _split_sizes,
    "Pad": _pad,
    "PadD": _pad_d,
    "PadV3": _pad_v3,
}
