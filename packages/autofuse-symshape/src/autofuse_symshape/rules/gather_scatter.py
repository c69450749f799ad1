"""Shapes of gathers, scatters, segments, sorting and selection."""

from autofuse_ir.dims import Dim, all_of, const, dim_max, ge, le, product

from autofuse_symshape.broadcast import broadcast
from autofuse_symshape.call import Call, shown
from autofuse_symshape.errors import UnknownShape
from autofuse_symshape.known import Real, Shape
from autofuse_symshape.rules.model import Rule, Shapes, same_as
from autofuse_symshape.rules.shape_view import sizes_given
from autofuse_symshape.simplify import smaller


def equal_parts(call: Call, a: Shape, b: Shape, what: str) -> Shape:
    """Make sure that two shapes are equal; returns the simpler dims."""
    if len(a) != len(b):
        call.fail(f"{what}: shapes {shown(a)} and {shown(b)} have different ranks")
    return tuple(
        [call.require_equal(x, y, f"{what}: {shown(a)} and {shown(b)} differ") for x, y in zip(a, b, strict=True)]
    )


def _batch_dims(call: Call, rank: int) -> int:
    batch = call.int_attr("batch_dims")
    batch += rank if batch < 0 else 0
    if not 0 <= batch <= rank:
        call.fail(f"batch_dims {call.int_attr('batch_dims')} do not fit indices of rank {rank}")
    return batch


def _gather(call: Call) -> Shapes:
    x, indices = call.shape("x"), call.shape("indices")
    batch = _batch_dims(call, len(indices))
    axis = call.axis(call.integers("axis")[0] if call.op.input("axis") else batch, len(x))
    if axis < batch:
        call.fail(f"axis {axis} is one of the {batch} batch dims")
    equal_parts(call, x[:batch], indices[:batch], "the batch dims of x and indices")
    return ((*x[:axis], *indices[batch:], *x[axis + 1 :]),)


def _gather_nd(call: Call) -> Shapes:
    x, indices = call.shape("x"), call.shape("indices")
    batch = _batch_dims(call, len(x))
    if not indices:
        call.fail("input 'indices' needs a last axis, but has rank 0")
    depth = indices[-1].constant_value
    if depth is None:
        raise UnknownShape("indices")
    if batch + depth > len(x):
        call.fail(f"indices of shape {shown(indices)} select {depth} dims after {batch} of {shown(x)}")
    equal_parts(call, x[:batch], indices[:batch], "the batch dims of x and indices")
    return ((*indices[:-1], *x[batch + depth :]),)


def _gather_elements(call: Call) -> Shapes:
    x, index = call.shape("x"), call.shape("index")
    if len(x) != len(index):
        call.fail(f"index of shape {shown(index)} must have the rank of {shown(x)}")
    axis = call.axis(call.int_attr("dim"), len(x), "dim")
    for other, (dim, count) in enumerate(zip(x, index, strict=True)):
        if other != axis:
            call.require(le(count, dim), f"index of shape {shown(index)} leaves {shown(x)} on axis {other}")
    return (index,)


def _one_hot(call: Call) -> Shapes:
    x = call.shape("x")
    axis = call.axis(call.int_attr("axis"), len(x) + 1)
    depth = _count(call, "depth")
    call.require(ge(depth, 0), f"the depth {depth} is negative")
    return ((*x[:axis], depth, *x[axis:]),)


def _count(call: Call, name: str) -> Dim:
    """The only element of a number, which may be a float."""
    if call.dtype(name).is_integer:
        return call.size(name, 0)
    content = call.content(name)
    element = content[0] if content else None
    if not isinstance(element, Real) or element.denominator != 1:
        raise UnknownShape(name)
    return element.numerator


def _index(call: Call) -> Shapes:
    """Adjacent indexed dims keep their place; others move to the front, as in NumPy."""
    x, mask = call.shape("x"), call.integers("indexed_sizes")
    indexed = [axis for axis, used in enumerate(mask) if used]
    if not indexed:
        return (x,)
    if len(mask) > len(x) or len(indexed) != len(call.values("indices")):
        call.fail(f"{len(call.values('indices'))} indices do not fit the mask {list(mask)} and {shown(x)}")
    around = broadcast(call, call.shapes("indices"))
    kept = [dim for axis, dim in enumerate(x) if axis not in indexed]
    place = indexed[0] if indexed == list(range(indexed[0], indexed[-1] + 1)) else 0
    return ((*kept[:place], *around, *kept[place:]),)


def _top_k(name: str, count: str, axis_attr: str) -> Rule:
    def rule(call: Call) -> Shapes:
        x, k = call.shape(name), call.size(count, 0)
        axis = call.axis(call.int_attr(axis_attr), len(x), axis_attr)
        call.require(
            all_of(ge(k, 0), le(k, x[axis])), f"k is {k}, but axis {axis} of {shown(x)} has {x[axis]} elements"
        )
        return ((*x[:axis], k, *x[axis + 1 :]),) * call.output_count

    return rule


def _sort(call: Call) -> Shapes:
    x = call.shape("x")
    call.axis(call.int_attr("axis"), len(x))
    return (x,) * call.output_count


def _search_sorted(call: Call) -> Shapes:
    sequence, values = call.shape("sorted_sequence"), call.shape("values")
    if len(sequence) != 1:
        equal_parts(call, sequence[:-1], values[:-1], "the rows of sorted_sequence and values")
    return (values,)


def _matrix_diag(call: Call) -> Shapes:
    diagonal, k = call.shape("diagonal"), call.integers("k")
    low, high = k[0], k[-1]
    batch = diagonal[: -2 if low != high else -1]
    rows, columns = call.size("num_rows", -1), call.size("num_cols", -1)
    least_rows, least_columns = diagonal[-1] - min(high, 0), diagonal[-1] + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = dim_max(least_rows, least_columns)
    elif not (rows.is_constant and columns.is_constant):
        raise UnknownShape("num_rows")
    return ((*batch, least_rows if rows == -1 else rows, least_columns if columns == -1 else columns),)


def _scatter_elements(call: Call) -> Shapes:
    data, indices, updates = call.shape("data"), call.shape("indices"), call.shape("updates")
    call.axis(call.int_attr("axis"), len(data))
    equal_parts(call, indices, updates, "indices and updates")
    if len(indices) != len(data):
        call.fail(f"indices of shape {shown(indices)} must have the rank of {shown(data)}")
    return (data,)


def _scatter_nd(name: str) -> Rule:
    def rule(call: Call) -> Shapes:
        data, indices, updates = call.shape(name), call.shape("indices"), call.shape("updates")
        depth = indices[-1].constant_value if indices else 0
        if depth is not None:
            if not indices or depth > len(data):
                call.fail(f"indices of shape {shown(indices)} do not fit {shown(data)}")
            equal_parts(call, (*indices[:-1], *data[depth:]), updates, "the places of the indices and updates")
        return (data,)

    return rule


def _scatter_rows(call: Call) -> Shapes:
    var, indices, updates = call.shape("var"), call.shape("indices"), call.shape("updates")
    if updates:
        equal_parts(call, (*indices, *var[1:]), updates, "the rows of the indices and updates")
    return (var,)


def _index_fill(call: Call) -> Shapes:
    x = call.shape("x")
    call.axis(call.int_attr("dim"), len(x), "dim")
    return (x,)


def _index_add(call: Call) -> Shapes:
    var = call.shape("var")
    call.axis(call.int_attr("axis"), len(var))
    return (var,)


def _segments(call: Call) -> Shapes:
    x, ids, count = call.shape("x"), call.shape("segment_ids"), call.size("num_segments", 0)
    if len(ids) > len(x):
        call.fail(f"segment_ids of shape {shown(ids)} have a higher rank than {shown(x)}")
    equal_parts(call, ids, x[: len(ids)], "segment_ids and x")
    call.require(ge(count, 0), f"the number of segments {count} is negative")
    return ((count, *x[len(ids) :]),)


def _dynamic_stitch(call: Call) -> Shapes:
    indices, x = call.shapes("indices"), call.shapes("x")
    places = [place for name in call.values("indices") for place in _constants(call, name)]
    rest = x[0][len(indices[0]) :]
    if len(places) == sum(product(shape).constant_value or 0 for shape in indices) and places:
        return ((const(max(places) + 1), *rest),)
    return ((call.unbacked(0, 0), *rest),)


def _constants(call: Call, value: str) -> list[int]:
    content = call.content_of(value) or ()
    numbers = [element.constant_value for element in content if isinstance(element, Dim)]
    return [number for number in numbers if number is not None]


def _non_zero(call: Call) -> Shapes:
    x = call.shape("X")
    return ((const(len(x)), call.unbacked(0, 1, product(x))),)


def _compress(call: Call) -> Shapes:
    x, condition, axis = call.shape("input"), call.shape_of_rank("condition", 1), call.attr("axis")
    if not isinstance(axis, int):
        return ((call.unbacked(0, 0, smaller(call.oracle, product(x), condition[0])),),)
    axis = call.axis(axis, len(x))
    return ((*x[:axis], call.unbacked(0, axis, smaller(call.oracle, x[axis], condition[0])), *x[axis + 1 :]),)


def _unique(call: Call) -> Shapes:
    x, axis = call.shape("X"), call.attr("axis")
    if isinstance(axis, int):
        axis = call.axis(axis, len(x))
        count = call.unbacked(0, axis, x[axis])
        return ((*x[:axis], count, *x[axis + 1 :]), (count,), (x[axis],), (count,))
    count = call.unbacked(0, 0, product(x))
    return ((count,), (count,), (product(x),), (count,))


def _diag_part(call: Call) -> Shapes:
    x = call.shape("x")
    if len(x) % 2:
        call.fail(f"input 'x' of shape {shown(x)} must have an even rank")
    half = len(x) // 2
    return (equal_parts(call, x[:half], x[half:], "both halves of the shape"),)


def _embedding(call: Call) -> Shapes:
    return ((*call.shape("keys"), const(call.int_attr("embedding_dim"))),)


RULES: dict[str, Rule] = {
    "Gather": _gather,
    "GatherV2": _gather,
    "GatherNd": _gather_nd,
    "GatherElements": _gather_elements,
    "OneHot": _one_hot,
    "IndexFill": _index_fill,
    "Index": _index,
    "ScatterElements": _scatter_elements,
    "TensorScatterUpdate": _scatter_nd("x"),
    "ScatterND": _scatter_nd("data"),
    "TopKV2": _top_k("x", "k", "dim"),
    "TopK": _top_k("X", "K", "axis"),
    "Sort": _sort,
    "SearchSorted": _search_sorted,
    "Bucketize": same_as("x"),
    "MatrixDiagV2": _matrix_diag,
    "DynamicStitch": _dynamic_stitch,
    "UnsortedSegmentSum": _segments,
    "UnsortedSegmentMax": _segments,
    "UnsortedSegmentMin": _segments,
    "SparseToDense": lambda call: (sizes_given(call, "output_shape"),),
    "NonZero": _non_zero,
    "Compress": _compress,
    "Unique": _unique,
    "ScatterAdd": _scatter_rows,
    **dict.fromkeys(("ScatterNdAdd", "ScatterNdUpdate", "ScatterNdMax", "ScatterNdMin"), _scatter_nd("var")),
    "InplaceIndexAdd": _index_add,
    "ViewCopy": same_as("dst"),
    "DiagPartD": _diag_part,
    "EmbeddingHashTableLookupOrInsert": _embedding,
}
