"""The meaning of convolutions and pooling: windows that slide over the spatial axes (2 and up)."""

import math

import numpy as np
from attrs import frozen

from autofuse_reference.arrays import Array
from autofuse_reference.operators.call import Call, Meaning
from autofuse_reference.operators.matmul import centred


@frozen
class Window:
    """Kernel, strides, dilations, and paddings before and after, one of each per spatial axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def window(call: Call, spatial: tuple[int, ...], kernel: tuple[int, ...]) -> Window:
    """Return the window of an ONNX convolution or pooling over dims of size ``spatial``."""
    rank = len(spatial)
    strides = _ints(call, "strides") or (1,) * rank
    dilations = (_ints(call, "dilations") if "dilations" in call.attrs else ()) or (1,) * rank
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))
    match call.text("auto_pad") if "auto_pad" in call.attrs else "NOTSET":
        case "SAME_UPPER" | "SAME_LOWER" as mode:
            sums = [
                max(0, (math.ceil(size / s) - 1) * s + r - size)
                for size, s, r in zip(spatial, strides, reach, strict=True)
            ]
            less, more = tuple(t // 2 for t in sums), tuple(t - t // 2 for t in sums)
            before, after = (less, more) if mode == "SAME_UPPER" else (more, less)
        case "VALID":
            before = after = (0,) * rank
        case _:
            pads = _ints(call, "pads") or (0,) * (2 * rank)
            before, after = pads[:rank], pads[rank:]
    if "ceil_mode" in call.attrs and call.flag("ceil_mode"):
        geometry = zip(spatial, before, after, strides, reach, strict=True)
        after = tuple(a + _overhang(size + b + a, s, r, size + b) for size, b, a, s, r in geometry)
    return Window(kernel, strides, dilations, before, after)


def _overhang(padded: int, stride: int, reach: int, start_limit: int) -> int:
    """Return how much the last, partial window of ``ceil_mode`` reaches over; it must start inside the input."""
    count = math.ceil((padded - reach) / stride) + 1
    if (count - 1) * stride >= start_limit:
        count -= 1
    return max(0, (count - 1) * stride + reach - padded)


def _ints(call: Call, name: str) -> tuple[int, ...]:
    return () if call.attrs[name] is None else call.integers(name)


def slide(x: Array, shape: Window, fill: float) -> Array:
    """Return every window of ``x`` [n, c, *spatial] as [n, c, *positions, *kernel]."""
    widths = [(0, 0), (0, 0), *zip(shape.before, shape.after, strict=True)]
    padded = np.pad(x, widths, constant_values=fill)
    reach = tuple((k - 1) * d + 1 for k, d in zip(shape.kernel, shape.dilations, strict=True))
    spatial = tuple(range(2, x.ndim))
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, spatial)
    steps = (slice(None), slice(None), *(slice(None, None, s) for s in shape.strides))
    return np.asarray(views[(*steps, *(slice(None, None, d) for d in shape.dilations))])


def convolve(x: Array, weights: Array, shape: Window, groups: int) -> Array:
    """Return the convolution of ``x`` [n, c, *spatial] with ``weights`` [m, c / groups, *kernel]."""
    views = slide(x, shape, 0)
    rank = len(shape.kernel)
    inner = tuple(range(-rank, 0))
    parts = zip(np.split(views, groups, 1), np.split(weights, groups, 0), strict=True)
    contracted = [
        np.tensordot(view, weight, axes=((1, *(a + view.ndim for a in inner)), (1, *range(2, weight.ndim))))
        for view, weight in parts
    ]
    return np.moveaxis(np.concatenate(contracted, -1), -1, 1)


def _conv(call: Call) -> Array:
    x, weights, bias = call.array("X"), call.array("W"), call.optional("B")
    y = convolve(x, weights, window(call, x.shape[2:], weights.shape[2:]), call.integer("group"))
    return y if bias is None else np.asarray(y + bias.reshape(-1, *(1,) * (x.ndim - 2)))


def _conv_integer(call: Call) -> Array:
    x, weights = centred(call, "x", "x_zero_point"), centred(call, "w", "w_zero_point", 0)
    return convolve(x, weights, window(call, x.shape[2:], weights.shape[2:]), call.integer("group"))


def _max_pool(call: Call) -> Array:
    x = call.array("X")
    shape = window(call, x.shape[2:], call.integers("kernel_shape"))
    low = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    views = slide(x, shape, low)
    return np.asarray(views.max(axis=tuple(range(x.ndim, views.ndim))))


def _average_pool(call: Call) -> Array:
    x = call.array("X")
    shape = window(call, x.shape[2:], call.integers("kernel_shape"))
    sums = slide(x, shape, 0.0)
    inner = tuple(range(x.ndim, sums.ndim))
    counted = np.ones_like(x)
    if call.flag("count_include_pad"):
        pads = _ints(call, "pads") or (0,) * (2 * (x.ndim - 2))
        rank = x.ndim - 2
        counted = np.pad(counted, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)], constant_values=1)
        rest = tuple(a - p for a, p in zip(shape.after, pads[rank:], strict=True))
        shape = Window(shape.kernel, shape.strides, shape.dilations, (0,) * rank, rest)
    counts = slide(counted, shape, 0.0).sum(axis=inner)
    return np.asarray(sums.sum(axis=inner) / counts)


def _global(call: Call, average: bool) -> Array:
    x = call.array("X")
    axes = tuple(range(2, x.ndim))
    return np.asarray(x.mean(axes, keepdims=True) if average else x.max(axes, keepdims=True))


MEANINGS: tuple[Meaning, ...] = (
    Meaning("Conv", _conv),
    Meaning("ConvInteger", _conv_integer),
    Meaning("MaxPool", _max_pool),
    Meaning("AveragePool", _average_pool),
    Meaning("GlobalAveragePool", lambda call: _global(call, average=True)),
    Meaning("GlobalMaxPool", lambda call: _global(call, average=False)),
)
