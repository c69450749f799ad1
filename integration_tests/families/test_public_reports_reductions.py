"""Faults that users of other compilers reported, as small inputs: reductions, scans and arg-reductions.

Every graph runs unfused, and fused under strict and auto numerics by the interpreter and by the compiler, compiled
once for all sizes. The wanted values are NumPy's, or written out. Each test cites where the fault was reported.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import AutofuseError
from autofuse_reference.arrays import numpy_dtype, to_tensor_data
from autofuse_symshape.stage import infer
from autofuse_testkit.every_path import every_path
from autofuse_testkit.networks import Network, softmax_of

F = np.float32
BOOL, INT64 = 12, 9
"""Numbers of dtypes in `Cast`."""

Outputs = Mapping[str, str]


def test_the_first_nan_is_the_maximum() -> None:
    """https://github.com/pytorch/pytorch/issues/118266, https://github.com/tensorflow/tensorflow/issues/120232."""

    def positions(b: Network) -> Outputs:
        x = b.input("x", ("n",), dt.float32)
        y = b.op("Log1p", x)
        found = {"log": b.op("ArgMax", y, keepdims=False), "max": b.op("ArgMax", x, keepdims=False)}
        return found | {"min": b.op("ArgMin", x, keepdims=False)}

    every = every_path(positions)
    for values in ([-2, 100], [4, 5.5, np.nan], [1, np.nan, 9, np.nan], [np.nan], [3, 3, 3], [-np.inf] * 5):
        x = np.array(values, F)
        with np.errstate(all="ignore"):
            logs = np.log1p(x)
        every.check((x,), np.argmax(logs), np.argmax(x), np.argmin(x))
    assert np.argmax(np.array([4, 5.5, np.nan])) == 2
    assert every.kernels == (1, 1)


def test_the_last_position_is_the_last_of_equals() -> None:
    """The same reports, with select_last_index."""
    every = every_path(
        lambda b: {"y": b.op("ArgMax", b.input("x", ("n", "m"), dt.float32), axis=1, select_last_index=True)}
    )
    x = np.array([[1, 5, 5, 2], [np.nan, 1, np.nan, 7], [-np.inf] * 4], F)
    every.check((x,), np.array([[2], [2], [3]]))


def test_sums_of_truths_are_integers() -> None:
    """https://github.com/pytorch/pytorch/issues/109925 (cumsum of bool stays bool)."""

    def counted(b: Network) -> Outputs:
        truths = b.op("Cast", b.op("Fill", b.integers(2, 4), b.number(1)), dst_type=BOOL)
        given = b.op("Cast", b.input("x", ("n", "m"), dt.float32), dst_type=BOOL)
        axis = b.number(1, dt.int64)
        both = {"made": truths, "given": given}
        return {name: b.op("Cumsum", b.op("Cast", x, dst_type=INT64), axis) for name, x in both.items()}

    every = every_path(counted)
    made = np.array([[1, 2, 3, 4], [1, 2, 3, 4]])
    for shape in ((2, 4), (3, 77), (1, 1), (0, 4), (4, 0)):
        x = np.random.default_rng(0).integers(0, 2, shape).astype(F)
        every.check((x,), made, np.cumsum(x.astype(np.bool_), 1))


def test_a_sum_of_bools_without_a_dtype_is_refused() -> None:
    """The same report: where no cast says what is counted in, nothing is guessed."""
    b = Network("truths")
    x = b.input("x", ("n",), dt.bool_)
    with pytest.raises(AutofuseError, match="bool"):
        infer(b.build({"y": b.op("Cumsum", x, b.number(0, dt.int64))}))


def test_the_maximum_of_minus_zeros_is_minus_zero() -> None:
    """https://github.com/openxla/xla/issues/5544 (the initial value -inf shows from 8193 elements on)."""

    def largest(b: Network) -> Outputs:
        x = b.op("Mul", b.input("x", ("n",), dt.float32), b.number(-1))
        return {name: b.op(f"Reduce{name}D", x, axes=(0,)) for name in ("Max", "Min")}

    every = every_path(largest)
    for count in (8191, 8192, 8193, 1, 7, 65537):
        every.check((np.zeros(count, F),), F(-0.0), F(-0.0))
    assert every.kernels == (1, 1)


def test_rows_of_several_axes_have_room_for_all_of_them() -> None:
    """https://github.com/pytorch/pytorch/issues/159154 (scratch memory of 32 elements for 1024)."""

    def shares(b: Network) -> Outputs:
        xs, scale = b.input("xs", ("n", "c", "h", "w"), dt.float32), b.input("L", ("n",), dt.float32)
        t = b.op("Exp", b.op("Neg", b.op("Mul", xs, b.op("Unsqueeze", scale, axes=(1, 2, 3)))))
        return {"y": b.op("RealDiv", t, b.op("ReduceSumD", t, axes=(1, 2, 3), keep_dims=True))}

    every = every_path(shares)
    every.check((np.ones((5, 1, 32, 32), F), np.ones(5, F)), np.full((5, 1, 32, 32), 1 / 1024, F), tolerance=1e-6)
    for shape in ((2, 3, 5, 7), (1, 1, 1, 1), (3, 2, 65, 33), (0, 1, 32, 32), (2, 0, 3, 3)):
        xs = np.random.default_rng(0).random(shape, F)
        scale = np.linspace(0.5, 2, shape[0], dtype=F)
        t = np.exp(-xs.astype(np.float64) * scale[:, None, None, None])
        wanted = (t / t.sum((1, 2, 3), keepdims=True)).astype(F)
        every.check((xs, scale), wanted, tolerance=2e-6)
    assert every.kernels == (1, 1)


@pytest.mark.parametrize("name", ["composite", "primitives"])
def test_a_masked_row_harms_no_other(name: str) -> None:
    """https://github.com/iree-org/iree/issues/24175 (all rows are NaN, or the masked row is not)."""

    def softmax(b: Network) -> Outputs:
        x = b.input("x", ("n", "s0"), dt.float32)
        return {"y": b.op("SoftmaxV2", x, axes=(-1,)) if name == "composite" else softmax_of(b, x)}

    every = every_path(softmax)
    row = np.array([0.0320586, 0.0871443, 0.2368828, 0, 0.6439142], F)
    x = np.array([[-np.inf] * 5, [0, 1, 2, -np.inf, 3]], F)
    every.check((x,), np.stack([np.full(5, np.nan, F), row]), tolerance=1e-6)
    for width in (64, 1, 5, 300, 5000):
        x = np.random.default_rng(0).standard_normal((3, width)).astype(F)
        x[0] = -np.inf
        x[1, 1::3] = -np.inf
        with np.errstate(invalid="ignore"):
            t = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
            wanted = (t / t.sum(1, keepdims=True)).astype(F)
        every.check((x,), wanted, tolerance=2e-6)
    every.check((np.zeros((2, 0), F),), np.zeros((2, 0), F))
    assert every.kernels == (1, 1)


def test_one_kernel_may_reduce_overlapping_slices() -> None:
    """https://github.com/tinygrad/tinygrad/issues/9987 (it crashes)."""

    def spread(b: Network, size: int | str) -> Outputs:
        t = b.input("t", (size,), dt.int32)
        left, right = (b.op("StridedSliceV2", t, *(b.integers(at) for at in (1, end, 0))) for end in (4, 3))
        return {"y": b.op("Sub", b.op("ReduceMaxD", left, axes=(0,)), b.op("ReduceMinD", right, axes=(0,)))}

    fixed, any_size = every_path(lambda b: spread(b, 4)), every_path(lambda b: spread(b, "n"))
    t = np.arange(4, dtype=np.int32)
    fixed.check((t,), np.int32(2))
    for values in (t, [9, -5, 7, 3, 100], [1, 2, 2], [4, 3]):
        x = np.array(values, np.int32)
        any_size.check((x,), x[1:4].max() - x[1:3].min())


INPUTS: tuple[tuple[DType, object], ...] = ((dt.float32, 2.5), (dt.int32, -7), (dt.bool_, True))


@pytest.mark.parametrize(("dtype", "value"), INPUTS, ids=[dtype.name for dtype, _ in INPUTS])
@pytest.mark.parametrize("given", ["constant", "run-time"])
def test_scans_and_flips_of_one_element_are_that_element(dtype: DType, value: object, given: str) -> None:
    """https://github.com/pytorch/pytorch/issues/193265, https://github.com/pytorch/pytorch/issues/184089."""
    array = np.array(value, numpy_dtype(dtype))

    def turned(b: Network) -> Outputs:
        x = b.constant(to_tensor_data(array)) if given == "constant" else b.input("x", (), dtype)
        found = {"flip": b.op("ReverseV2", x, b.integers(0))}
        if dtype is not dt.bool_:
            scans = {str(axis): b.op("Cumsum", x, b.number(axis, dt.int64)) for axis in (0, -1)}
            found |= scans
        return found

    every = every_path(turned)
    every.check(() if given == "constant" else (array,), *[array] * (1 if dtype is dt.bool_ else 3))


Made = Callable[[Network, str], str]


@pytest.mark.parametrize("given", ["constant", "run-time"])
def test_infinity_by_zero_is_no_number_folded_or_not(given: str) -> None:
    """https://github.com/microsoft/onnxruntime/issues/31163 (folding a constant gives another result)."""
    zeros = np.zeros((13, 16, 16), F)

    def chain(b: Network) -> Outputs:
        x = b.constant(to_tensor_data(zeros)) if given == "constant" else b.input("x", ("a", "b", "c"), dt.float32)
        least = b.op("ReduceMinD", b.op("Reciprocal", b.op("Sqrt", x)), axes=(-1,))
        return {"y": b.op("Mul", least, b.number(0))}

    every = every_path(chain)
    every.check(() if given == "constant" else (zeros,), np.full((13, 16), np.nan, F))
