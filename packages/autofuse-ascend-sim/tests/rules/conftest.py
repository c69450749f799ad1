"""Kernels that break one rule each, compiled once a session."""

from pathlib import Path

import autofuse_ascend_sim as sim
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session", params=("queues", "memory", "sync"))
def rules(request):
    source = HERE / f"{request.param}.cpp"
    return source, sim.compile(source, "ascend-a2", flags=["-Werror"])
