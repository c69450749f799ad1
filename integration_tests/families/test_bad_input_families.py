"""Bad input for every operator family: the same clear error on every path and thread, and the next call is fine.

What is wrong at every size is refused before anything is compiled. What is wrong at the sizes or for the values of one
call is refused by that call: unfused, by the interpreter and by compiled kernels.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, lower_graph
from autofuse_ir import dtypes as dt
from autofuse_ir.errors import AutofuseError
from autofuse_ir.status import Status, StatusError
from autofuse_reference.run import run
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.stage import infer
from autofuse_testkit.every_path import EveryPath, every_path
from autofuse_testkit.networks import Network
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
Outputs = Mapping[str, str]
Build = Callable[[Network, str], str]

F = np.float32
X = np.arange(12, dtype=F).reshape(3, 4)


def first(b: Network, op: str, *inputs: str, outputs: int, **attrs: Any) -> str:
    """The first of several results."""
    return b.op_outputs(op, *inputs, outputs=outputs, **attrs)[0]


def one_input(build: Build, shape: tuple[int | str, ...] = ("n", "m")) -> Callable[[Network], Outputs]:
    """A definition of one input and one output."""
    return lambda b: {"y": build(b, b.input("x", shape, dt.float32))}


AT_EVERY_SIZE: dict[str, tuple[Build, str]] = {
    "sum, axis": (lambda b, x: b.op("ReduceSumD", x, axes=(2,)), "2"),
    "max, axis from the end": (lambda b, x: b.op("ReduceMax", x, b.integers(-3)), "-3"),
    "mean, one axis twice": (lambda b, x: b.op("ReduceMeanD", x, axes=(1, -1)), "twice"),
    "argmax, axis": (lambda b, x: b.op("ArgMax", x, axis=2), "2"),
    "softmax, axis": (lambda b, x: b.op("SoftmaxV2", x, axes=(2,)), "2"),
    "log-softmax, axis": (lambda b, x: b.op("LogSoftmaxV2", x, axes=(-3,)), "-3"),
    "cumsum, axis": (lambda b, x: b.op("Cumsum", x, b.number(2, dt.int64)), "2"),
    "cumprod, axis": (lambda b, x: b.op("Cumprod", x, b.number(-3, dt.int64)), "-3"),
    "flip, axis": (lambda b, x: b.op("ReverseV2", x, b.integers(2)), "2"),
    "flip, one axis twice": (lambda b, x: b.op("ReverseV2", x, b.integers(0, -2)), "twice"),
    "roll, axis": (lambda b, x: b.op("Roll", x, shifts=(1,), dims=(2,)), "2"),
    "roll, shifts": (lambda b, x: b.op("Roll", x, shifts=(1, 2), dims=(0,)), "2 shifts"),
    "transpose, axis": (lambda b, x: b.op("TransposeD", x, perm=(0, 2)), "2"),
    "transpose, one axis twice": (lambda b, x: b.op("TransposeD", x, perm=(0, 0)), "twice"),
    "concat, axis": (lambda b, x: b.op("ConcatV2D", x, x, concat_dim=2, N=2), "2"),
    "stack, axis": (lambda b, x: b.op("Pack", x, x, axis=3, N=2), "3"),
    "split, axis": (lambda b, x: first(b, "SplitD", x, outputs=2, split_dim=2, num_split=2), "2"),
    "split, a negative piece": (
        lambda b, x: first(b, "SplitVD", x, outputs=2, split_dim=1, num_split=2, size_splits=(6, -2)),
        "-2",
    ),
    "slice, axis": (lambda b, x: b.op("StridedSliceV2", x, b.integers(0), b.integers(1), b.integers(2)), "2"),
    "slice, step 0": (lambda b, x: b.op("StridedSliceV2", x, *[b.integers(k) for k in (0, 1, 0, 0)]), "stride is 0"),
    "gather, axis": (lambda b, x: b.op("GatherV2", x, b.integers(0), b.number(2, dt.int64)), "2"),
    "pad, rank": (lambda b, x: b.op("PadV3", x, b.integers(0, 0)), "1 pairs"),
    "pad, mode": (lambda b, x: b.op("PadV3", x, b.integers(0, 0, 1, 1), mode="bounce"), "'bounce'"),
    "one-hot, axis": (
        lambda b, x: b.op("OneHot", b.op("Cast", x, dst_type=3), *[b.number(k, dt.int32) for k in (3, 1, 0)], axis=4),
        "4",
    ),
    "squeeze, axis": (lambda b, x: b.op("Squeeze", x, axis=(3,)), "3"),
    "unsqueeze, axis": (lambda b, x: b.op("Unsqueeze", x, axes=(4,)), "4"),
    "triangle of a vector": (lambda b, x: b.op("Trilu", b.op("ReduceSumD", x, axes=(0,))), "matri|rank 2"),
    "sum of bools": (lambda b, x: b.op("ReduceSumD", b.op("Cast", x, dst_type=12), axes=(0,)), "bool"),
    "two dtypes": (lambda b, x: b.op("Add", x, b.number(1, dt.float64)), "one dtype"),
}


@pytest.mark.parametrize("case", AT_EVERY_SIZE)
def test_what_is_wrong_at_every_size_is_refused_at_once(case: str) -> None:
    build, words = AT_EVERY_SIZE[case]
    b = Network("bad")
    graph = b.build(one_input(build)(b))
    told = []
    for path in (infer, lambda g: lower_graph(g, chosen_target("cpu"), chosen_options()), lambda g: run(g, [X])):
        with pytest.raises(AutofuseError, match=words) as caught:
            path(graph)
        assert "\n" not in caught.value.what
        assert "graph bad, node" in caught.value.where
        assert caught.value.exit_code == 2
        told.append(caught.value)
    assert str(told[0]) == str(told[1])
    assert isinstance(told[0], ShapeError)
    assert told[0].fix


AT_SOME_SIZES: dict[str, tuple[Build, Array, str]] = {
    "argmax of nothing": (lambda b, x: b.op("ArgMax", x, axis=1), X[:, :0], "is empty"),
    "argmin of nothing": (lambda b, x: b.op("ArgMin", x, axis=0), X[:0], "is empty"),
    "reflection": (lambda b, x: b.op("PadV3", x, b.integers(0, 0, 4, 0), mode="reflect"), X, "4 reflected elements"),
    "edge of nothing": (lambda b, x: b.op("PadV3", x, b.integers(0, 0, 1, 0), mode="edge"), X[:, :0], "to pad with"),
    "pad that cuts": (lambda b, x: b.op("Pad", x, b.integers(0, 0, -3, -2)), X, "cut more than"),
    "split in halves": (lambda b, x: first(b, "SplitD", x, outputs=2, split_dim=0, num_split=2), X, "2 equal pieces"),
    "split sizes": (
        lambda b, x: first(b, "SplitVD", x, outputs=2, split_dim=1, num_split=2, size_splits=(1, 2)),
        X,
        "do not make up",
    ),
    "slice past the end": (lambda b, x: b.op("SliceD", x, offsets=(1, 1), size=(1, 4)), X, "not fit"),
    "squeeze": (lambda b, x: b.op("Squeeze", x, axis=(0,)), X, "size"),
    "reshape": (lambda b, x: b.op("Reshape", x, b.integers(5, -1)), X, r"\[5, -1\]"),
    "expand": (lambda b, x: b.op("Expand", x, b.integers(3, 5)), X, "broadcast"),
}


@pytest.mark.parametrize("case", AT_SOME_SIZES)
def test_what_is_wrong_at_some_sizes_is_refused_by_the_call(case: str) -> None:
    build, bad, words = AT_SOME_SIZES[case]
    every = every_path(one_input(build))
    every.refuse((bad,), words)
    assert len({str(told) for told in errors(every, bad)}) == 1


def errors(every: EveryPath, *arrays: Array) -> list[AutofuseError]:
    """What the fused paths raise."""
    return [error for name, error in all_errors(every, *arrays).items() if name != "unfused"]


def all_errors(every: EveryPath, *arrays: Array) -> dict[str, AutofuseError]:
    """What every path raises, by its name."""
    found = {}
    for name, path in every.paths.items():
        with pytest.raises(AutofuseError) as caught:
            path(*arrays)
        found[name] = caught.value
    return found


def the_status(every: EveryPath, *arrays: Array) -> Status:
    """What is wrong with values, which all paths have to say by one class in the same words."""
    told = all_errors(every, *arrays).values()
    assert {(type(error), error.what) for error in told} == {(StatusError, next(iter(told)).what)}
    return next(error.status for error in told if isinstance(error, StatusError))


GATHERS: dict[str, Callable[[Network, str, str], str]] = {
    "GatherV2": lambda b, x, i: b.op("GatherV2", x, b.op("Reshape", i, b.integers(-1)), b.number(1, dt.int64)),
    "GatherElements": lambda b, x, i: b.op("GatherElements", x, i, dim=1),
    "GatherNd": lambda b, x, i: b.op("GatherNd", x, b.op("ConcatV2D", b.op("Sub", i, i), i, concat_dim=-1, N=2)),
}


@pytest.mark.parametrize("op", GATHERS)
def test_an_index_out_of_range_is_refused_and_reads_nothing(op: str) -> None:
    """https://github.com/pytorch/pytorch/issues/94830 (a gather from an empty tensor crashes)."""

    def gathered(b: Network) -> Outputs:
        x, index = b.input("x", ("n", "m"), dt.float32), b.input("i", ("k", 1), dt.int64)
        return {"y": b.op("Neg", GATHERS[op](b, x, index))}

    every = every_path(gathered)
    assert every.host_operators == ()
    good = np.array([[3], [0], [2]])
    wanted = {
        "GatherV2": -X[:, good[:, 0]],
        "GatherElements": -np.take_along_axis(X, good, 1),
        "GatherNd": -X[0, good[:, 0]],
    }
    every.check((X, good), wanted[op])
    for bad in (4, -5, 2**40, -(2**63)):
        every.refuse((X, np.array([[3], [bad], [2]])), "out of range")
        assert the_status(every, X, np.array([[3], [bad], [2]])) is Status.INDEX_OUT_OF_RANGE
        every.check((X, good), wanted[op])
    every.refuse((X[:, :0], good), "out of range")


DIVISIONS = ("FloorDiv", "TruncateDiv", "Div", "FloorMod", "Mod")


@pytest.mark.parametrize("dtype", [dt.int64, dt.int32, dt.uint8, dt.int8], ids=lambda d: d.name)
def test_a_zero_divisor_is_refused_and_other_threads_go_on(dtype: dt.DType) -> None:
    """https://github.com/pytorch/pytorch/issues/143649 (a signal kills the process)."""

    def divided(b: Network) -> Outputs:
        a, d = b.input("a", ("n",), dtype), b.input("d", ("n",), dtype)
        return {op: b.op(op, a, d) for op in DIVISIONS}

    every = every_path(divided)
    kind = np.dtype(dtype.name)
    wrong: list[str] = []
    for count in (4, 1024):
        a = np.arange(count).astype(kind)
        good, bad = np.full(count, 3, kind), np.full(count, 3, kind)
        bad[count // 2] = 0
        quotient, rest = np.floor_divide(a, good), np.remainder(a, good)
        truncated = np.trunc(a / 3.0).astype(kind)
        wanted = (quotient, truncated, truncated, rest, np.fmod(a, good))
        every.refuse((a, bad), "zero")
        assert the_status(every, a, bad) is Status.DIVISION_BY_ZERO

        def work(number: int, a: Array = a, good: Array = good, bad: Array = bad, wanted: Any = wanted) -> None:
            function = every.compiled["strict" if number % 2 else "auto"]
            for turn in range(20):
                if (turn + number) % 3:
                    found = function(a, good)
                    if not all(np.array_equal(f, w) for f, w in zip(found, wanted, strict=True)):
                        wrong.append(f"thread {number} computed something else")
                    continue
                try:
                    function(a, bad)
                    wrong.append(f"thread {number} was not told")
                except ArithmeticError as error:
                    if not isinstance(error, AutofuseError) or "\n" in error.what:
                        wrong.append(f"thread {number} was told {error!r}")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        every.check((a, good), *wanted)
    assert wrong == []


def test_a_negative_power_of_an_integer_is_refused_in_the_same_words() -> None:
    every = every_path(lambda b: {"y": b.op("Pow", b.input("a", ("n",), dt.int32), b.input("e", ("n",), dt.int32))})
    base, exponents = np.array([2, 3, 4], np.int32), np.array([0, 2, 1], np.int32)
    every.check((base, exponents), base**exponents)
    assert the_status(every, base, np.array([0, -1, 2], np.int32)) is Status.NEGATIVE_EXPONENT


def test_of_values_that_nobody_needs_nothing_is_refused() -> None:
    """An empty result needs no element of what it is made of."""

    def picked(b: Network) -> Outputs:
        rows, index = b.input("x", ("n", "m"), dt.float32), b.input("i", ("k",), dt.int64)
        return {"y": b.op("GatherV2", rows, index, b.number(0, dt.int64))}

    every = every_path(picked)
    every.check((X[:, :0], np.array([7, -9])), np.zeros((2, 0), F))
    assert the_status(every, X, np.array([7, -9])) is Status.INDEX_OUT_OF_RANGE

    def spread(b: Network) -> Outputs:
        a, d = b.input("a", ("n", 1), dt.int32), b.input("d", ("n", 1), dt.int32)
        return {"y": b.op("Mul", b.op("FloorDiv", a, d), b.input("w", ("m",), dt.int32))}

    every = every_path(spread)
    zero, one = np.zeros((3, 1), np.int32), np.ones(1, np.int32)
    for name, path in every.paths.items():
        if name != "unfused":
            assert path(zero, zero, one[:0]).shape == (3, 0), name
    assert the_status(every, zero, zero, one) is Status.DIVISION_BY_ZERO


def test_what_a_slice_cuts_away_is_only_looked_at_unfused() -> None:
    """The one difference there is: fused, the division is a view's, of the rows that are kept."""

    def cut(b: Network) -> Outputs:
        quotient = b.op("FloorDiv", b.input("a", ("n",), dt.int32), b.input("d", ("n",), dt.int32))
        return {"y": b.op("Neg", b.op("StridedSliceV2", quotient, *[b.integers(k) for k in (0, 2, 0)]))}

    every = every_path(cut)
    a = np.array([6, 7, 8], np.int32)
    for name, path in every.paths.items():
        if name != "unfused":
            np.testing.assert_array_equal(path(a, np.array([2, 7, 0], np.int32)), [-3, -1], name)
    assert the_status(every, a, np.array([2, 0, 1], np.int32)) is Status.DIVISION_BY_ZERO


def test_a_zero_divisor_in_one_block_of_many_is_refused_for_any_number_of_threads() -> None:
    def divided(b: Network) -> Outputs:
        a, d = b.input("a", ("n", "m"), dt.int64), b.input("d", ("n", 1), dt.int64)
        return {"y": b.op("ReduceSumD", b.op("FloorDiv", a, d), axes=(1,))}

    every = every_path(divided)
    a, d = np.arange(300 * 400).reshape(300, 400), np.arange(1, 301).reshape(300, 1)
    try:
        for count in (1, 3, 8):
            autofuse.set_num_threads(count)
            for row in (0, 150, 299):
                bad = d.copy()
                bad[row] = 0
                every.refuse((a, bad), "zero")
            every.check((a, d), (a // d).sum(1))
    finally:
        autofuse.set_num_threads(1)


def onnx_model(op: str, shape: tuple[int | str, ...], *operands: Array, outputs: int = 1, **attrs: Any) -> Any:
    """A model of one operator on the input x and constants."""
    names = [f"c{k}" for k in range(len(operands))]
    results = [f"y{k}" for k in range(outputs)]
    kind = TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *names], results, **attrs)],
        "bad",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in results],
        [numpy_helper.from_array(array, name) for name, array in zip(names, operands, strict=True)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


ONNX_MODELS: dict[str, tuple[Any, str]] = {
    "softmax, axis": (onnx_model("Softmax", ("n", "m"), axis=2), "2 is outside"),
    "sum, axis": (onnx_model("ReduceSum", ("n", "m"), np.array([3])), "3 is outside"),
    "cumsum, axis": (onnx_model("CumSum", ("n", "m"), np.array(2)), "2 is outside"),
    "gather, axis": (onnx_model("Gather", ("n", "m"), np.array([0]), axis=2), "2 is outside"),
    "gather, index": (onnx_model("Gather", ("n", "m"), np.array([4]), axis=1), "out of range"),
    "split, sizes": (onnx_model("Split", (3, 4), np.array([1, 2]), outputs=2, axis=1), "do not make up"),
    "split, sizes at run time": (
        onnx_model("Split", ("n", "m"), np.array([1, 2]), outputs=2, axis=1),
        "do not make up",
    ),
    "reflection": (onnx_model("Pad", (3, 4), np.array([0, 4, 0, 0]), mode="reflect"), "4 reflected elements"),
    "reflection at run time": (
        onnx_model("Pad", ("n", "m"), np.array([0, 4, 0, 0]), mode="reflect"),
        "4 reflected elements",
    ),
}


@pytest.mark.parametrize("case", ONNX_MODELS)
def test_onnx_models_are_refused_in_the_same_words(case: str) -> None:
    model, words = ONNX_MODELS[case]
    told = []
    for tier in ("interpreter", "jit"):
        with pytest.raises(AutofuseError, match=words) as caught:
            autofuse.compile(model, tier=tier)(X)
        told.append(caught.value)
    assert str(told[0]) == str(told[1])
    assert told[0].where
