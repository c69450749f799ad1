"""Loads on Ascend that are no plain rows: beyond the data, at other steps, at indices; with the interpreter's bits."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from ascend_kernels import TARGETS, Emulated, Kernel, build, compile_all, inputs_of, numbers
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import Operand
from autofuse_ir.asc_graph import Bounds
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType

F = dt.float32
DTYPES = tuple(d for d in dt.TENSOR_DTYPES if d not in (dt.float64, dt.uint64))
SIZES = (
    {"a": 1, "b": 1, "c": 1},
    {"a": 2, "b": 3, "c": 5},
    {"a": 3, "b": 4, "c": 33},
    {"a": 70, "b": 2, "c": 17},
    {"a": 2, "b": 2, "c": 3_000},
    {"a": 300, "b": 3, "c": 2},
    {"a": 2, "b": 200, "c": 300},
)


@frozen
class View:
    """A load over axes a, b, c of data with a shape that sizes decide."""

    memory: tuple[str, ...]
    at: tuple[object, ...]
    bounds: Bounds = Bounds.INSIDE
    fill: int = 0


def shifted(name: str, by: int) -> tuple[str, int, int]:
    return (name, 1, by)


VIEWS: dict[str, View] = {
    "pad_rows": View(("a", "b", "c+2"), ("z0", "z1", shifted("z2", 3)), Bounds.FILL, 1),
    "pad_before": View(("a", "b", "c"), ("z0", "z1", shifted("z2", -3)), Bounds.FILL, 1),
    "pad_around": View(("a+1", "b+1", "c+1"), tuple(shifted(z, -1) for z in ("z0", "z1", "z2")), Bounds.FILL, 1),
    "pad_behind": View(("a", "b", "c"), (shifted("z0", 1), shifted("z1", 1), shifted("z2", 9)), Bounds.FILL),
    "flip_rows_padded": View(("a", "b", "c"), (("z0", -1, "a"), ("z1", -1, "b-2"), shifted("z2", 1)), Bounds.FILL, 1),
    "one_row_padded": View(("b", "c"), (2, shifted("z2", -8)), Bounds.FILL, 1),
    "column_padded": View(("a", 1, "c"), ("z0", "z1", 0), Bounds.FILL, 1),
    "flip": View(("a", "b", "c"), ("z0", "z1", ("z2", -1, "c-1"))),
    "every_second": View(("a", "b", "2*c"), ("z0", "z1", ("z2", 2, 1))),
    "every_second_row": View(("a", "2*b", "c"), ("z0", ("z1", 2, 1), "z2")),
    "transposed": View(("c", "a", "b"), ("z2", "z0", "z1")),
    "transposed_inner": View(("a", "c", "b"), ("z0", "z2", "z1")),
    "transposed_padded": View(("c+1", "b", "a"), (shifted("z2", -1), shifted("z1", 1), "z0"), Bounds.FILL, 1),
    "transposed_around": View(("c", "b"), (shifted("z2", -9), shifted("z1", 2)), Bounds.FILL, 1),
    "flip_padded": View(("a", "b", "c"), ("z0", shifted("z1", -1), ("z2", -1, "c-3")), Bounds.FILL, 1),
    "strided_padded": View(("a", "b", "c"), ("z0", "z1", ("z2", 2, -5)), Bounds.FILL, 1),
    "far_padded": View(("a", "b", "c", 200), ("z0", "z1", shifted("z2", -1), 3), Bounds.FILL, 1),
    "diagonal": View(("b+c", "c"), (("z1", 1, 0), "z2")),
    "spread_by_size": View(("a", "b", "c"), ("z0", ("z1", "select(b == 1, 0, 1)", 0), "z2")),
    "element_by_size": View(("a", "b", "c"), ("z0", "z1", ("z2", "select(c == 1, 0, 1)", 0))),
    "every_many": View(("a", "b", "c", 9), ("z0", "z1", "z2", 7)),
}


def viewed(name: str, dtype: DType) -> Kernel:
    view = VIEWS[name]
    b = Kernel(f"{name}_{dtype.text}", {"z0": "a", "z1": "b", "z2": "c"})
    fill = None if view.bounds is Bounds.INSIDE else bool(view.fill) if dtype == dt.bool_ else view.fill
    x = b.load(b.input("x", dtype), view.memory, view.at, bounds=view.bounds, fill=fill)
    b.write(x, "y")
    if dtype == F:
        b.write(b.op("Abs", x), "z")
    return b


def check(
    emulated: Emulated,
    name: str,
    sizes: Mapping[str, int],
    cores: Sequence[int] = (1, 48),
    given: Sequence[np.ndarray] | None = None,
) -> None:
    arrays = given or inputs_of(emulated.kernels[name], sizes, np.random.default_rng(1), special=True)
    expected = emulated.expected(name, arrays, sizes)
    for count in cores:
        for found, wanted in zip(emulated.run(name, arrays, sizes, count), expected, strict=True):
            same = found.tobytes() == np.ascontiguousarray(wanted).reshape(found.shape).astype(found.dtype).tobytes()
            assert same, f"{name} {sizes} on {count} cores: {found.ravel()[:20]} is not {wanted.ravel()[:20]}"


def check_views(names: Sequence[str], dtypes: Sequence[DType], target: str, folder, points=SIZES) -> None:
    emulated = compile_all(build([viewed(n, d) for n in names for d in dtypes], target), folder, target)
    for name in emulated.kernels:
        for sizes in points:
            check(emulated, name, sizes)


def test_views_load_what_the_interpreter_reads(tmp_path):
    check_views(list(VIEWS), [F], "ascend-a2", tmp_path / "small", SIZES[1::2])
    check_views(["transposed", "flip", "strided_padded"], [F], "ascend-a2", tmp_path / "large", (SIZES[-1],))


def test_views_of_elements_that_are_no_words(tmp_path):
    names = ["pad_around", "one_row_padded", "transposed_around", "flip", "every_second"]
    check_views(names, [dt.int64, dt.bool_], "ascend-a2", tmp_path, SIZES[1:4])


def ranked(rank: int, way: str) -> Kernel:
    """A load over ``rank`` axes of 2 or 3 elements, from data whose axes stand in another order, or with a border."""
    axes = {f"z{i}": 2 + i % 2 for i in range(rank)}
    b = Kernel(f"rank_{rank}_{way}", axes)
    names = list(axes)
    if way == "turned":
        x = b.load(b.input("x", F), tuple(axes[z] for z in reversed(names)), tuple(reversed(names)))
    elif way == "reversed":
        at = tuple((z, -1, axes[z] - 1) for z in names)
        x = b.load(b.input("x", F), tuple(axes.values()), at)
    else:
        at = tuple(shifted(z, -1) for z in names)
        x = b.load(b.input("x", F), tuple(axes.values()), at, bounds=Bounds.FILL, fill=0.5)
    b.write(b.op("Abs", x), "y")
    return b


def test_loads_of_every_rank(tmp_path):
    ways = ("turned", "reversed", "padded")
    emulated = compile_all(build([ranked(rank, way) for rank in (1, 2, 4, 6) for way in ways]), tmp_path)
    for name in emulated.kernels:
        check(emulated, name, {})


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.text)
def test_views_of_every_type_on_every_target(dtype, target, tmp_path):
    check_views([name for name in VIEWS if name != "far_padded"], [dtype], target, tmp_path / "all")
    check_views(["far_padded"], [dtype], target, tmp_path / "far", SIZES[:-1])


def test_a_stage_is_faster_than_reads_of_global_memory(tmp_path):
    names = ("flip", "every_second", "transposed", "transposed_inner", "strided_padded", "element_by_size")
    emulated = compile_all(build([viewed(n, d) for n in names for d in (F, dt.int64)]), tmp_path)
    reads = dict(emulated.library.soc.numbers)["scalar.gm_access_cycles"]
    sizes = {"a": 4, "b": 20, "c": 60}
    for name, built in emulated.kernels.items():
        arrays = inputs_of(built, sizes, np.random.default_rng(0))
        cycles = emulated.launch(name, arrays, sizes, 1)[1].cycles / (4 * 20 * 60)
        assert cycles < reads / (20 if "f32" in name else 4), name


# Gathers.

Indexed = Callable[[Kernel, DType, DType, Bounds], str]


def rows(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """Whole rows: an embedding."""
    ids = b.read("ids", index, "z0", "z1")
    return b.load(
        b.input("x", dtype), ("v", "c"), (Operand(0), "z2"), indices=(ids,), bounds=bounds, fill=_fill(bounds)
    )


def planes(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """Rows of rows, at a step and an offset."""
    ids = b.read("ids", index, "z0")
    at = ((Operand(0), 2, 1), "z1", "z2")
    return b.load(b.input("x", dtype), ("2*v+1", "b", "c"), at, indices=(ids,), bounds=bounds, fill=_fill(bounds))


def padded_rows(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """Rows that leave their data where that is no error."""
    ids = b.read("ids", index, "z1")
    start, width = (-2, "c-1") if bounds is Bounds.FILL else (0, "c")
    at = (Operand(0), shifted("z2", start))
    return b.load(b.input("x", dtype), ("v", width), at, indices=(ids,), bounds=bounds, fill=_fill(bounds))


def elements(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """An index for each element."""
    ids = b.read("ids", index, "z0", "z1", "z2")
    at = ("z0", Operand(0))
    return b.load(b.input("x", dtype), ("a", "v"), at, indices=(ids,), bounds=bounds, fill=_fill(bounds))


def columns(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """Columns by their indices, the same for all rows; padded rows where that is no error."""
    ids = b.read("ids", index, "z2")
    rows_at = shifted("z1", -1) if bounds is Bounds.FILL else "z1"
    at = ("z0", rows_at, Operand(0))
    return b.load(b.input("x", dtype), ("a", "b", "v"), at, indices=(ids,), bounds=bounds, fill=_fill(bounds))


def looked_up(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """A table of one dim."""
    ids = b.read("ids", index, "z0", "z1", "z2")
    return b.load(b.input("x", dtype), ("v",), (Operand(0),), indices=(ids,), bounds=bounds, fill=_fill(bounds))


def two(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """Two indices for each row, one of them shared by all."""
    ids, other = b.read("ids", index, "z0"), b.read("other", index)
    at = (Operand(0), Operand(1), "z2")
    return b.load(b.input("x", dtype), ("v", "v", "c"), at, indices=(ids, other), bounds=bounds, fill=_fill(bounds))


def computed(b: Kernel, dtype: DType, index: DType, bounds: Bounds) -> str:
    """An index that the vector unit computes, and one at it."""
    ids = b.op("Abs", b.read("ids", dt.int32, "z0", "z1"))
    table = b.load(b.input("table", dt.int32), ("v",), (Operand(0),), indices=(ids,), bounds=bounds, fill=_fill(bounds))
    return b.load(
        b.input("x", dtype), ("v", "c"), (Operand(0), "z2"), indices=(table,), bounds=bounds, fill=_fill(bounds)
    )


def _fill(bounds: Bounds) -> int | None:
    return 0 if bounds is Bounds.FILL else None


GATHERS: tuple[Indexed, ...] = (rows, planes, padded_rows, elements, columns, looked_up, two, computed)


def gathered(make: Indexed, dtype: DType, index: DType, bounds: Bounds) -> Kernel:
    b = Kernel(f"{make.__name__}_{bounds.value}_{dtype.text}_{index.text}", {"z0": "a", "z1": "b", "z2": "c"})
    b.write(make(b, dtype, index, bounds), "y")
    return b


def check_gathers(kernels: Sequence[Kernel], folder, target: str = "ascend-a2", sizes=SIZES) -> None:
    emulated = compile_all(build(kernels, target), folder, target)
    for name, built in emulated.kernels.items():
        rng = np.random.default_rng(2)
        beyond = 2 if "_fill_" in name else 0
        for each in ({**s, "v": 4} for s in sizes):
            arrays = []
            for argument in (a for a in built.bundle.arguments if not a.is_output):
                shape = tuple(evaluate(d, each) for d in argument.shape)
                if argument.name in ("ids", "other", "table"):
                    arrays.append(rng.integers(-beyond, 4 + beyond, shape).astype(argument.dtype.numpy_name))
                else:
                    arrays.append(numbers(argument.dtype, shape, rng))
            check(emulated, name, each, (1, 48), arrays)


@pytest.mark.parametrize("bounds", list(Bounds), ids=lambda b: b.value)
def test_gathers_read_at_their_indices(bounds, tmp_path):
    check_gathers([gathered(make, F, dt.int64, bounds) for make in GATHERS], tmp_path, sizes=SIZES[2:4])


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.text)
def test_gathers_of_every_type_on_every_target(dtype, target, tmp_path):
    kernels = [gathered(m, dtype, i, b) for m in GATHERS for b in Bounds for i in (dt.int32, dt.int64)]
    check_gathers(kernels, tmp_path, target, (*SIZES, {"a": 0, "b": 2, "c": 3}))


def test_words_at_indices_are_gathered_together(tmp_path):
    """From rows in a stage, and from rows too long for one: the scalar unit reads none of them."""
    kernels = [gathered(make, d, dt.int64, Bounds.ERROR) for make in (elements, columns) for d in (F, dt.float16)]
    emulated = compile_all(build(kernels), tmp_path)
    reads = dict(emulated.library.soc.numbers)["scalar.gm_access_cycles"]
    sizes = {"a": 3, "b": 2, "c": 700}
    points = 3 * 2 * 700
    for name, built in emulated.kernels.items():
        for width in (1_000, 50_000):
            rng = np.random.default_rng(4)
            arrays = inputs_of(built, {**sizes, "v": width}, rng)
            at = next(i for i, a in enumerate(a for a in built.bundle.arguments if not a.is_output) if a.name == "ids")
            arrays[at] = rng.integers(0, width, arrays[at].shape)
            check(emulated, name, {**sizes, "v": width}, (1, 48), arrays)
            report = emulated.launch(name, arrays, {**sizes, "v": width}, 1)[1]
            assert dict(report.busy_cycles)["S"] < points * reads / 10, (name, width)
            assert report.cycles < points * reads / 2, (name, width)


def test_an_index_out_of_range_raises_and_touches_nothing_else(tmp_path):
    kernels = [gathered(make, F, dt.int32, Bounds.ERROR) for make in (rows, elements, two)]
    emulated = compile_all(build(kernels), tmp_path)
    sizes = {"a": 5, "b": 3, "c": 7, "v": 4}
    for name, built in emulated.kernels.items():
        for wrong in (-1, 4, -(2**31), 2**31 - 1):
            arrays = inputs_of(built, sizes, np.random.default_rng(0))
            arrays[0] = np.zeros_like(arrays[0])
            if len(arrays) > 2:
                arrays[1] = np.zeros_like(arrays[1])
            assert emulated.outcome(name, arrays, sizes)[2] == 0
            arrays[0].flat[-1] = wrong
            for cores in (1, 48):
                found, _, status = emulated.outcome(name, arrays, sizes, cores)
                assert status == 2, (name, wrong)
                arrays[0].flat[-1] = 0
                expected = emulated.expected(name, arrays, sizes)[0].reshape(found[0].shape)
                np.testing.assert_array_equal(found[0][:-1], expected[:-1])
                arrays[0].flat[-1] = wrong
