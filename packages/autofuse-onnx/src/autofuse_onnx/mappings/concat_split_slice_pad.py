"""Concatenation, splits, slices and padding."""

import numpy as np
from autofuse_ir.dtypes import float32

from autofuse_onnx.lowering import Lowering, Native, Operand, Rule, Step, one
from autofuse_onnx.node import OnnxNode


def _concat(n: OnnxNode) -> Lowering:
    return one("ConcatV2D", *n.inputs, concat_dim=int(n.attrs["axis"]), N=len(n.inputs))


def _split(n: OnnxNode) -> Lowering | None:
    """Sizes are an attribute before version 13, an input since; without them the pieces are equal.

    Since version 18 the last piece may be smaller, when the number of pieces does not divide the size.
    """
    axis, count = int(n.attrs.get("axis", 0)), len(n.outputs)
    sizes = n.ints("split", 1)
    if sizes is not None:
        return one("SplitVD", n.input(0), size_splits=sizes, split_dim=axis, num_split=count)
    if n.input(1) is not None:
        native = Native("Split", (0, 1), {"axis": axis})
        inputs = (n.input(0), n.input(1), np.asarray(axis, np.int64))
        return (Step("SplitV", inputs, {"num_split": count}, native=native),)
    equal = one("SplitD", n.input(0), split_dim=axis, num_split=count)
    if n.opset < 18:
        return equal
    shape = n.shape(0)
    size = None if shape is None else shape[axis]
    if not isinstance(size, int):
        return _uneven_split(n, axis, count) if count > 1 else equal
    piece = -(-size // count)
    rest = (*[piece] * (count - 1), size - piece * (count - 1))
    return equal if rest[-1] == piece else one("SplitVD", n.input(0), size_splits=rest, split_dim=axis, num_split=count)


def _uneven_split(n: OnnxNode, axis: int, count: int) -> Lowering:
    """Compute the sizes of the pieces: ``ceil(size / count)``, and what is left for the last one."""
    base = n.outputs[0]
    size, raised, piece, all_but_last, last, sizes = (
        f"{base}.{part}" for part in ("size", "raised", "piece", "before_last", "last", "sizes")
    )
    start, end = axis, axis + 1
    attrs = {"dtype": 9, "start": start} | ({"end": end} if end else {})
    shape_attrs = {"start": start} | ({"end": end} if end else {})
    return (
        Step("Shape", (n.input(0),), attrs, (size,), Native("Shape", (0,), shape_attrs)),
        Step("Add", (size, np.asarray([count - 1], np.int64)), {}, (raised,), Native("Add", (0, 1))),
        Step("Div", (raised, np.asarray([count], np.int64)), {}, (piece,), Native("Div", (0, 1))),
        Step("Mul", (piece, np.asarray([count - 1], np.int64)), {}, (all_but_last,), Native("Mul", (0, 1))),
        Step("Sub", (size, all_but_last), {}, (last,), Native("Sub", (0, 1))),
        Step(
            "ConcatV2D",
            (*[piece] * (count - 1), last),
            {"concat_dim": 0, "N": count},
            (sizes,),
            Native("Concat", tuple(range(count)), {"axis": 0}),
        ),
        Step(
            "SplitV",
            (n.input(0), sizes, np.asarray(axis, np.int64)),
            {"num_split": count},
            native=Native("Split", (0, 1), {"axis": axis}),
        ),
    )


def _slice(n: OnnxNode) -> Lowering:
    """Bounds are attributes before version 10, inputs since, in the order of StridedSliceV3."""
    if n.opset >= 10:
        return one("StridedSliceV3", *n.inputs)
    axes = n.attrs.get("axes")
    bounds: list[Operand] = [np.asarray(n.attrs[name], np.int64) for name in ("starts", "ends")]
    if axes is not None:
        bounds.append(np.asarray(axes, np.int64))
    return one("StridedSliceV3", n.input(0), *bounds)


def _pad(n: OnnxNode) -> Lowering | None:
    """Pads and value are attributes before version 11; pads for some axes only (since 18) are spread to all."""
    mode = {"wrap": "circular"}.get(n.text("mode", "constant"), n.text("mode", "constant"))
    if n.opset < 11:
        dtype = n.dtype(0) or float32
        value: Operand = n.scalar(n.attrs.get("value", 0.0), dtype) if mode == "constant" else None
        pads: Operand = np.asarray(n.attrs["pads"], np.int64)
        return one("PadV3", n.input(0), pads, value, mode=mode, paddings_contiguous=False)
    pads = n.input(1)
    if n.input(3) is not None:
        axes, given, rank = n.content(3), n.content(1), n.rank(0)
        if axes is None or rank is None:
            return None
        chosen = [int(axis) % rank for axis in axes] if rank else []
        if chosen != list(range(rank)):
            if given is None:
                return _pad_some_axes(n, chosen, rank, mode)
            spread = np.zeros((2, rank), np.int64)
            spread[:, chosen] = np.asarray(given, np.int64).reshape(2, -1)
            pads = spread.reshape(-1)
    return one("PadV3", n.input(0), pads, n.input(2), mode=mode, paddings_contiguous=False)


def _pad_some_axes(n: OnnxNode, axes: list[int], rank: int, mode: str) -> Lowering:
    """Spread pads that are known at run time only to all axes: pick them, or a zero, by position."""
    base, count = n.outputs[0], len(axes)
    extended, spread = f"{base}.pads_and_zero", f"{base}.pads"
    positions = np.full((2, rank), 2 * count, np.int64)
    positions[0, axes], positions[1, axes] = np.arange(count), np.arange(count, 2 * count)
    zero = np.zeros(1, np.int64)
    onnx_mode = n.text("mode", "constant")
    return (
        Step(
            "ConcatV2D",
            (n.input(1), zero),
            {"concat_dim": 0, "N": 2},
            (extended,),
            Native("Concat", (0, 1), {"axis": 0}),
        ),
        Step("GatherV2", (extended, positions.reshape(-1), np.asarray(0)), {}, (spread,), Native("Gather", (0, 1))),
        Step(
            "PadV3",
            (n.input(0), spread, n.input(2)),
            {"mode": mode, "paddings_contiguous": False},
            native=Native("Pad", (0, 1) if n.input(2) is None else (0, 1, 2), {"mode": onnx_mode}),
        ),
    )


RULES: dict[str, Rule] = {"Concat": _concat, "Pad": _pad, "Slice": _slice, "Split": _split}
