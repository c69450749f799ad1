"""Shapes of operators that only a host backend runs: recurrent layers, signal and image operators, sequences."""

from autofuse_ir.dims import Dim, as_dim, const, floordiv, ge, product

from autofuse_symshape.broadcast import broadcast
from autofuse_symshape.call import Call, shown
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.rules.model import Rule, Shapes, fixed, same_as
from autofuse_symshape.rules.shape_view import sizes_given


def _recurrent(call: Call) -> Shapes:
    x, w, r = call.shape_of_rank("X", 3), call.shape_of_rank("W", 3), call.shape_of_rank("R", 3)
    directions, hidden = w[0], r[2]
    if call.int_attr("layout") == 0:
        length, batch = x[0], x[1]
        return ((length, directions, batch, hidden), *((directions, batch, hidden),) * 2)
    batch, length = x[0], x[1]
    return ((batch, length, directions, hidden), *((batch, directions, hidden),) * 2)


def _max_roi_pool(call: Call) -> Shapes:
    x, rois = call.shape("X"), call.shape("rois")
    return ((rois[0], x[1], *[const(size) for size in call.ints_attr("pooled_shape")]),)


def _roi_align(call: Call) -> Shapes:
    x, rois = call.shape_of_rank("X", 4), call.shape_of_rank("rois", 2)
    return ((rois[0], x[1], const(call.int_attr("output_height")), const(call.int_attr("output_width"))),)


def _grid_sample(call: Call) -> Shapes:
    x, grid = call.shape("X"), call.shape("grid")
    if len(x) != len(grid):
        call.fail(f"a grid of shape {shown(grid)} must have the rank of {shown(x)}")
    return ((*x[:2], *grid[1:-1]),)


def _affine_grid(call: Call) -> Shapes:
    size = sizes_given(call, "size")
    return ((size[0], *size[2:], const(len(size) - 2)),)


def _col2im(call: Call) -> Shapes:
    x, image, block = call.shape_of_rank("input", 3), sizes_given(call, "image_shape"), call.sizes("block_shape", 0)
    return ((x[0], floordiv(x[1], product(block)), *image),)


def _dft(call: Call) -> Shapes:
    """The last axis holds real and imaginary parts; a onesided result keeps the first half of the frequencies."""
    x = call.shape("input")
    axis = call.axis(call.integers("axis")[0] if call.has("axis") else len(x) - 2, len(x))
    onesided, inverse = call.int_attr("onesided"), call.int_attr("inverse")
    if call.has("dft_length"):
        length = call.size("dft_length", 0)
    else:
        length = (x[axis] - 1) * 2 if onesided and inverse else x[axis]
    if onesided and not inverse:
        length = floordiv(length, 2) + 1
    call.require(ge(length, 0), f"axis {axis} of {shown(x)} is empty")
    parts = const(1) if onesided and inverse else const(2)
    result = [*x[:-1], parts]
    result[axis] = length
    return (tuple(result),)


def _stft(call: Call) -> Shapes:
    signal, step = call.shape("signal"), call.size("frame_step", 1)
    if call.has("frame_length"):
        length: Dim = call.size("frame_length", 0)
    elif call.has("window"):
        length = call.shape("window")[0]
    else:
        raise UnknownShape("frame_length")
    call.require(ge(signal[1], length), f"a frame of {length} does not fit a signal of shape {shown(signal)}")
    frames = floordiv(signal[1] - length, step) + 1
    bins = floordiv(length, 2) + 1 if call.int_attr("onesided") else length
    return ((signal[0], frames, bins, const(2)),)


def _window(call: Call) -> Shapes:
    return ((call.size("size", 0),),)


def _mel_matrix(call: Call) -> Shapes:
    return ((floordiv(call.size("dft_length", 0), 2) + 1, call.size("num_mel_bins", 0)),)


def _center_crop_pad(call: Call) -> Shapes:
    x, sizes = call.shape("input_data"), sizes_given(call, "shape")
    axes = call.axes(call.ints_attr("axes") or range(len(x)), len(x))
    if len(axes) != len(sizes):
        call.fail(f"{len(sizes)} sizes for {len(axes)} axes of {shown(x)}")
    result = list(x)
    for axis, size in zip(axes, sizes, strict=True):
        result[axis] = size
    return (tuple(result),)


def _suppression(call: Call) -> Shapes:
    """At most every box of every class of every batch is selected."""
    scores = call.shape_of_rank("scores", 3)
    return ((call.unbacked(0, 0, product(scores)), const(3)),)


def _ngrams(call: Call) -> Shapes:
    x = call.shape("X")
    return ((*x[:-1], const(max(call.ints_attr("ngram_indexes"), default=-1) + 1)),)


def _strings(call: Call) -> Shapes:
    return (broadcast(call, (call.shape("X"), call.shape("Y"))),)


def _string_split(call: Call) -> Shapes:
    x = call.shape("X")
    return ((*x, call.unbacked(0, len(x))), x)


def _string_normaliser(call: Call) -> Shapes:
    x = call.shape("X")
    if not x:
        call.fail("input 'X' needs an axis, but has rank 0")
    # Stop words are dropped, but an empty result still holds one empty string.
    return ((*x[:-1], call.unbacked(0, len(x) - 1)),)


def _image(call: Call) -> Shapes:
    depth = 1 if call.text_attr("pixel_format") == "Grayscale" else 3
    return ((call.unbacked(0, 0), call.unbacked(0, 1), as_dim(depth)),)


def _det(call: Call) -> Shapes:
    x = call.shape("X")
    if len(x) < 2:
        call.fail(f"input 'X' of shape {shown(x)} must have rank 2 or more")
    return (x[:-2],)


RULES: dict[str, Rule] = {
    "RNN": _recurrent,
    "GRU": _recurrent,
    "LSTM": _recurrent,
    "MaxRoiPool": _max_roi_pool,
    "RoiAlign": _roi_align,
    "GridSample": _grid_sample,
    "AffineGrid": _affine_grid,
    "Col2Im": _col2im,
    "Det": _det,
    "DFT": _dft,
    "STFT": _stft,
    "BlackmanWindow": _window,
    "HammingWindow": _window,
    "HannWindow": _window,
    "MelWeightMatrix": _mel_matrix,
    "Dropout": same_as("data"),
    "CenterCropPad": _center_crop_pad,
    "NonMaxSuppression": _suppression,
    "TfIdfVectorizer": _ngrams,
    "SequenceLength": fixed(()),
    "OptionalHasElement": fixed(()),
    "StringConcat": _strings,
    "StringSplit": _string_split,
    "StringNormalizer": _string_normaliser,
    "RegexFullMatch": same_as("X"),
    "ImageDecoder": _image,
}
