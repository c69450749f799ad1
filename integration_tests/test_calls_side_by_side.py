"""One function called by threads, by a forked child, and while its cache goes away."""

import os
import shutil
import signal
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from autofuse_testkit.compiled_graph import compiled, scaled_sum

TIERS = ("jit", "interpreter")
F = np.float32
X, Y = np.arange(20, dtype=F).reshape(4, 5), np.ones((4, 1), F)


@pytest.mark.parametrize("tier", TIERS)
def test_threads_call_one_function_with_different_sizes(tier: str) -> None:
    fn = compiled(scaled_sum, tier=tier)
    wrong: list[tuple[int, ...]] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(40):
            shape = tuple(generator.integers(0, 150, 2))
            x, y = generator.standard_normal(shape).astype(F), generator.standard_normal((shape[0], 1)).astype(F)
            if not np.array_equal(fn(x, y), x + y):
                wrong.append(shape)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_forked_child_runs_what_its_parent_used() -> None:
    fn = compiled(scaled_sum)
    x, y = np.ones((2000, 500), F), np.ones((2000, 1), F)
    fn(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of newer Pythons: there are threads
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if (fn(x, y) == 2).all() else 3)
    assert os.waitpid(child, 0)[1] == 0


def test_a_cache_deleted_under_way_harms_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path / "cache"))
    fn = compiled(scaled_sum)
    shutil.rmtree(tmp_path / "cache")
    np.testing.assert_array_equal(fn(X, Y), X + Y)
    np.testing.assert_array_equal(compiled(scaled_sum)(X, Y), X + Y)
