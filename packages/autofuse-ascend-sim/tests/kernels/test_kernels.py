"""Hand-written kernels in common styles compute what NumPy computes, at several sizes and element types."""

import shutil
from collections.abc import Callable
from pathlib import Path

import autofuse_ascend_sim as sim
import pytest


@pytest.mark.parametrize("soc", ["ascend-a2", "ascend-350"])
def test_a_sample_kernel_computes_what_numpy_computes(
    sample: str, soc: str, runs: tuple, compiled: Callable[[str], object]
) -> None:
    library = compiled(soc)
    assert len(runs) >= 3
    for run in runs:
        run.check(run.start(library))


@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang++ is not installed")
@pytest.mark.parametrize("soc", ["ascend-a2", "ascend-350"])
def test_the_sample_kernels_compile_without_warnings_with_clang(soc: str, all_samples: Path) -> None:
    library = sim.compile([all_samples], soc, compiler="clang++", flags=["-O0", "-Werror"])
    assert "row_softmax" in sim.kernel_names(library)


def test_there_are_samples_of_every_common_style() -> None:
    assert len(list(Path(__file__).parent.glob("*.cpp"))) >= 14
