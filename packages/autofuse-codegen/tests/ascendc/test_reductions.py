"""Reductions on Ascend have the bits of the interpreter, by every template, whatever the tile or how many cores."""

import math
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from ascend_kernels import Emulated, Kernel, build, compile_all, field_offset, inputs_of
from ascend_mutants import unreported
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_schedule.errors import ScheduleError
from reduction_samples import DEEP, PLANE, SAMPLES, TEMPLATES, F, alone, build_forced

SIZES = (
    *({"n": n, "m": m} for n, m in ((1, 1), (3, 5), (7, 64), (40, 65), (2, 300), (130, 9), (9, 4_097), (0, 4), (4, 0))),
    {"n": 2, "m": 20_000},
    {"n": 5_000, "m": 3},
)
QUICK = ("outer_sum", "shared_ends", "padded_ends", "shared_integers", "shared_middle", "shared_columns", "groups")
SYNCHRONISED = tuple(name for name in SAMPLES if name not in ("shared_integers", "padded_ends", "shared_middle"))
"""Samples that between them go through all functions; the scalar unit joins wide integers, and needs fewer barriers."""
SHAPES = {
    "rows": (PLANE, ("z1",)),
    "columns": (PLANE, ("z0",)),
    "all": (PLANE, ("z0", "z1")),
    "middle": ({"z0": 3, "z1": "n", "z2": "m"}, ("z1",)),
    "ends": ({"z0": 3, "z1": "n", "z2": "m"}, ("z0", "z2")),
    "tail": ({"z0": "n", "z1": 2, "z2": 5, "z3": "m"}, ("z2", "z3")),
    "every_other": ({"z0": 2, "z1": "n", "z2": 3, "z3": "m"}, ("z0", "z2")),
    "four": ({"z0": 2, "z1": "n", "z2": 3, "z3": "m"}, ("z1", "z3")),
}


def same_bits(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """True where bits are equal; NaN stands for any NaN."""
    alike = found.view(f"u{found.itemsize}") == wanted.view(f"u{wanted.itemsize}")
    return alike if wanted.dtype.kind in "iub" else alike | (np.isnan(found) & np.isnan(wanted))


def check(emulated, name: str, runs, tolerance: float = 0.0) -> int:
    """Run ``name`` where a tile fits; return how often. Functions other than exact ones have a ``tolerance``."""
    ran = 0
    built = emulated.kernels[name]
    for sizes, cores in runs:
        rng = np.random.default_rng(7)
        arrays = inputs_of(built, sizes, rng, special=ran % 2 == 1 and not tolerance)
        if not has_tile(emulated, name, sizes, cores):
            continue
        found = emulated.run(name, arrays, sizes, cores)
        for got, wanted in zip(found, emulated.expected(name, arrays, sizes), strict=True):
            if tolerance:
                np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg=f"{name} {sizes}")
            else:
                alike = same_bits(got, np.asarray(wanted))
                assert alike.all(), f"{name} at {sizes}, {cores} cores: {np.flatnonzero(~alike.reshape(-1))[:5]} differ"
        ran += 1
    return ran


def has_tile(emulated, name: str, sizes, cores) -> bool:
    """False where one template alone does not fit these sizes."""
    try:
        emulated.tiling_data(name, sizes, cores or emulated.library.soc.cores)
    except AssertionError as error:
        if "returned 3" not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("name", QUICK)
def test_samples_have_the_interpreters_bits(name, tmp_path):
    sample = SAMPLES[name]
    emulated = compile_all(build_forced(sample.make(), sample.template), tmp_path)
    assert check(emulated, name, [*sample.runs, *((sizes, None) for sizes, _ in sample.runs)]) > 2


@pytest.mark.parametrize("template", TEMPLATES)
def test_softmax_is_right_by_every_template(template, tmp_path):
    emulated = compile_all(build_forced(SAMPLES["softmax"].make(), template), tmp_path)
    sizes = ({"n": 40, "m": 300}, {"n": 3, "m": 9_000}, {"n": 5, "m": 1}, {"n": 1, "m": 5})
    assert check(emulated, "softmax", [(each, None) for each in sizes], tolerance=1e-6) >= 3


JOINED = tuple(
    (op, dtype, tree)
    for op in ("Sum", "Prod", "Max", "Min")
    for dtype in (dt.float32, dt.float16, dt.int32)
    for tree in (None, DEEP)
    if dtype.itemsize == 4 or (tree is None and op in ("Max", "Min"))
)
TARGETS = ("ascend-a2", "ascend-350")


def covering(target: str) -> Iterator[tuple[str, Kernel, str]]:
    """Every operator, type and tree along every shape of axes once, of the others every pair: template, shape, chip."""
    for number, (op, dtype, tree) in enumerate(JOINED):
        for at, (shape, (axes, reduced)) in enumerate(SHAPES.items()):
            if TARGETS[(number + at // 3) % 2] == target:
                name = f"{shape}_{op.lower()}_{dtype.name}_{'plain' if tree is None else 'deep'}"
                yield shape, alone(name, op, dtype, axes, reduced, tree), TEMPLATES[(number + at) % 3]


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_every_shape_and_type_by_every_template(target, tmp_path):
    built, shapes = {}, {}
    for shape, kernel, template in covering(target):
        shapes[kernel.name] = shape
        try:
            built |= build_forced(kernel, template, target)
        except ScheduleError as error:  # where a template makes nothing better, others do
            if "there is no template" not in error.what:
                raise
            built |= build([kernel], target)
    emulated = compile_all(built, tmp_path, target)
    ran = 0
    for name in built:
        axes, _ = SHAPES[shapes[name]]
        points = [s for s in SIZES if math.prod(evaluate_all(axes, s)) < 300_000]
        ran += check(emulated, name, [(s, c) for s in points for c in (None, 1)])
    assert ran >= 10 * len(built)


def evaluate_all(axes, sizes) -> list[int]:
    return [sizes[size] if isinstance(size, str) else int(size) for size in axes.values()]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "outer_sum" else pytest.mark.thorough) for name in SYNCHRONISED]
)
def test_every_missing_synchronisation_is_reported(name, tmp_path):
    sample = SAMPLES[name]
    emulated = compile_all(build_forced(sample.make(), sample.template), tmp_path / "kernel")
    count, quiet = unreported(emulated, name, sample.runs, tmp_path)
    assert count >= 8
    assert quiet == []


@frozen(eq=False)
class NarrowTiles(Emulated):
    """Kernels whose tiles have 16 columns, all of them in one block."""

    def tiling_data(self, name: str, sizes, cores: int) -> bytes:
        data, bundle = bytearray(super().tiling_data(name, sizes, 1)), self.kernels[name].bundle
        for field, value in (("z2t_size", 16), ("z0z2Tz1Rb_size", 2**40)):
            struct.pack_into("<q", data, field_offset(bundle, field), value)
        return bytes(data)


@pytest.mark.parametrize("dtype", [dt.float32, dt.int64])
def test_leaves_of_tiles_of_some_columns_lie_among_those_of_all(dtype, tmp_path):
    kernel = alone("some_columns", "Sum", dtype, {"z0": 3, "z1": "n", "z2": "m"}, ("z1",))
    built = compile_all(build_forced(kernel, "r-core"), tmp_path)
    emulated = NarrowTiles(built.kernels, built.library, built.tiling)
    assert check(emulated, "some_columns", [({"n": n, "m": m}, 1) for n, m in ((7, 64), (200, 75))]) == 2


def test_tiles_shorter_than_what_is_held_know_their_own_extents(tmp_path):
    """Rows of a scale are held for a whole tile; the last tile of the axis has fewer."""
    b = Kernel("held_scale", {"z0": "n", "z1": "k", "z2": "m"})
    x, place, scale = b.read("x", F, "z0", "z1", "z2"), b.read("place", F, "z1", "z2"), b.read("scale", F, "z2")
    total = b.apply("Add", x, place)
    b.write(b.apply("Mul", b.apply("Sub", total, b.reduce("Sum", total, "z2")), scale), "y")
    emulated = compile_all(build([b]), tmp_path)
    sizes = [{"n": 4, "k": k, "m": 196} for k in (9, 19, 29)]
    assert check(emulated, "held_scale", [(each, cores) for each in sizes for cores in (None, 1)]) == 6


def test_rows_of_a_narrower_last_tile_lie_as_what_is_held_for_it(tmp_path):
    """Weights that depend on the row alone, in tiles of some columns; rows of the last tile have a shorter pitch."""
    b = Kernel("weighted", PLANE)
    weights = b.broadcast(b.cast(b.axis_index("z0", dt.int32), F), "z1")
    total = b.op("Mul", b.read("x", F, "z0", "z1"), weights)
    b.write(b.apply("Sub", total, b.reduce("Sum", total, "z0")), "y")
    emulated = compile_all(build_forced(b, "all-load-held"), tmp_path)
    sizes = [{"n": 100, "m": m} for m in (130, 2_500)]
    at = field_offset(emulated.kernels["weighted"].bundle, "z1t_size")
    tiles = [struct.unpack_from("<q", emulated.tiling_data("weighted", each, 1), at)[0] for each in sizes]
    last = [each["m"] % tile for each, tile in zip(sizes, tiles, strict=True)]
    assert [-(-left // 8) < tile // 8 for left, tile in zip(last, tiles, strict=True)] == [True, True]
    assert check(emulated, "weighted", [(each, 1) for each in sizes]) == len(sizes)
