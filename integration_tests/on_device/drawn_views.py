"""Operators that move elements: how each is drawn into a network. Some draws come to nothing."""

from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const
from autofuse_ir.dims_eval import evaluate
from drawing import FIXED, LARGEST_DIM, Drawing


def gather(drawing: Drawing) -> None:
    value = drawing.movable()
    axis = drawing.random.randrange(len(value.shape))
    count = drawing.symbol(f"k{len(drawing.symbols)}") if drawing.coin() else const(drawing.random.choice(FIXED))
    dtype = drawing.random.choice((dt.int32, dt.int64))
    indices = drawing.builder.input(f"i{drawing.inputs}", (count,), dtype)
    drawing.inputs += 1
    drawing.positions[indices] = value.shape[axis]
    name = drawing.builder.op("GatherV2", value.name, indices, drawing.number(axis, dt.int64))
    drawing.add(name, value.dtype, (*value.shape[:axis], count, *value.shape[axis + 1 :]), value.loose)


def transpose(drawing: Drawing) -> None:
    value = drawing.movable()
    order = list(range(len(value.shape)))
    drawing.random.shuffle(order)
    name = drawing.builder.op("TransposeD", value.name, perm=tuple(order))
    drawing.add(name, value.dtype, tuple(value.shape[i] for i in order), value.loose)


def slice(drawing: Drawing) -> None:
    value = drawing.movable()
    offsets, shape = [], []
    for dim in value.shape:
        offset = drawing.random.randint(0, min(3, drawing.least(dim)))
        offsets.append(offset)
        shape.append(dim - offset)
    name = drawing.builder.op("SliceD", value.name, offsets=tuple(offsets), size=(-1,) * len(offsets))
    drawing.add(name, value.dtype, tuple(shape), value.loose)


def pad(drawing: Drawing) -> None:
    value = drawing.movable()
    pads = tuple(
        (drawing.random.randint(0, 2), drawing.random.randint(0, 3)) if drawing.coin() else (0, 0) for _ in value.shape
    )
    flat = drawing.integers(*(count for pair in pads for count in pair))
    name = drawing.builder.op("PadV3", value.name, flat, mode="constant")
    shape = tuple(d + before + after for d, (before, after) in zip(value.shape, pads, strict=True))
    drawing.add(name, value.dtype, shape, value.loose)


def concat(drawing: Drawing) -> None:
    value = drawing.movable()
    axis = drawing.random.randrange(len(value.shape))
    rest = value.shape[:axis] + value.shape[axis + 1 :]
    fitting = [
        v
        for v in drawing.values
        if len(v.shape) == len(value.shape) and v.shape[:axis] + v.shape[axis + 1 :] == rest and v.dtype == value.dtype
    ]
    pieces = [value, *drawing.random.choices(fitting, k=drawing.random.randint(1, 2))]
    joined = sum((p.shape[axis] for p in pieces), const(0))
    if evaluate(joined, dict.fromkeys(drawing.symbols, LARGEST_DIM)) > 4 * LARGEST_DIM:
        return
    name = drawing.builder.op("ConcatV2D", *(p.name for p in pieces), concat_dim=axis, N=len(pieces))
    drawing.add(
        name, value.dtype, (*value.shape[:axis], joined, *value.shape[axis + 1 :]), any(p.loose for p in pieces)
    )


def split(drawing: Drawing) -> None:
    value = drawing.movable()
    axis = drawing.random.randrange(len(value.shape))
    pieces = drawing.random.choice((2, 3))
    size = value.shape[axis] // pieces
    if size * pieces != value.shape[axis]:
        return
    for name in drawing.builder.op_outputs("SplitD", value.name, outputs=pieces, split_dim=axis, num_split=pieces):
        shape = (*value.shape[:axis], size, *value.shape[axis + 1 :])
        drawing.add(name, value.dtype, shape, value.loose)


def tile(drawing: Drawing) -> None:
    value = drawing.movable()
    counts = tuple(drawing.random.choice((1, 1, 1, 2, 3)) for _ in value.shape)
    shape = tuple(d * count for d, count in zip(value.shape, counts, strict=True))
    if any(evaluate(d, dict.fromkeys(drawing.symbols, LARGEST_DIM)) > 4 * LARGEST_DIM for d in shape):
        return
    drawing.add(drawing.builder.op("TileD", value.name, multiples=counts), value.dtype, shape, value.loose)


def reverse(drawing: Drawing) -> None:
    value = drawing.movable()
    axis = drawing.integers(drawing.random.randrange(len(value.shape)))
    drawing.add(drawing.builder.op("ReverseV2", value.name, axis), value.dtype, value.shape, value.loose)


def reshape(drawing: Drawing) -> None:
    """Join two dims, or give one a unit dim beside it."""
    value = drawing.movable()
    at = drawing.random.randrange(len(value.shape))
    if at + 1 < len(value.shape) and drawing.coin():
        shape = (*value.shape[:at], value.shape[at] * value.shape[at + 1], *value.shape[at + 2 :])
        if evaluate(shape[at], dict.fromkeys(drawing.symbols, LARGEST_DIM)) > LARGEST_DIM:
            return
        sizes = [0] * at + [-1] + [int(str(d)) if d.is_constant else -2 for d in value.shape[at + 2 :]]
        if -2 in sizes or any(d == 0 for d in value.shape):
            return
        name = drawing.builder.op("Reshape", value.name, drawing.integers(*sizes))
    elif len(value.shape) < 4:
        shape = (*value.shape[:at], const(1), *value.shape[at:])
        name = drawing.builder.op("Unsqueeze", value.name, axes=(at,))
    else:
        return
    drawing.add(name, value.dtype, shape, value.loose)
