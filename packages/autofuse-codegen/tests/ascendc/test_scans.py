"""Scans: along every axis, from both ends, with and without the element itself; with the interpreter's bits.

Rows that local memory does not hold go in pieces.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest
from ascend_kernels import TARGETS, Emulated, Kernel, build, compile_all, inputs_of
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const, dim_min
from autofuse_ir.dtypes import DType
from autofuse_ir.schedule import ImplGraph, Location, ScheduleResult

SIZES = (
    {"a": 1, "b": 1, "c": 1},
    {"a": 2, "b": 3, "c": 5},
    {"a": 5, "b": 1, "c": 33},
    {"a": 70, "b": 3, "c": 17},
    {"a": 2, "b": 2, "c": 1_000},
    {"a": 300, "b": 40, "c": 2},
)
DTYPES = tuple(d for d in dt.TENSOR_DTYPES if d not in (dt.float64, dt.bool_))
WAYS = tuple((exclusive, reverse) for exclusive in (False, True) for reverse in (False, True))


def scanned(op: str, axis: str, exclusive: bool, reverse: bool, dtype: DType) -> Kernel:
    """A scan of what was computed, and arithmetic on its result."""
    name = f"{op}_{axis}_{dtype.text}{'_exclusive' * exclusive}{'_reverse' * reverse}"
    b = Kernel(name, {"z0": "a", "z1": "b", "z2": "c"})
    x = b.op("Neg", b.read("x", dtype, "z0", "z1", "z2"))
    total = b.scan(op, x, axis, exclusive, reverse)
    b.write(total, "y")
    b.write(b.op("Neg", total), "z")
    return b


def running_distances() -> Kernel:
    """Distances of running sums from the largest, as shares of what they come to: each sweep makes the sums again."""
    b = Kernel("running_distances", {"z0": "a", "z1": "b"})
    total = b.scan("CumSum", b.read("x", dt.float32, "z0", "z1"), "z1")
    distance = b.op("Abs", b.apply("Sub", total, b.reduce("Max", total, "z1")))
    b.write(b.apply("Div", distance, b.reduce("Sum", distance, "z1")), "y")
    return b


def sums_of_shares() -> Kernel:
    """Shares of what a row comes to, added up from its end: a later sweep, and the other way."""
    b = Kernel("sums_of_shares", {"z0": "a", "z1": "b"})
    size = b.op("Abs", b.read("x", dt.float32, "z0", "z1"))
    b.write(b.scan("CumSum", b.apply("Div", size, b.reduce("Sum", size, "z1")), "z1", reverse=True), "y")
    return b


def integral_image() -> Kernel:
    b = Kernel("integral_image", {"z0": "a", "z1": "b"})
    columns = b.scan("CumSum", b.read("x", dt.float32, "z0", "z1"), "z0")
    b.write(b.scan("CumSum", columns, "z1", reverse=True), "y")
    return b


def columns_of_norms() -> Kernel:
    b = Kernel("columns_of_norms", {"z0": "a", "z1": "b"})
    x = b.read("x", dt.float32, "z0", "z1")
    b.write(b.scan("CumSum", b.apply("Div", x, b.reduce("Max", b.op("Abs", x), "z1")), "z0", exclusive=True), "y")
    return b


def side_by_side() -> Kernel:
    b = Kernel("side_by_side", {"z0": "a", "z1": "b"})
    x = b.read("x", dt.float32, "z0", "z1")
    b.write(b.op("Sub", b.scan("CumSum", x, "z1"), b.scan("CumProd", x, "z1", exclusive=True)), "y")
    return b


def after_many_vectors() -> Kernel:
    """More vectors that all pieces read than input queues have events for: they share queues."""
    b = Kernel("after_many_vectors", {"z0": "a", "z1": "b", "z2": "c"})
    x = b.read("x", dt.float32, "z0", "z1", "z2")
    for number in range(9):
        x = b.apply("Add", x, b.read(f"v{number}", dt.float32, "z2"))
    b.write(b.scan("CumSum", x, "z1"), "y")
    return b


TOGETHER = (running_distances, sums_of_shares, integral_image, columns_of_norms, side_by_side)
PLANES = (
    *({"a": 1, "b": 1}, {"a": 2, "b": 3}, {"a": 9, "b": 170}, {"a": 70, "b": 33}),
    *({"a": 0, "b": 3}, {"a": 3, "b": 0}),
)

LONG = (
    {"a": 1, "b": 1, "c": 200_003},
    {"a": 3, "b": 1, "c": 70_001},
    {"a": 9, "b": 1, "c": 40_001},
    {"a": 5, "b": 100_003, "c": 4},
    {"a": 2, "b": 9_001, "c": 29},
    {"a": 90_001, "b": 1, "c": 3},
    {"a": 3, "b": 9_001, "c": 9},
)
"""Past 192 or 256 KiB along one axis."""
EMPTY = ({"a": 0, "b": 2, "c": 3}, {"a": 2, "b": 0, "c": 3}, {"a": 2, "b": 3, "c": 0})


def takes_pieces(impl: ImplGraph) -> bool:
    """True where the state of a scan goes from tile to tile."""
    scans = {node.name for node in impl.nodes if node.op in ("CumSum", "CumProd")}
    return any(place.node in scans and place.location is Location.LOCAL for place in impl.accumulators)


def in_pieces(result: ScheduleResult, most: int | None = None) -> ScheduleResult:
    """Leave only what takes the scanned axis in pieces, of at most so many steps."""
    (alternative,) = result.alternatives
    (group,) = alternative.groups
    found = []
    for impl in filter(takes_pieces, group.implementations):
        *others, piece, share = impl.tile_variables if len(impl.tile_variables) > 1 else (*impl.tile_variables, None)
        if most is not None:
            piece = evolve(piece, hi=dim_min(piece.hi, const(most)))
        found.append(evolve(impl, tile_variables=(*others, piece, *([share] if share is not None else []))))
    assert found, result.name
    return evolve(result, alternatives=(evolve(alternative, groups=(evolve(group, implementations=tuple(found)),)),))


def compare(emulated: Emulated, points: Iterable[Mapping[str, int]], counts: tuple[int, ...] = (1, 48)) -> None:
    """Run all kernels at ``points``, on so many cores each."""
    for name, built in emulated.kernels.items():
        for sizes in points:
            arrays = inputs_of(built, sizes, np.random.default_rng(1))
            with np.errstate(all="ignore"):
                expected = emulated.expected(name, arrays, sizes)
            for cores in counts:
                for found, wanted in zip(emulated.run(name, arrays, sizes, cores), expected, strict=True):
                    same = found.tobytes() == np.ascontiguousarray(wanted).reshape(found.shape).tobytes()
                    assert same, f"{name} {sizes} on {cores} cores: {found.ravel()[:9]} is not {wanted.ravel()[:9]}"


def check(kernels: list[Kernel], folder: Path, target: str) -> None:
    compare(compile_all(build(kernels, target), folder, target), SIZES)


def test_scans_along_every_axis(tmp_path):
    kernels = [scanned("CumSum", axis, *way, dt.float32) for axis in ("z0", "z1", "z2") for way in WAYS]
    whole = [scanned("CumSum", axis, False, False, d) for axis in ("z1", "z2") for d in (dt.int32, dt.int64)]
    check([*kernels, *whole], tmp_path, "ascend-a2")


def test_long_rows_of_integers_are_scanned_in_pieces_side_by_side(tmp_path):
    """Several rows, rests behind the pieces, both ends, and state that tiles hand on."""
    kernels = [scanned("CumSum", "z2", *way, dt.int32) for way in WAYS]
    products = [scanned("CumProd", "z2", exclusive, not exclusive, dt.int32) for exclusive in (False, True)]
    points = ({"a": 1, "b": 1, "c": 1_024}, {"a": 3, "b": 2, "c": 1_511}, {"a": 1, "b": 1, "c": 9_999})
    compare(compile_all(build([*kernels, *products]), tmp_path / "free"), points)
    short = build(kernels, narrowed=lambda result: in_pieces(result, 1_100))
    compare(compile_all(short, tmp_path / "short"), points[1:])


def test_short_pieces_give_the_same_bits(tmp_path):
    kernels = [scanned("CumSum", axis, *way, dt.float32) for axis in ("z1", "z2") for way in WAYS[::3]]
    short = build([*kernels, scanned("CumProd", "z0", True, False, dt.int64)], narrowed=lambda r: in_pieces(r, 8))
    compare(compile_all(short, tmp_path), (*SIZES[1:4], *EMPTY[1:]))


def test_scans_share_kernels_with_reductions_and_other_scans(tmp_path):
    made = build([running_distances(), sums_of_shares()], narrowed=lambda result: in_pieces(result, 64))
    compare(compile_all(made, tmp_path), PLANES[1:])


@pytest.mark.parametrize("target", ["ascend-a2", "ascend-350"])
def test_what_all_pieces_read_takes_no_more_events_than_there_are(target, tmp_path):
    made = build([after_many_vectors()], target, lambda result: in_pieces(result, 64))
    compare(compile_all(made, tmp_path, target), (*SIZES[1:4], {"a": 2, "b": 200, "c": 16}))


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_kernels_of_scans_and_reductions_on_every_target(target, tmp_path):
    kernels = [each() for each in TOGETHER]
    points = (*PLANES, {"a": 5, "b": 20_011}, {"a": 20_011, "b": 5})
    compare(compile_all(build(kernels, target), tmp_path / "free", target), points)
    short = build(kernels, target, lambda result: in_pieces(result, 64))
    compare(compile_all(short, tmp_path / "short", target), PLANES)


def test_scans_are_of_any_length(tmp_path):
    kernels = [scanned("CumSum", "z2", False, False, dt.float32), scanned("CumSum", "z1", True, True, dt.float32)]
    compare(compile_all(build(kernels), tmp_path), LONG[1:4:2], counts=(48,))


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_rows_of_one_few_and_many_lines_are_of_any_length(target, tmp_path):
    kernels = [
        scanned("CumSum", "z2", False, False, dt.float32),
        scanned("CumSum", "z2", True, True, dt.int32),
        scanned("CumSum", "z1", False, True, dt.float32),
        scanned("CumProd", "z1", True, False, dt.int64),
        scanned("CumSum", "z0", True, True, dt.float32),
    ]
    compare(compile_all(build(kernels, target), tmp_path, target), LONG)


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
def test_scans_of_every_type_on_every_target(op, target, tmp_path):
    kernels = [scanned(op, axis, *way, d) for axis in ("z0", "z1", "z2") for way in WAYS for d in DTYPES]
    check(kernels, tmp_path / "free", target)
    short = build(kernels, target, lambda result: in_pieces(result, 8))
    compare(compile_all(short, tmp_path / "short", target), (*SIZES, *EMPTY))
