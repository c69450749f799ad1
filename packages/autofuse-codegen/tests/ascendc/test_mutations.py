"""Every synchronisation in generated kernels is needed, and none is missing.

The emulator must report each mutant that lacks one: one that it does not is one too many.
"""

import pytest
from ascend_kernels import build, compile_all
from ascend_mutants import unreported
from ascend_samples import SAMPLES

ALWAYS = ("abs_add", "masked_softcap")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in ALWAYS else pytest.mark.thorough) for n in sorted(SAMPLES)]
)
def test_every_missing_synchronisation_is_reported(name, tmp_path):
    emulated = compile_all(build([SAMPLES[name].make()]), tmp_path / "kernel")
    count, quiet = unreported(emulated, name, SAMPLES[name].runs, tmp_path)
    assert count >= 8
    assert quiet == []
