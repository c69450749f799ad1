"""The meaning of views, shape operators, and tensors made from a shape."""

import math

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.axes import normalised
from autofuse_reference.operators.call import Call, Meaning


def _reshape(call: Call) -> Array:
    x, target = call.array("x"), list(call.operand("shape"))
    begin = call.integer("axis") + (x.ndim + 1 if call.integer("axis") < 0 else 0)
    count = call.integer("num_axes")
    end = x.ndim if count == -1 else begin + count
    replaced = x.shape[begin:end]
    if not call.flag("allowzero"):
        if any(size == 0 and i >= len(replaced) for i, size in enumerate(target)):
            call.fail(f"0 in the shape {target} copies a dim that the input {list(x.shape)} does not have")
        target = [replaced[i] if size == 0 else size for i, size in enumerate(target)]
    if target.count(-1) > 1:
        call.fail(f"the shape {target} leaves more than one dim open")
    if -1 in target:
        known, total = math.prod(size for size in target if size != -1), math.prod(replaced)
        if known == 0 or total % known:
            call.fail(f"no size in place of -1 makes {target} hold the {total} elements of {list(x.shape)}")
        target[target.index(-1)] = total // known
    return x.reshape((*x.shape[:begin], *target, *x.shape[end:]))


def _without(call: Call, axes: tuple[int, ...]) -> Array:
    x = call.array("x")
    if not axes:
        return x.reshape([size for size in x.shape if size != 1])
    chosen = normalised(call, axes, x.ndim)
    if any(x.shape[axis] != 1 for axis in chosen):
        call.fail(f"axes {list(axes)} of shape {list(x.shape)} are not all of size 1")
    return x.reshape([size for axis, size in enumerate(x.shape) if axis not in chosen])


def _squeeze_v3(call: Call) -> Array:
    return _without(call, () if call.optional("axes") is None else call.operand("axes"))


def _with_ones(call: Call, axes: tuple[int, ...]) -> Array:
    x = call.array("x")
    rank = x.ndim + len(axes)
    chosen = normalised(call, axes, rank)
    sizes = iter(x.shape)
    return x.reshape([1 if axis in chosen else next(sizes) for axis in range(rank)])


def _flatten(call: Call) -> Array:
    x, axis = call.array("x"), call.integer("axis")
    if not -x.ndim <= axis <= x.ndim:
        call.fail(f"axis {axis} does not fit rank {x.ndim}", f"use one from {-x.ndim} to {x.ndim}")
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _flatten_v2(call: Call) -> Array:
    x = call.array("x")
    if x.ndim == 0:
        return x.reshape(1)
    begin, end = (normalised(call, (call.integer(name),), x.ndim)[0] for name in ("axis", "end_axis"))
    if begin > end:
        call.fail(f"axis {begin} comes after end_axis {end}")
    return x.reshape(*x.shape[:begin], math.prod(x.shape[begin : end + 1]), *x.shape[end + 1 :])


def _shape(call: Call) -> Array:
    shape = call.array("x").shape
    end = call.attrs["end"]
    return np.asarray(shape[call.integer("start") : end if isinstance(end, int) else None], np.int64)


def _gather_shapes(call: Call) -> Array:
    arrays, pairs = call.tensors("x"), call.attrs["axes"]
    assert isinstance(pairs, tuple), "axes"
    return np.asarray([arrays[i].shape[d] for i, d in (pair for pair in pairs if isinstance(pair, tuple))], np.int64)


def _expand(call: Call) -> Array:
    x = call.array("x")
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, call.operand("shape")))


def _tile(call: Call, repeats: tuple[int, ...]) -> Array:
    if len(repeats) < call.array("x").ndim:
        call.fail(f"{len(repeats)} multiples for rank {call.array('x').ndim}")
    return np.tile(call.array("x"), repeats)


def _transpose(call: Call, perm: tuple[int, ...]) -> Array:
    x = call.array("x")
    return np.transpose(x, normalised(call, perm, x.ndim))


def _image(call: Call) -> tuple[Array, bool]:
    """Return the 4-d input with channels on axis 1, and whether they were last."""
    x, last = call.array("x"), call.text("data_format") == "NHWC"
    if x.ndim != 4 or call.integer("block_size") < 1:
        call.fail(f"blocks of {call.integer('block_size')} do not fit shape {list(x.shape)}", "give 4 dims")
    return np.moveaxis(x, -1, 1) if last else x, last


def _depth_to_space(call: Call) -> Array:
    (x, last), block = _image(call), call.integer("block_size")
    n, c, h, w = x.shape
    if c % block**2:
        call.fail(f"{c} channels do not make up blocks of {block} x {block}")
    if call.text("mode") == "CRD":
        pieces = x.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        pieces = x.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    result = pieces.reshape(n, c // block**2, h * block, w * block)
    return np.moveaxis(result, 1, -1) if last else result


def _space_to_depth(call: Call) -> Array:
    (x, last), block = _image(call), call.integer("block_size")
    n, c, h, w = x.shape
    if h % block or w % block:
        call.fail(f"{h} x {w} pixels are not made of blocks of {block} x {block}")
    order = (0, 1, 3, 5, 2, 4) if call.text("mode") == "CRD" else (0, 3, 5, 1, 2, 4)
    pieces = x.reshape(n, c, h // block, block, w // block, block).transpose(order)
    result = pieces.reshape(n, c * block**2, h // block, w // block)
    return np.moveaxis(result, 1, -1) if last else result


def _triangle(call: Call, diagonal: int, upper: bool) -> Array:
    x = call.array("x")
    if x.ndim < 2:
        call.fail(f"shape {list(x.shape)} holds no matrices", "give at least 2 dims")
    row, column = np.arange(x.shape[-2])[:, None], np.arange(x.shape[-1])[None, :]
    kept = column - row >= diagonal if upper else column - row <= diagonal
    return np.where(kept, x, np.zeros((), x.dtype))


def _trilu(call: Call) -> Array:
    k = 0 if call.optional("k") is None else call.operand("k")[0]
    return _triangle(call, k, call.flag("upper"))


def _eye(call: Call) -> Array:
    square = np.eye(call.integer("num_rows"), call.integer("num_columns") or call.integer("num_rows"))
    return np.broadcast_to(square, (*call.integers("batch_shape"), *square.shape))


def _eye_like(call: Call) -> Array:
    rows, columns = call.array("x").shape
    return np.eye(rows, columns, call.integer("k"))


def _reverse(call: Call) -> Array:
    x = call.array("x")
    line = x if x.ndim else x.reshape(1)  # rank 0 is a vector of one element
    return np.flip(line, normalised(call, call.operand("axis"), line.ndim)).reshape(x.shape)


def _roll(call: Call) -> Array:
    x, shifts, dims = call.array("x"), call.integers("shifts"), call.integers("dims")
    if len(shifts) != max(1, len(dims)):
        call.fail(f"{len(shifts)} shifts for {len(dims)} dims", "give one shift for each dim, or one and no dims")
    axes = [normalised(call, (dim,), x.ndim)[0] for dim in dims]
    return np.roll(x, shifts, axes) if dims else np.roll(x, shifts[0])


def _as_strided(call: Call) -> Array:
    flat = np.ascontiguousarray(call.array("x")).reshape(-1)
    offset = 0 if call.optional("storage_offset") is None else call.operand("storage_offset")[0]
    index = np.full((), offset, np.int64)
    for size, stride in zip(call.operand("size"), call.operand("stride"), strict=True):
        index = index[..., None] + stride * np.arange(size)
    if index.size and (index.min() < 0 or index.max() >= flat.size):
        reached = int(index.min() if index.min() < 0 else index.max())
        call.fail(f"the view reads element {reached} of {flat.size}")
    return flat[index]


def _range(call: Call) -> Array:
    start, limit, delta = (call.array(name).reshape(()) for name in ("start", "limit", "delta"))
    if delta == 0:
        call.fail("delta is 0")
    if not all(np.isfinite(each) for each in (start, limit, delta)):
        call.fail(f"start {start}, limit {limit} and delta {delta} are not all finite")
    if start.dtype.kind == "f":
        steps = (np.float64(limit) - np.float64(start)) / np.float64(delta)
        count = math.floor(steps) + 1 if call.flag("is_closed") else math.ceil(steps)
    else:
        distance, step = int(limit) - int(start), int(delta)
        count = distance // step + 1 if call.flag("is_closed") else -(-distance // step)
    return np.asarray(start + np.arange(max(count, 0)).astype(start.dtype) * delta)


def _linspace(call: Call) -> Array:
    start, stop = call.array("start").reshape(()), call.array("stop").reshape(())
    # 16-bit floats are computed in float32 and rounded once
    wide = np.promote_types(np.float32, start.dtype)
    return np.linspace(start.astype(wide), stop.astype(wide), call.operand("num")[0], dtype=wide).astype(start.dtype)


def _reverse_sequence(call: Call) -> Array:
    x, result = call.array("x"), call.array("x").copy()
    sequence, batch = normalised(call, (call.integer("seq_dim"), call.integer("batch_dim")), x.ndim)
    for row, length in enumerate(call.operand("seq_lengths")):
        if not 0 <= length <= x.shape[sequence]:
            call.fail(f"sequence {row} has length {length}, but dim {sequence} has size {x.shape[sequence]}")
        part: list[slice | int] = [slice(None)] * x.ndim
        part[batch] = row
        part[sequence] = slice(0, length)
        axis = sequence - (batch < sequence)
        result[tuple(part)] = np.flip(x[tuple(part)], axis)
    return result


def _repeat(call: Call, name: str, axis: int) -> Array:
    return np.repeat(call.array("x"), np.asarray(call.operand(name), np.int64), axis)


def _fill(call: Call) -> Array:
    return np.broadcast_to(call.array("value").reshape(()), call.operand("dims"))


MEANINGS: tuple[Meaning, ...] = (
    Meaning("Reshape", _reshape, moves=True),
    Meaning("Squeeze", lambda call: _without(call, call.integers("axis")), moves=True),
    Meaning("SqueezeV3", _squeeze_v3, moves=True),
    Meaning("Unsqueeze", lambda call: _with_ones(call, call.integers("axes")), moves=True),
    Meaning("UnsqueezeV3", lambda call: _with_ones(call, call.operand("axes")), moves=True),
    Meaning("ExpandDims", lambda call: _with_ones(call, call.operand("axis")), moves=True),
    Meaning("Flatten", _flatten, moves=True),
    Meaning("FlattenV2", _flatten_v2, moves=True),
    Meaning("Shape", _shape, moves=True),
    Meaning("Size", lambda call: np.asarray(call.array("x").size, np.int64), moves=True),
    Meaning("GatherShapes", _gather_shapes, moves=True),
    Meaning("Expand", _expand, moves=True),
    Meaning("BroadcastTo", lambda call: np.broadcast_to(call.array("x"), call.operand("shape")), moves=True),
    Meaning("Fill", _fill, moves=True),
    Meaning("Tile", lambda call: _tile(call, call.operand("multiples")), moves=True),
    Meaning("TileD", lambda call: _tile(call, call.integers("multiples")), moves=True),
    Meaning("Transpose", lambda call: _transpose(call, call.operand("perm")), moves=True),
    Meaning("TransposeD", lambda call: _transpose(call, call.integers("perm")), moves=True),
    Meaning("DepthToSpace", _depth_to_space, moves=True),
    Meaning("SpaceToDepth", _space_to_depth, moves=True),
    Meaning("Trilu", _trilu, moves=True),
    Meaning("Tril", lambda call: _triangle(call, call.integer("diagonal"), upper=False), moves=True),
    Meaning("Triu", lambda call: _triangle(call, call.integer("diagonal"), upper=True), moves=True),
    Meaning("Eye", _eye),
    Meaning("ReverseV2", _reverse, moves=True),
    Meaning("Roll", _roll, moves=True),
    Meaning("AsStrided", _as_strided, moves=True),
    Meaning("EyeLike", _eye_like, moves=True),
    Meaning("Range", _range),
    Meaning("LinSpace", _linspace),
    Meaning("Repeat", lambda call: _repeat(call, "repeat_times", 0), moves=True),
    Meaning("RepeatInterleave", lambda call: _repeat(call, "repeats", call.integer("axis")), moves=True),
    Meaning("ReverseSequence", _reverse_sequence, moves=True),
)
