"""Scenarios of the original system's tests, on graphs built anew: what it fuses, this fuses at least.

Each test says where the outcome differs; more in one kernel is the better outcome, as long as the values are right.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.fused_graph import Reason
from autofuse_testkit.networks import Network, one

Fuse = Callable[..., Any]
CUBE = ("a", "b", "c")
SIZES = ((2, 3, 4), (1, 1, 1), (0, 3, 2), (5, 1, 7))


def cube(b: Network, name: str = "x") -> str:
    return b.input(name, CUBE, dt.float32)


def test_01_a_lone_operator_is_a_kernel(fuse_and_check: Fuse) -> None:
    """The original gives a lone Abs back to its host, which has a kernel for it; here nobody else has one."""
    result = fuse_and_check(one("lone", lambda b: b.op("Abs", cube(b))))
    assert (len(result.kernels), result.hosts) == (1, ())
    for shape in SIZES:
        result.check(x=shape)


def test_02_one_load_of_a_tensor_that_is_read_twice(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        x = cube(b)
        return b.op("Exp", b.op("Abs", b.op("Add", x, x)))

    result = fuse_and_check(one("twice", build))
    assert result.primitives == ["Data", "Load", "Add", "Abs", "Exp", "Store", "Output"]
    for shape in SIZES:
        result.check(x=shape)


def test_03_two_results_and_a_diamond(fuse_and_check: Fuse) -> None:
    b = Network("two")
    size = b.op("Abs", b.input("x", (2, 2, 2, 2), dt.float32))
    result = fuse_and_check(b.build({"e": b.op("Exp", size), "r": b.op("Relu", size)}))
    assert (result.count("Load"), result.count("Store")) == (1, 2)
    result.check(x=(2, 2, 2, 2))

    def diamond(b: Network) -> str:
        size = b.op("Abs", cube(b))
        return b.op("Add", b.op("Relu", size), b.op("Exp", size))

    result = fuse_and_check(one("diamond", diamond))
    assert (result.count("Load"), result.count("Store"), result.count("Abs")) == (1, 1, 1)
    result.check(x=(3, 4, 5))


def test_04_a_chain_is_one_kernel(fuse_and_check: Fuse) -> None:
    result = fuse_and_check(one("chain", lambda b: b.op("Abs", b.op("Exp", b.op("Abs", cube(b))))))
    assert len(result.kernels) == 1
    result.check(x=(3, 4, 5))


def test_05_limits_cut_long_chains(fuse_and_check: Fuse) -> None:
    def absolutes(b: Network) -> str:
        value = cube(b)
        for _ in range(50):
            value = b.op("Neg", value)
        return value

    def sums(b: Network) -> str:
        value = cube(b)
        for number in range(50):
            value = b.op("Add", value, cube(b, f"x{number}"))
        return value

    assert len(fuse_and_check(one("chain", absolutes), FusionOptions(max_operators=5)).kernels) == 10
    limited = fuse_and_check(one("sums", sums), FusionOptions(max_inputs=5))
    # Five loads a kernel: the first adds five tensors, each other one four to the sum before.
    assert len(limited.kernels) == 13
    assert all(len(kernel.inputs) <= 5 for kernel in limited.kernels)
    assert Reason.TOO_MANY_INPUTS in {refusal.reason for refusal in limited.fused.refusals}
    limited.check(x=(2, 3, 4), **{f"x{number}": (2, 3, 4) for number in range(50)})


def test_06_sums_of_several_inputs_within_a_limit(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        first = b.op("AddN", *(cube(b, f"x{k}") for k in range(3)), N=3)
        return b.op("AddN", first, cube(b, "x3"), cube(b, "x4"), N=3)

    result = fuse_and_check(one("sums", build), FusionOptions(max_inputs=4))
    assert sorted(len(kernel.inputs) for kernel in result.kernels) == [3, 3]
    result.check(**{f"x{k}": (2, 3, 4) for k in range(5)})


def test_07_broadcasts_of_different_axes(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        x, y, z = (
            b.input(name, shape, dt.float32)
            for name, shape in (("x", (1, 1, "c")), ("y", (1, "b", "c")), ("z", ("a", "b", 1)))
        )
        return b.op("Add", b.op("Add", b.op("Abs", x), y), z)

    result = fuse_and_check(one("broadcasts", build))
    assert len(result.kernels[0].graph.axes) == 3
    assert result.count("Broadcast") == 3
    for a, b, c in SIZES:
        result.check(x=(1, 1, c), y=(1, b, c), z=(a, b, 1))


def test_08_element_wise_operators_before_a_reduction(fuse_and_check: Fuse) -> None:
    result = fuse_and_check(one("sum", lambda b: b.op("ReduceSumD", b.op("Relu", b.op("Abs", cube(b))), axes=(2,))))
    assert [op for op in result.primitives if op in ("Load", "Abs", "Sum", "Store")] == ["Load", "Abs", "Sum", "Store"]

    def broadcast(b: Network) -> str:
        total = b.op("Add", b.op("Relu", cube(b)), b.input("y", ("a", 1, "c"), dt.float32))
        return b.op("ReduceSumD", total, axes=(2,))

    wide = fuse_and_check(one("wide", broadcast))
    assert (wide.count("Broadcast"), wide.count("Sum")) == (1, 1)
    for shape in SIZES:
        result.check(x=shape)
        wide.check(x=shape, y=(shape[0], 1, shape[2]))


def test_09_a_reduction_beside_and_before_element_wise_operators(fuse_and_check: Fuse) -> None:
    b = Network("beside")
    size = b.op("Abs", cube(b))
    result = fuse_and_check(b.build({"s": b.op("ReduceSumD", size, axes=(2,)), "r": b.op("Relu", size)}))
    assert (result.count("Load"), result.count("Store")) == (1, 2)

    def after(b: Network) -> str:
        return b.op("Abs", b.op("Relu", b.op("Abs", b.op("ReduceMaxD", cube(b), axes=(2,)))))

    behind = fuse_and_check(one("after", after))
    assert len(behind.kernels) == 1
    for shape in SIZES[:2]:
        result.check(x=shape)
        behind.check(x=shape)


def test_10_any_number_of_operators_follows_a_reduction(fuse_and_check: Fuse) -> None:
    """The original appends three at most, and writes the result out for the others."""

    def build(b: Network) -> str:
        value = b.op("ReduceSumD", cube(b), axes=(2,))
        for op in ("Abs", "Sqrt", "Neg", "Exp", "Tanh"):
            value = b.op(op, value)
        return value

    result = fuse_and_check(one("after", build))
    assert len(result.kernels) == 1
    result.check(x=(3, 4, 5))


def test_11_a_reduction_of_a_reduction(fuse_and_check: Fuse) -> None:
    """Two kernels in the original. Here the two share a launch at least; axes at run time stay on the host."""
    result = fuse_and_check(
        one("twice", lambda b: b.op("ReduceMaxD", b.op("ReduceSumD", cube(b), axes=(2,)), axes=(1,)))
    )
    assert len(result.kernels) <= 2
    assert result.hosts == ()
    result.check(x=(3, 4, 5))

    def open_axes(b: Network) -> str:
        return b.op("ReduceSum", cube(b), b.input("axes", ("k",), dt.int64), keep_dims=True)

    run_time = fuse_and_check(one("open", open_axes))
    assert run_time.hosts == ("ReduceSum",)


def test_12_a_reduction_of_something_broadcast(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        x, y = b.input("x", (1, 1, 1), dt.float32), cube(b, "y")
        wide = b.op("BroadcastTo", x, b.op("Shape", y, dtype=9))
        total = b.op("ReduceSumD", wide, axes=(0,), keep_dims=True)
        return b.op("Add", total, y)

    result = fuse_and_check(one("wide", build))
    assert result.hosts == ()
    for shape in SIZES[:2]:
        result.check(x=(1, 1, 1), y=shape)


def test_13_reducing_axes_of_one_element_moves_nothing(fuse_and_check: Fuse) -> None:
    kept = fuse_and_check(
        one("kept", lambda b: b.op("ReduceSumD", b.input("x", ("n", 1), dt.float32), axes=(1,), keep_dims=True))
    )
    gone = fuse_and_check(one("gone", lambda b: b.op("ReduceMaxD", b.input("x", ("n", 1), dt.float32), axes=(1,))))
    for result in (kept, gone):
        primitives = [node.op for kernel in result.kernels for node in kernel.graph.nodes]
        assert not {"Sum", "Max"} & set(primitives)
        result.check(x=(5, 1))


def test_14_softmax_is_one_kernel_that_loads_once(fuse_and_check: Fuse) -> None:
    def build(b: Network) -> str:
        x = b.input("x", ("n", "m"), dt.float32)
        raised = b.op("Exp", b.op("Sub", x, b.op("ReduceMaxD", x, axes=(1,), keep_dims=True)))
        return b.op("RealDiv", raised, b.op("ReduceSumD", raised, axes=(1,), keep_dims=True))

    result = fuse_and_check(one("softmax", build))
    assert result.count("Load") == 1
    assert [op for op in result.primitives if op in ("Max", "Sub", "Exp", "Sum", "Div")] == [
        *("Max", "Sub", "Exp", "Sum", "Div")
    ]
    result.check(x=np.array([[0.0, 1.0, -np.inf], [1e30, 1.0, 2.0]], np.float32))
