"""What a call may cost, and that it leaves nothing behind."""

import gc
import sys
from typing import Any

import numpy as np
from autofuse_ir.program import KernelCall
from autofuse_runtime.errors import InputValueError
from autofuse_runtime.timing import measure
from autofuse_testkit.work import calls_made


def add(kit: Any) -> Any:
    buffers = [kit.buffer(n, k) for n, k in (("a", "input"), ("b", "input"), ("c", "output"))]
    facts = [kit.fact("n", ("a", 0), ("b", 0))]
    kernels = [kit.kernel("add_float32", ["n", "n"], ["n"])]
    return kit.run(kit.program(buffers, [KernelCall("add_float32", ("a", "b"), ("c",))], ["c"], facts, kernels))


def test_a_call_enters_no_python_function(kit: Any) -> None:
    fn = add(kit)
    a, b, c = np.ones((3, 4), np.float32)
    fn(a, b, out=c)
    assert calls_made(lambda: fn(a, b, out=c)) == calls_made(lambda: None)


def test_calls_leak_neither_references_nor_memory(kit: Any) -> None:
    fn = add(kit)
    a, b, c = np.ones((3, 4), np.float32)
    strided = np.ones(8, np.float32)[::2]
    things = (a, b, c, strided, np.dtype(np.float32), np.ndarray)

    def calls() -> None:
        for _ in range(100):
            fn(a, b)
            fn(strided, b, out=c)
            try:
                fn(a, b[:2])
            except InputValueError:
                continue

    calls()
    gc.collect()  # what other tests left holds references, too
    before = [sys.getrefcount(thing) for thing in things]
    in_use = kit.extension.memory_stats(False)["bytes_in_use"]
    calls()
    assert [sys.getrefcount(thing) for thing in things] == before
    assert kit.extension.memory_stats(False)["bytes_in_use"] == in_use


def test_timings_are_per_call_and_in_the_order_given() -> None:
    first, second = measure({"short": lambda: None, "long": lambda: sum(range(2000))}, samples=3)
    assert (first.name, second.name) == ("short", "long")
    assert 0 < first.least_ns <= first.median_ns
    assert 0 < second.least_ns <= second.median_ns
    assert first.samples == 3


def test_a_module_that_nobody_uses_goes_away(kit: Any) -> None:
    def use() -> None:
        fn = add(kit)
        fn(np.ones(4, np.float32), np.ones(4, np.float32))

    use()
    gc.collect()
    in_use = kit.extension.memory_stats(False)["bytes_in_use"]
    for _ in range(3):
        use()
    gc.collect()
    assert kit.extension.memory_stats(False)["bytes_in_use"] == in_use
