"""Scans: along every axis, from both ends, with and without the element itself; with the interpreter's bits."""

import numpy as np
import pytest
from ascend_kernels import TARGETS, Kernel, build, compile_all, inputs_of
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType

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


def check(kernels: list[Kernel], folder, target: str) -> None:
    emulated = compile_all(build(kernels, target), folder, target)
    for name, built in emulated.kernels.items():
        for sizes in SIZES:
            arrays = inputs_of(built, sizes, np.random.default_rng(1))
            expected = emulated.expected(name, arrays, sizes)
            for cores in (1, 48):
                for found, wanted in zip(emulated.run(name, arrays, sizes, cores), expected, strict=True):
                    same = found.tobytes() == np.ascontiguousarray(wanted).reshape(found.shape).tobytes()
                    assert same, f"{name} {sizes} on {cores} cores: {found.ravel()[:9]} is not {wanted.ravel()[:9]}"


def test_scans_along_every_axis(tmp_path):
    kernels = [scanned("CumSum", axis, *way, dt.float32) for axis in ("z0", "z1", "z2") for way in WAYS]
    whole = [scanned("CumSum", axis, False, False, d) for axis in ("z1", "z2") for d in (dt.int32, dt.int64)]
    check([*kernels, *whole], tmp_path, "ascend-a2")


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
def test_scans_of_every_type_on_every_target(op, target, tmp_path):
    kernels = [scanned(op, axis, *way, d) for axis in ("z0", "z1", "z2") for way in WAYS for d in DTYPES]
    check(kernels, tmp_path, target)
