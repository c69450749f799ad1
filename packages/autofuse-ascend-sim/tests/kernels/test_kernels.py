"""Hand-written kernels in common styles compute what NumPy computes, at several sizes and element types."""

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("soc", ["ascend-a2", "ascend-350"])
def test_a_sample_kernel_computes_what_numpy_computes(
    sample: str, soc: str, runs: tuple, compiled: Callable[[str], object]
) -> None:
    library = compiled(soc)
    assert len(runs) >= 3
    for run in runs:
        run.check(run.start(library))
