"""Operators that show a tensor under another shape or order, and those that make one from a shape."""

from autofuse_ir import dtypes as dt
from autofuse_ir.operators.dtype_classes import FLOATS, NUMBERS

from autofuse_testkit.operator_matrix.call import Call, below
from autofuse_testkit.operator_matrix.form import Form

_SAME_WIDTH = {
    8: (dt.int8, dt.uint8),
    16: (dt.int16, dt.float16, dt.bfloat16),
    32: (dt.float32, dt.int32),
    64: (dt.int64, dt.float64),
}


def _axes_given(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), b.fixed([0]))


def _squeeze(b: Call) -> tuple[str, ...]:
    axis = b.turn % (b.rank + 1)
    x = b.x(*b.dims[:axis], 1, *b.dims[axis:])
    return b.call(x, axis=(axis,)) if b.operator.name == "Squeeze" else b.call(x, b.fixed([axis]))


def _target_shape(b: Call) -> str:
    """The shape of another input, only known at run time."""
    return b.op("Shape", b.whole(dtype=dt.float32), dtype=9)


def _expand(b: Call) -> tuple[str, ...]:
    shape = tuple(1 if (axis + b.turn) % 2 else dim for axis, dim in enumerate(b.dims))
    return b.call(b.x(*shape), _target_shape(b))


def _multiples(b: Call) -> list[int]:
    return [1 + (axis + b.turn) % 3 for axis in range(b.rank)]


def _permutation(b: Call) -> list[int]:
    order = list(range(b.rank))
    if b.turn % 3 == 0:
        return order[::-1]
    return order[1:] + order[:1] if b.turn % 3 == 1 else [*order[:-2], *order[-1:], *order[-2:-1]]


def _blocks(b: Call) -> tuple[str, ...]:
    first, *rest = b.dims
    channels_last = b.turn % 2 == 0
    if b.operator.name == "DepthToSpace":
        shape = (first, *rest[:2], "4*d") if channels_last else (first, "4*b", *rest[1:])
    else:
        shape = (first, "2*b", "2*c", rest[2]) if channels_last else (first, rest[0], "2*c", "2*d")
    mode = ("DCR", "CRD")[b.turn // 2 % 2]
    return b.call(b.x(*shape), block_size=2, mode=mode, data_format="NHWC" if channels_last else "NCHW")


def _triangle(b: Call) -> tuple[str, ...]:
    k = (0, 1, -2)[b.turn % 3]
    if b.operator.name == "Trilu":
        return b.call(b.whole(), b.fixed(k), upper=b.turn % 2 == 1)
    return b.call(b.whole(), diagonal=k)


def _eye(b: Call) -> tuple[str, ...]:
    batch = (2, 1, 3, 2)[: b.rank - 2]
    return b.call(num_rows=3, num_columns=4 + b.turn % 2, batch_shape=batch, dtype=b.dtype.ascend_code)


def _reverse_sequence(b: Call) -> tuple[str, ...]:
    lengths = b.x(b.dims[0], dtype=dt.int64, content=below(f"{b.dims[1]}+1"))
    return b.call(b.whole(), lengths, seq_dim=1, batch_dim=0)


def _range(b: Call) -> tuple[str, ...]:
    return b.call(*(b.fixed(value, b.dtype) for value in (1, 20, 3)))


def _as_strided(b: Call) -> tuple[str, ...]:
    x = b.x("a+8")
    return b.call(x, b.fixed([2, 3]), b.fixed([3, 1]))


def _bitcast(b: Call) -> tuple[str, ...]:
    return b.call(b.whole(), type=_SAME_WIDTH[b.dtype.bits][b.turn % 2])


FORMS: dict[str, Form] = {
    "Reshape": Form(lambda b: b.call(b.whole(), b.fixed([-1]))),
    "Squeeze": Form(_squeeze),
    "SqueezeV3": Form(_squeeze),
    "Unsqueeze": Form(lambda b: b.call(b.whole(), axes=(0, b.rank + 1))),
    "UnsqueezeV3": Form(_axes_given),
    "ExpandDims": Form(lambda b: b.call(b.whole(), b.fixed(b.turn % (b.rank + 1)))),
    "Flatten": Form(lambda b: b.call(b.whole(), axis=b.axis()), 1),
    "FlattenV2": Form(lambda b: b.call(b.whole(), axis=0, end_axis=b.axis()), 1),
    "Bitcast": Form(_bitcast, types=sum(_SAME_WIDTH.values(), ())),
    "Shape": Form(lambda b: b.call(b.whole(), dtype=9)),
    "Size": Form(lambda b: b.call(b.whole(), dtype=3)),
    "GatherShapes": Form(lambda b: b.call(b.whole(), b.whole(), axes=((0, b.axis()), (1, 0))), 1),
    "Expand": Form(_expand),
    "BroadcastTo": Form(_expand),
    "Fill": Form(lambda b: b.call(_target_shape(b), b.x())),
    "Tile": Form(lambda b: b.call(b.whole(), b.fixed(_multiples(b)))),
    "TileD": Form(lambda b: b.call(b.whole(), multiples=tuple(_multiples(b)))),
    "Transpose": Form(lambda b: b.call(b.whole(), b.fixed(_permutation(b)))),
    "TransposeD": Form(lambda b: b.call(b.whole(), perm=tuple(_permutation(b)))),
    "DepthToSpace": Form(_blocks, 4, 4),
    "SpaceToDepth": Form(_blocks, 4, 4),
    "Trilu": Form(_triangle, 2),
    "Tril": Form(_triangle, 2),
    "Triu": Form(_triangle, 2),
    "Eye": Form(_eye, 2, types=dt.TENSOR_DTYPES),
    "ReverseV2": Form(lambda b: b.call(b.whole(), b.fixed([b.axis()])), 1),
    "Roll": Form(lambda b: b.call(b.whole(), shifts=(2, -1)[: b.rank], dims=(0, b.rank - 1)[: b.rank]), 1),
    "AsStrided": Form(_as_strided, 1, 1),
    "EyeLike": Form(lambda b: b.call(b.whole(), k=b.turn % 3 - 1), 2, 2),
    "Range": Form(_range, 0, 0, types=NUMBERS),
    "LinSpace": Form(lambda b: b.call(b.x(), b.x(), b.fixed(7)), 0, 0, types=FLOATS),
    "Repeat": Form(lambda b: b.call(b.x(*b.with_dim(0, 3)), b.fixed([2, 0, 3])), 1),
    "RepeatInterleave": Form(lambda b: b.call(b.whole(), b.fixed([2]), axis=b.axis()), 1),
    "ReverseSequence": Form(_reverse_sequence, 2),
}
