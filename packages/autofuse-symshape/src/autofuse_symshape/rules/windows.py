"""Shapes of convolutions and pooling: windows that slide over the spatial axes."""

from collections.abc import Sequence

from attrs import frozen
from autofuse_ir.dims import Dim, as_dim, ceildiv, const, eq, floordiv, ge

from autofuse_symshape.call import Call, shown
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.model import Rule, Shapes
from autofuse_symshape.simplify import ONE, smaller


@frozen
class Window:
    """Kernel, strides, dilations and paddings, one of each per spatial axis."""

    kernel: Shape
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    mode: str = "NOTSET"
    rounds_up: bool = False


def window(call: Call, kernel: Sequence[Dim]) -> Window:
    """The window of an ONNX convolution or pooling with a kernel of size ``kernel``."""
    rank = len(kernel)
    pads = _per_axis(call, "pads", 2 * rank, 0)
    mode = call.text_attr("auto_pad") if call.op.attr_spec("auto_pad") else "NOTSET"
    return Window(
        tuple(kernel),
        _per_axis(call, "strides", rank, 1),
        _per_axis(call, "dilations", rank, 1) if call.op.attr_spec("dilations") else (1,) * rank,
        pads[:rank],
        pads[rank:],
        mode,
        bool(call.op.attr_spec("ceil_mode")) and call.flag("ceil_mode"),
    )


def _per_axis(call: Call, name: str, count: int, default: int) -> tuple[int, ...]:
    numbers = call.ints_attr(name) or (default,) * count
    if len(numbers) != count:
        call.fail(f"attribute {name!r} has {len(numbers)} elements, not {count}")
    return numbers


def slid(call: Call, spatial: Shape, shape: Window) -> Shape:
    """How many positions the window has on each spatial axis."""
    if len(spatial) != len(shape.kernel):
        call.fail(f"a kernel of rank {len(shape.kernel)} does not fit spatial dims {shown(spatial)}")
    return tuple([_positions(call, dim, shape, axis) for axis, dim in enumerate(spatial)])


def _positions(call: Call, dim: Dim, shape: Window, axis: int) -> Dim:
    stride = shape.strides[axis]
    if shape.mode in ("SAME_UPPER", "SAME_LOWER"):
        return ceildiv(dim, stride)
    before, after = (0, 0) if shape.mode == "VALID" else (shape.before[axis], shape.after[axis])
    reach = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1
    room = dim + before + after - reach
    count = floordiv(room, stride) + 1
    if shape.rounds_up:
        # A window that would start behind the input and its padding in front is not counted.
        count = smaller(call.oracle, ceildiv(room, stride) + 1, ceildiv(dim + before, stride))
    if not call.oracle.holds(ge(count, 0)):
        call.require(ge(room, 0), f"a window of {reach} does not fit {dim} with paddings {before} and {after}")
    return count


def _conv(x_name: str, w_name: str) -> Rule:
    def rule(call: Call) -> Shapes:
        x, w = call.shape(x_name), call.shape(w_name)
        if len(x) < 2 or len(x) != len(w):
            call.fail(f"{shown(x)} and weights of shape {shown(w)} must have one rank of at least 2")
        groups = call.int_attr("group")
        call.require(
            eq(x[1], w[1] * groups), f"{x[1]} channels do not fit weights of shape {shown(w)} with {groups} groups"
        )
        return ((x[0], w[0], *slid(call, x[2:], window(call, w[2:]))),)

    return rule


def _conv_transpose(call: Call) -> Shapes:
    x, w = call.shape("X"), call.shape("W")
    if len(x) < 2 or len(x) != len(w):
        call.fail(f"{shown(x)} and weights of shape {shown(w)} must have one rank of at least 2")
    call.require(eq(x[1], w[0]), f"{x[1]} channels do not fit weights of shape {shown(w)}")
    rank, shape = len(x) - 2, window(call, w[2:])
    given = call.dims_attr("output_shape")
    if given:
        spatial = given[-rank:]
    else:
        extra = _per_axis(call, "output_padding", rank, 0)
        spatial = tuple([_spread(call, dim, shape, axis, extra[axis]) for axis, dim in enumerate(x[2:])])
    return ((x[0], w[1] * call.int_attr("group"), *spatial),)


def _spread(call: Call, dim: Dim, shape: Window, axis: int, extra: int) -> Dim:
    if shape.mode in ("SAME_UPPER", "SAME_LOWER"):
        return dim * shape.strides[axis]
    pads = 0 if shape.mode == "VALID" else shape.before[axis] + shape.after[axis]
    reach = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1
    size = (dim - 1) * shape.strides[axis] + extra + reach - pads
    call.require(ge(size, 0), f"a dim of size {dim} leaves nothing between paddings of {pads}")
    return size


def _pool(call: Call) -> Shapes:
    x = call.shape("X")
    if len(x) < 3:
        call.fail(f"input 'X' of shape {shown(x)} must have rank 3 or more")
    kernel = [const(size) for size in call.ints_attr("kernel_shape")]
    return ((*x[:2], *slid(call, x[2:], window(call, kernel))),) * call.output_count


def _global_pool(call: Call) -> Shapes:
    x = call.shape("X")
    if len(x) < 2:
        call.fail(f"input 'X' of shape {shown(x)} must have rank 2 or more")
    return ((*x[:2], *(ONE,) * (len(x) - 2)),)


def _max_unpool(call: Call) -> Shapes:
    x = call.shape("X")
    if call.has("output_shape"):
        return (call.sizes("output_shape", 0),)
    shape = window(call, [const(size) for size in call.ints_attr("kernel_shape")])
    return ((*x[:2], *[_spread(call, dim, shape, axis, 0) for axis, dim in enumerate(x[2:])]),)


def _ascend_conv(call: Call) -> Shapes:
    """Conv2D of Ascend IR: strides and dilations of all four axes in data_format, filter in HWCN for NHWC."""
    x, w = call.shape_of_rank("x", 4), call.shape_of_rank("filter", 4)
    layout = call.text_attr("data_format")
    h, width, c = layout.index("H"), layout.index("W"), layout.index("C")
    kernel, out, depth = ((w[0], w[1]), w[3], w[2]) if layout == "NHWC" else ((w[2], w[3]), w[0], w[1])
    call.require(eq(x[c], depth * call.int_attr("groups")), f"{x[c]} channels do not fit a filter of {shown(w)}")
    strides, dilations, pads = (call.ints_attr(name) for name in ("strides", "dilations", "pads"))
    if len(strides) != 4 or len(dilations) != 4 or len(pads) != 4:
        call.fail("strides, dilations and pads must have 4 elements")
    mode = {"SAME": "SAME_UPPER", "SAME_UPPER": "SAME_UPPER", "SAME_LOWER": "SAME_LOWER", "VALID": "VALID"}.get(
        call.text_attr("pad_mode") if call.op.attr_spec("pad_mode") else "SPECIFIC", "NOTSET"
    )
    shape = Window(
        kernel,
        (strides[h], strides[width]),
        (dilations[h], dilations[width]),
        (pads[0], pads[2]),
        (pads[1], pads[3]),
        mode,
    )
    spatial = slid(call, (x[h], x[width]), shape)
    result = {"N": x[0], "C": out, "H": spatial[0], "W": spatial[1]}
    return (tuple([result[letter] for letter in layout]),)


def _sized_by(attr: str) -> Rule:
    def rule(call: Call) -> Shapes:
        sizes = call.dims_attr(attr)
        if any(size == -1 for size in sizes):
            raise UnknownShape(attr)
        return (tuple([as_dim(size) for size in sizes]),)

    return rule


RULES: dict[str, Rule] = {
    "Conv": _conv("X", "W"),
    "DeformConv": _conv("X", "W"),
    "ConvInteger": _conv("x", "w"),
    "QLinearConv": _conv("x", "w"),
    "ConvTranspose": _conv_transpose,
    "Conv2D": _ascend_conv,
    "Conv2DV2": _ascend_conv,
    "Conv2DBackpropInputD": _sized_by("input_size"),
    "Conv2DBackpropFilterD": _sized_by("filter_size"),
    "MaxPool": _pool,
    "AveragePool": _pool,
    "LpPool": _pool,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "GlobalLpPool": _global_pool,
    "MaxUnpool": _max_unpool,
}
