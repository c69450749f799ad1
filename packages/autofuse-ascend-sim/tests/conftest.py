"""Libraries that several test files run."""

from pathlib import Path

import autofuse_ascend_sim as sim
import pytest

CASES = Path(__file__).parent / "cases"
ADD_KERNEL = Path(sim.__file__).parent / "examples" / "add.cpp"


@pytest.fixture(scope="session")
def add_library():
    return sim.compile(ADD_KERNEL, "ascend-a2", flags=["-Werror", "-Wextra", "-Wno-unused-parameter"])


@pytest.fixture(scope="session")
def faults():
    return sim.compile(CASES / "faults.cpp", "ascend-a2", flags=["-Werror", "-Wno-unused-parameter"])
