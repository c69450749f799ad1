"""One thread pool and one memory pool for the process: concurrency, nesting, fork."""

import os
import threading
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.program import KernelCall


@pytest.fixture(scope="session")
def add(kit: Any) -> Any:
    buffers = [kit.buffer(n, k) for n, k in (("a", "input"), ("b", "input"), ("t", "intermediate"), ("c", "output"))]
    steps = [KernelCall("add_float32", ("a", "b"), ("t",)), KernelCall("scale", ("t",), ("c",))]
    kernels = [kit.kernel("add_float32", ["n", "n"], ["n"]), kit.kernel("scale", ["n"], ["n"])]
    return kit.run(kit.program(buffers, steps, ["c"], [kit.fact("n", ("a", 0), ("b", 0))], kernels))


@pytest.fixture(scope="session")
def index(kit: Any) -> Any:
    buffers = [kit.buffer("a", "input", "n", dt.int8), kit.buffer("c", "output", "n", dt.int64)]
    kernel = kit.kernel("index", ["n"], ["n"], safe=())
    return kit.run(
        kit.program(buffers, [KernelCall("index", ("a",), ("c",))], ["c"], [kit.fact("n", ("a", 0))], [kernel])
    )


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_block_runs_exactly_once(kit: Any, index: Any, threads: int) -> None:
    kit.extension.set_num_threads(threads)
    for n in (1, 2, 3, 7, 8, 9, 1000):
        for _ in range(200 if n < 10 else 5):
            assert index(np.zeros(n, np.int8)).tolist() == list(range(1, n + 1))
    kit.extension.set_num_threads(2)


def test_many_python_threads_call_one_module_at_different_sizes(kit: Any, add: Any) -> None:
    kit.extension.set_num_threads(3)
    failures: list[int] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(60):
            n = int(rng.integers(0, 60_000))
            a, b = rng.standard_normal((2, n)).astype(np.float32)
            if not np.array_equal(add(a, b), (a + b) * 2):
                failures.append(n)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    kit.extension.set_num_threads(2)
    assert failures == []


def test_python_runs_while_kernels_do(kit: Any) -> None:
    buffers = [kit.buffer("a", "input"), kit.buffer("c", "output")]
    kernel = kit.kernel("wait", ["n"], ["n"], safe=())
    fn = kit.run(kit.program(buffers, [KernelCall("wait", ("a",), ("c",))], ["c"], [kit.fact("n", ("a", 0))], [kernel]))
    a = np.zeros(20_000, np.float32)
    results: list[Any] = []
    worker = threading.Thread(target=lambda: results.append(fn(a)))
    worker.start()
    a[0] = 1  # the kernel waits for this: it must not keep Python from doing it
    worker.join()
    assert results[0][0] == 1


def test_a_forked_child_makes_its_own_threads(kit: Any, add: Any) -> None:
    kit.extension.set_num_threads(3)
    a = np.arange(200_000, dtype=np.float32)
    expected = add(a, a)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            good = all(np.array_equal(add(a, a), expected) for _ in range(20))
            grandchild = os.fork()
            if grandchild == 0:
                os._exit(0 if np.array_equal(add(a, a), expected) else 1)
            good = good and os.waitpid(grandchild, 0)[1] == 0
            status = 0 if good else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(add(a, a), expected)
    kit.extension.set_num_threads(2)


def test_a_fork_while_another_thread_runs_kernels(kit: Any, add: Any) -> None:
    kit.extension.set_num_threads(3)
    a = np.ones(100_000, np.float32)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            add(a, a)

    worker = threading.Thread(target=work)
    worker.start()
    statuses = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            os._exit(0 if add(a, a)[0] == 4 else 1)
        statuses.append(os.waitpid(child, 0)[1])
    stop.set()
    worker.join()
    kit.extension.set_num_threads(2)
    assert statuses == [0] * 5


def test_memory_is_reused_and_bounded(kit: Any, add: Any) -> None:
    extension = kit.extension
    a = np.ones(3_000_000, np.float32)
    add(a, a)
    before = extension.memory_stats(False)
    for _ in range(5):
        add(a, a)
    after = extension.memory_stats(False)
    assert after["allocations"] - before["allocations"] == after["reuses"] - before["reuses"] == 10
    extension.set_memory_limit(1 << 20)
    assert extension.memory_stats(False)["bytes_kept"] <= 1 << 20
    add(a, a)
    assert extension.memory_stats(False)["bytes_kept"] <= 1 << 20
    extension.set_memory_limit(1 << 30)


def test_peak_is_the_sum_of_what_lives_at_once(kit: Any, add: Any) -> None:
    a = np.ones(1 << 20, np.float32)
    out = np.empty_like(a)
    add(a, a, out=out)
    start = kit.extension.memory_stats(True)["bytes_in_use"]
    add(a, a, out=out)
    assert kit.extension.memory_stats(False)["peak_bytes_in_use"] - start == a.nbytes
