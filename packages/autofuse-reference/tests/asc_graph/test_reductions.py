"""Reductions, scans and axis indices of HintGraphs, against the tree of `autofuse_ir.reduction` in scalar Python."""

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import Tree
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.operators import evaluate_operator
from hypothesis import given, settings
from hypothesis import strategies as st


def larger(a: Any, b: Any) -> Any:
    return b if b > a or np.isnan(b) else a


def smaller(a: Any, b: Any) -> Any:
    return b if b < a or np.isnan(b) else a


JOIN: dict[str, Callable[[Any, Any], Any]] = {
    "Sum": lambda a, b: a + b,
    "Prod": lambda a, b: a * b,
    "Max": larger,
    "Min": smaller,
    "Any": lambda a, b: np.bool_(a or b),
    "All": lambda a, b: np.bool_(a and b),
}


def start_of(op: str, dtype: Any) -> Any:
    if dtype.kind == "f":
        return dtype.type({"Sum": -0.0, "Prod": 1.0, "Max": -np.inf, "Min": np.inf}[op])
    if dtype.kind == "b":
        return np.bool_(op in ("All", "Min"))
    limits = np.iinfo(dtype)
    return dtype.type({"Sum": 0, "Prod": 1, "Max": limits.min, "Min": limits.max}[op])


def tree_by_hand(op: str, elements: list[Any], dtype: Any, tree: Tree) -> Any:
    """The rule of the tree, one scalar at a time."""
    join, start = JOIN[op], start_of(op, dtype)
    if not elements:
        return dtype.type(0) if op == "Sum" else start
    level = []
    for first in range(0, len(elements), tree.leaf):
        partials = [start] * tree.partials
        for number, element in enumerate(elements[first : first + tree.leaf]):
            partials[number % tree.partials] = join(partials[number % tree.partials], element)
        half = tree.partials // 2
        while half:
            for j in range(half):
                partials[j] = join(partials[j], partials[j + half])
            half //= 2
        level.append(partials[0])
    while len(level) > 1:
        paired = [join(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = paired + level[len(level) // 2 * 2 :]
    return level[0]


def reduced(
    op: str, x: Any, dtype: DType, axes: tuple[int, ...], tree: Tree | None, precision: Any = "declared"
) -> Any:
    names = [f"z{i}" for i in range(x.ndim)]
    b = AscGraphBuilder("k", dict(zip(names, x.shape, strict=True)))
    value = b.load(b.input("x", dtype), x.shape, tuple(names))
    kept = [i for i in range(x.ndim) if i not in axes]
    joined = b.reduce(op, value, *(names[i] for i in axes), tree=tree)
    b.store(joined, "y", tuple(x.shape[i] for i in kept), tuple(names[i] for i in kept))
    return interpret(b.build(), [x], {}, precision)[0]


def by_hand(op: str, x: Any, axes: tuple[int, ...], tree: Tree) -> Any:
    kept = [i for i in range(x.ndim) if i not in axes]
    wanted = np.empty([x.shape[i] for i in kept], x.dtype)
    for point in np.ndindex(*wanted.shape):
        elements = []
        for inner in itertools.product(*(range(x.shape[i]) for i in axes)):
            place = dict(zip(kept, point, strict=True)) | dict(zip(axes, inner, strict=True))
            elements.append(x[tuple(place[i] for i in range(x.ndim))])
        with np.errstate(all="ignore"):
            wanted[point] = tree_by_hand(op, elements, x.dtype, tree)
    return wanted


def same_bits(a: Any, b: Any) -> bool:
    nan = np.isnan(a) & np.isnan(b)
    words = f"u{a.dtype.itemsize}"
    return a.shape == b.shape and a.dtype == b.dtype and bool(((a.view(words) == b.view(words)) | nan).all())


SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)
NUMBERS = (*dt.TENSOR_DTYPES,)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Any, DType, tuple[int, ...], Tree]:
    dtype = draw(st.sampled_from([d for d in NUMBERS if d.bits != 16 or not d.is_float]))
    ops = ["Max", "Min", *(("Any", "All") if dtype is dt.bool_ else ("Sum", "Prod"))]
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 8]), min_size=1, max_size=4))
    axes = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
    leaf = draw(st.sampled_from([1, 2, 4, 8, 16]))
    tree = Tree(leaf, draw(st.sampled_from([p for p in (1, 2, 4, 8) if p <= leaf])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if dtype.is_float:
        x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
        x = np.where(rng.random(shape) < draw(st.sampled_from([0, 0.3, 1])), rng.choice(SPECIAL, shape), x)
    else:
        x = rng.integers(0, 256, shape)
    return draw(st.sampled_from(ops)), x.astype(numpy_dtype(dtype)), dtype, axes, tree


@settings(max_examples=300, derandomize=True, database=None, deadline=None)
@given(cases())
def test_every_reduction_joins_by_the_tree(case: tuple[str, Any, DType, tuple[int, ...], Tree]) -> None:
    op, x, dtype, axes, tree = case
    assert same_bits(reduced(op, x, dtype, axes, tree), by_hand(op, x, axes, tree))


@pytest.mark.parametrize("length", [4095, 4096, 4097, 12288, 20481])
def test_long_rows_have_leaves_of_4096_and_256_bytes_of_partials(length: int) -> None:
    x = np.random.default_rng(length).normal(size=(1, length)).astype(np.float32)
    wanted = by_hand("Sum", x, (1,), Tree(4096, 64))
    assert same_bits(reduced("Sum", x, dt.float32, (1,), None), wanted)
    assert same_bits(reduced("Sum", x.astype(np.float64), dt.float64, (1,), None), by_hand(
        "Sum", x.astype(np.float64), (1,), Tree(4096, 32)
    ))  # fmt: skip


def test_columns_are_added_up_in_leaves_of_64_rows() -> None:
    x = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
    assert same_bits(reduced("Sum", x, dt.float32, (0,), None), by_hand("Sum", x, (0,), Tree(64, 1)))


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16])
def test_halves_are_joined_in_float32_and_rounded_once(dtype: DType) -> None:
    x = np.full((1, 5000), 1.0).astype(numpy_dtype(dtype))
    assert float(reduced("Sum", x, dtype, (1,), None)[0]) == float(np.float64(5000).astype(numpy_dtype(dtype)))
    assert reduced("Max", x, dtype, (1,), None).dtype == numpy_dtype(dtype)


EMPTY = {"Sum": 0.0, "Prod": 1.0, "Max": -np.inf, "Min": np.inf}


@pytest.mark.parametrize(("op", "wanted"), EMPTY.items())
def test_reductions_of_nothing_are_the_identity_and_a_sum_is_plus_zero(op: str, wanted: float) -> None:
    for precision in ("declared", "float64"):
        y = reduced(op, np.zeros((2, 0), np.float32), dt.float32, (1,), None, precision)
        assert y.tolist() == [wanted] * 2
        assert not np.signbit(y).any() or op == "Max"
    assert reduced(op, np.zeros((0, 2), np.float32), dt.float32, (1,), None).shape == (0,)


def test_reductions_of_no_integers_are_their_limits() -> None:
    nothing = np.zeros((1, 0), np.int8)
    assert [int(reduced(op, nothing, dt.int8, (1,), None)[0]) for op in ("Sum", "Prod", "Max", "Min")] == [
        0,
        1,
        -128,
        127,
    ]
    no_bits = np.zeros((1, 0), np.bool_)
    assert [bool(reduced(op, no_bits, dt.bool_, (1,), None)[0]) for op in ("Any", "All", "Max", "Min")] == [
        False,
        True,
        False,
        True,
    ]


def test_negative_zeros_keep_their_sign_and_equal_zeros_take_the_first() -> None:
    minus = np.full((1, 3), -0.0, np.float32)
    assert np.signbit(reduced("Sum", minus, dt.float32, (1,), None)).all()
    mixed = np.array([[0.0, -0.0], [-0.0, 0.0]], np.float32)
    for op in ("Max", "Min"):
        assert np.signbit(reduced(op, mixed, dt.float32, (1,), None)).tolist() == [False, True]


def test_float64_precision_sums_without_rounding() -> None:
    x = np.random.default_rng(2).normal(size=(3, 5000)).astype(np.float32)
    y = reduced("Sum", x, dt.float32, (1,), None, "float64")
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, x.astype(np.float64).sum(1), rtol=1e-13)


def test_a_value_that_does_not_vary_along_a_reduced_axis_counts_once_for_each_point() -> None:
    b = AscGraphBuilder("k", {"z0": 2, "z1": 5})
    x = b.load(b.input("x", dt.float32), (2,), ("z0",))
    b.store(b.reduce("Sum", b.broadcast(x, "z1"), "z1"), "y", (2,), ("z0",))
    x_array = np.array([1, 3], np.float32)
    assert interpret(b.build(), [x_array], {})[0].tolist() == [5, 15]


@pytest.mark.parametrize(
    ("shape", "axes"), [((3, 5000), (1,)), ((200, 3), (0,)), ((70, 2, 66), (0, 2)), ((9, 1), (1,))]
)
def test_operators_join_in_the_order_of_kernels(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    x = np.where(rng.random(shape) < 0.3, rng.choice([-0.0, 0.0], shape), -rng.random(shape)).astype(np.float32)
    for op, name in (("Sum", "ReduceSum"), ("Prod", "ReduceProd"), ("Max", "ReduceMax"), ("Min", "ReduceMin")):
        (found,) = evaluate_operator(name, {}, [x, np.asarray(axes)])
        assert same_bits(found, reduced(op, x, dt.float32, axes, None)), name


def test_a_softmax_is_that_of_its_primitives_bit_for_bit() -> None:
    x = np.random.default_rng(4).normal(size=(4, 5001)).astype(np.float32)
    b = AscGraphBuilder("k", {"z0": 4, "z1": 5001})
    value = b.load(b.input("x", dt.float32), x.shape, ("z0", "z1"))
    e = b.op("Exp", b.op("Sub", value, b.broadcast(b.reduce("Max", value, "z1"), "z1")))
    b.store(b.op("Div", e, b.broadcast(b.reduce("Sum", e, "z1"), "z1")), "y", x.shape, ("z0", "z1"))
    assert same_bits(interpret(b.build(), [x], {})[0], evaluate_operator("SoftmaxV2", {}, [x])[0])


def scanned(op: str, x: Any, dtype: DType, axis: int, exclusive: bool, reverse: bool) -> Any:
    names = [f"z{i}" for i in range(x.ndim)]
    b = AscGraphBuilder("k", dict(zip(names, x.shape, strict=True)))
    value = b.load(b.input("x", dtype), x.shape, tuple(names))
    b.store(b.scan(op, value, names[axis], exclusive, reverse), "y", x.shape, tuple(names))
    return interpret(b.build(), [x], {})[0]


@pytest.mark.parametrize(("op", "start"), [("CumSum", 0), ("CumProd", 1)])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.int8, dt.uint64], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_go_from_one_element_to_the_next(
    op: str, start: int, exclusive: bool, reverse: bool, dtype: DType, axis: int
) -> None:
    join = JOIN["Sum" if op == "CumSum" else "Prod"]
    for shape in ((3, 7), (1, 1), (0, 2), (2, 0)):
        x = (np.random.default_rng(axis).normal(size=shape) * 3).astype(np.int8).astype(numpy_dtype(dtype))
        if dtype.is_float:
            x /= x.dtype.type(3)
        wanted = np.empty_like(x)
        for line in range(shape[1 - axis]):
            place: Callable[[int], Any] = (lambda k, j=line: (k, j)) if axis == 0 else (lambda k, j=line: (j, k))
            order = range(shape[axis])[:: -1 if reverse else 1]
            before, so_far = x.dtype.type(start), None
            for k in order:
                with np.errstate(all="ignore"):
                    so_far = x[place(k)] if so_far is None else join(so_far, x[place(k)])
                wanted[place(k)] = before if exclusive else so_far
                before = so_far
        assert same_bits(scanned(op, x, dtype, axis, exclusive, reverse), wanted)


def test_halves_are_scanned_in_float32() -> None:
    x = np.full((1, 4097), 1, ml_dtypes.bfloat16)
    assert float(scanned("CumSum", x, dt.bfloat16, 1, False, False)[0, -1]) == 4096
    assert float(scanned("CumSum", x, dt.bfloat16, 1, False, False)[0, 299]) == 300


@pytest.mark.parametrize("dtype", [dt.int64, dt.int32, dt.uint8], ids=str)
def test_an_axis_index_is_the_position_and_wraps_in_its_dtype(dtype: DType) -> None:
    b = AscGraphBuilder("k", {"z0": 2, "z1": 300})
    b.store(b.broadcast(b.axis_index("z1", dtype), "z0"), "y", (2, 300), ("z0", "z1"))
    y = interpret(b.build(), [], {})[0]
    assert y.dtype == numpy_dtype(dtype)
    np.testing.assert_array_equal(y, np.broadcast_to(np.arange(300).astype(numpy_dtype(dtype)), (2, 300)))


def test_the_first_position_of_the_largest_is_made_of_primitives() -> None:
    x = np.array([[1, np.nan, 3, np.nan], [2, 5, 5, 1], [-0.0, 0.0, -1, -2]], np.float32)
    b = AscGraphBuilder("k", {"z0": 3, "z1": 4})
    value = b.load(b.input("x", dt.float32), x.shape, ("z0", "z1"))
    top = b.broadcast(b.reduce("Max", value, "z1"), "z1")
    hit = b.op("LogicalOr", b.op("Eq", value, top), b.op("LogicalAnd", b.op("IsNan", value), b.op("IsNan", top)))
    index = b.op("Select", hit, b.broadcast(b.axis_index("z1"), "z0"), b.scalar(4, dt.int64))
    b.store(b.reduce("Min", index, "z1"), "y", (3,), ("z0",))
    np.testing.assert_array_equal(interpret(b.build(), [x], {})[0], np.argmax(x, 1))
