"""Shapes: broadcasts along every axis, rows that end inside of a block, several tiles and blocks, many arguments."""

import numpy as np
import pytest
from ascend_kernels import TARGETS, Kernel, build, compile_all, inputs_of
from ascend_samples import SAMPLES
from autofuse_ir import dtypes as dt

F = dt.float32
SIZES = (
    {"a": 1, "b": 1, "c": 1},
    {"a": 2, "b": 3, "c": 5},
    {"a": 5, "b": 1, "c": 33},
    {"a": 70, "b": 3, "c": 17},
    {"a": 2, "b": 2, "c": 3_000},
    {"a": 600, "b": 2, "c": 2},
    {"a": 0, "b": 3, "c": 4},
)
PRESENT = ((), ("z0",), ("z1",), ("z2",), ("z0", "z1"), ("z1", "z2"), ("z0", "z2"))


def spread(dtype) -> Kernel:
    """One input for each set of axes, stored over all of them."""
    b = Kernel(f"spread_{dtype.text}", {"z0": "a", "z1": "b", "z2": "c"})
    for number, axes in enumerate(PRESENT):
        b.write(b.read(f"x{number}", dtype, *axes), f"y{number}")
    return b


def views() -> Kernel:
    """A slice, rows in reverse, and rows of a transposed tensor."""
    b = Kernel("views", {"z0": "a", "z1": "b", "z2": "c"})
    x = b.load(b.input("x", F), ("a+2", "b", "c+3"), (("z0", 1, 1), "z1", ("z2", 1, 2)))
    r = b.load(b.input("r", F), ("a", "b", "c"), ("z0", ("z1", -1, "b-1"), "z2"))
    t = b.load(b.input("t", F), ("b", "a", "c"), ("z1", "z0", "z2"))
    b.write(b.op("Add", b.op("Sub", x, r), t), "y")
    return b


def constants() -> Kernel:
    b = Kernel("constants", {"z0": "a", "z1": "b", "z2": "c"})
    b.write(b.scalar(2.5, F), "y")
    b.write(b.size("a+b"), "n")
    b.write(b.scalar(7, dt.int8), "k")
    return b


def copies() -> Kernel:
    b = Kernel("copies", {"z0": "a", "z1": "b"})
    for number in range(4):
        b.write(b.read(f"x{number}", dt.int64, "z0", "z1"), f"y{number}")
    return b


def check(kernels, folder, target, sizes, cores=(1, 48)) -> None:
    emulated = compile_all(build(kernels, target), folder, target)
    for name, built in emulated.kernels.items():
        for each in sizes:
            arrays = inputs_of(built, each, np.random.default_rng(1))
            expected = emulated.expected(name, arrays, each)
            for count in cores:
                results = emulated.run(name, arrays, each, count)
                for found, wanted in zip(results, expected, strict=True):
                    np.testing.assert_array_equal(found, wanted.reshape(found.shape), err_msg=f"{name} {each} {count}")


def test_values_spread_along_every_axis(tmp_path):
    check([spread(dt.int8)], tmp_path, "ascend-a2", SIZES)


def test_views_constants_and_copies_move_the_right_elements(tmp_path):
    check([views(), constants(), copies()], tmp_path, "ascend-a2", SIZES)


def test_what_no_copy_moves_is_read_element_by_element(tmp_path):
    sizes = (
        {"n": 2, "m": 3, "d": 3},
        {"n": 2, "m": 3, "d": 1},
        {"n": 70, "m": 17, "d": 1},
        {"n": 3, "m": 200, "d": 200},
    )
    check([SAMPLES["elements"].make()], tmp_path, "ascend-a2", sizes)


def test_positions_count_from_where_the_tile_starts(tmp_path):
    sizes = ({"n": 3, "m": 5}, {"n": 2_000, "m": 37}, {"n": 2, "m": 50_001})
    check([SAMPLES["positions"].make()], tmp_path, "ascend-a2", sizes)


def test_there_may_be_more_gathers_by_computed_indices_than_there_are_events(tmp_path):
    check([SAMPLES["lookups"].make()], tmp_path, "ascend-a2", tuple(sizes for sizes, _ in SAMPLES["lookups"].runs))


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_every_type_spreads_on_every_target(target, tmp_path):
    kernels = [spread(d) for d in dt.TENSOR_DTYPES if d not in (dt.float64, dt.uint64)]
    check([*kernels, views(), constants(), copies()], tmp_path, target, SIZES)


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["abs_add", "residual", "integers", "many", "spread", "elements"])
def test_samples_run_on_every_target(name, target, tmp_path):
    sizes = tuple(sizes for sizes, _ in SAMPLES[name].runs)
    check([SAMPLES[name].make()], tmp_path, target, sizes)
