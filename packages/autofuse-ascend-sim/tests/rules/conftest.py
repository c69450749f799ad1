"""Kernels that break one rule each, compiled once a session."""

from functools import cache
from pathlib import Path

import autofuse_ascend_sim as sim
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def library_of():
    """Library of one of the sources for a SoC."""
    return cache(lambda name, soc="ascend-a2": sim.compile(HERE / f"{name}.cpp", soc, flags=["-O0", "-Werror"]))
